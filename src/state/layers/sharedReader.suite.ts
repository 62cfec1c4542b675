/** A thread of the test that reads layers of another thread over and over, until it is told to stop. */
import { parentPort, workerData } from 'node:worker_threads'
import { hashKey } from '../key.ts'
import { type DiffSource, diffAccounts } from './layerDiff.ts'

export type ReaderTask = {
  readonly source: DiffSource
  /** One i32: 1 is the word to stop. */
  readonly stop: Int32Array
}

/** What a reader has seen: each different answer, how many rounds. */
export type ReaderReport = { readonly digests: readonly string[]; readonly roundCount: number }

/** Everything that a difference says, as text. */
export function digestOfSource(source: DiffSource): string {
  return diffAccounts(source)
    .map(
      ({ addressHash, before, after, storageCleared, slots }) =>
        `${hashKey(addressHash)} ${before?.balance} ${after?.balance} ${storageCleared} ${slots
          .map((slot) => [slot.slotHash, slot.before, slot.after].map(String).join())
          .join(' ')}`,
    )
    .join('\n')
}

if (parentPort !== null) {
  const { source, stop } = workerData as ReaderTask
  const digests = new Set<string>()
  let roundCount = 0
  parentPort.postMessage('ready')
  do {
    digests.add(digestOfSource(source))
    roundCount++
  } while (Atomics.load(stop, 0) === 0)
  parentPort.postMessage({ digests: [...digests], roundCount } satisfies ReaderReport)
}
