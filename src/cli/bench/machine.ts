/** The machine that figures are taken on. */
import { arch, cpus, release, totalmem, type } from 'node:os'
import type { Machine } from '../../measure/index.ts'

export function thisMachine(): Machine {
  const processors = cpus()
  return {
    cpu: processors[0]?.model.trim() || 'unknown',
    coreCount: processors.length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()} ${arch()}`,
    runtime: `node ${process.version}`,
  }
}
