/** One side of a replay: how its blocks are imported, and by which revision. */
import { InvalidArgumentError } from 'commander'
import type { JournalSync } from '../../../store/index.ts'
import { parseCount, parseMemory, parsePositive, parseSync } from '../../arguments.ts'

export type ReplayConfig = {
  /** As it was typed. */
  readonly label: string
  readonly isPipelined: boolean
  readonly sync: JournalSync
  readonly memoryBytes?: number
  readonly historyBlocks?: number
  readonly batchBlockCount?: number
  /** Of this repository; this tree without it. */
  readonly revision?: string
}

const KEYS = ['pipeline', 'sync', 'memory', 'history', 'batch', 'rev']

/**
 * Reads `pipeline=off,memory=512M`; `default` has no keys. What is not named is as in `varve import`, but disk syncs are
 * left to the system: they would time the disk.
 */
export function parseReplayConfig(text: string): ReplayConfig {
  const words = text === 'default' ? [] : text.split(',')
  const values = new Map<string, string>()
  for (const word of words) {
    const [, key = '', value = ''] = /^(\w+)=(.+)$/.exec(word) ?? []
    if (!KEYS.includes(key) || values.has(key))
      throw new InvalidArgumentError(
        `"${word}": expected default, or each of ${KEYS.join('=…, ')}=… at most once.`,
      )
    values.set(key, value)
  }
  const read = <Name extends string, Value>(
    key: string,
    name: Name,
    parse: (text: string) => Value,
  ) => {
    const value = values.get(key)
    return (value === undefined ? {} : { [name]: parse(value) }) as {
      readonly [Key in Name]?: Value
    }
  }
  const pipeline = values.get('pipeline') ?? 'on'
  if (pipeline !== 'on' && pipeline !== 'off')
    throw new InvalidArgumentError(`"pipeline=${pipeline}": expected on or off.`)
  return {
    label: text,
    isPipelined: pipeline === 'on',
    sync: parseSync(values.get('sync') ?? 'os'),
    ...read('memory', 'memoryBytes', parseMemory),
    ...read('history', 'historyBlocks', parseCount),
    ...read('batch', 'batchBlockCount', parsePositive),
    ...read('rev', 'revision', (name) => name),
  }
}
