/** Profiles of the main thread while a run goes on, as files that the browser's tools open. */
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'

export type ProfileFiles = {
  /** A `.cpuprofile`. */
  readonly cpu?: string
  /** A `.heapprofile`: who made what is still there in the end. */
  readonly memory?: string
}

/** Runs `work` and writes the profiles that are asked for, also where it fails. Costs speed. */
export async function profiled<Result>(
  { cpu, memory }: ProfileFiles,
  work: () => Promise<Result>,
): Promise<Result> {
  if (cpu === undefined && memory === undefined) return await work()
  const session = new Session()
  session.connect()
  if (cpu !== undefined) {
    await ask(session, 'Profiler.enable')
    await ask(session, 'Profiler.start')
  }
  if (memory !== undefined) await ask(session, 'HeapProfiler.startSampling')
  try {
    return await work()
  } finally {
    if (cpu !== undefined) await save(session, 'Profiler.stop', cpu)
    if (memory !== undefined) await save(session, 'HeapProfiler.stopSampling', memory)
    session.disconnect()
  }
}

async function save(session: Session, method: string, path: string): Promise<void> {
  const { profile } = (await ask(session, method)) as { readonly profile: unknown }
  writeFileSync(path, JSON.stringify(profile))
}

function ask(session: Session, method: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, (error, reply) => (error === null ? resolve(reply) : reject(error)))
  })
}
