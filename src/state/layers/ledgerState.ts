/**
 * The newest version and, beneath it, the last one that is a checkpoint: a version whose root is asked for. A chunk of
 * deltas moves both: the checkpoint to the last one inside the chunk, the newest to its end.
 *
 *     persisted ─▶ lastCheckpoint ─▶ latest          each descends from the one before
 */
import { assert, VarveError } from '../../base/index.ts'
import type { StateDelta } from '../delta.ts'
import type { LayeredState } from './layeredState.ts'

/** Deltas of consecutive versions. */
export type DeltaChunk = {
  /** Version of the first delta: one above the newest. */
  readonly versionFirst: number
  readonly deltas: readonly StateDelta[]
  /** Place in `deltas` of the last checkpoint, where the chunk has one. */
  readonly checkpointIndex?: number
}

export class LedgerState {
  readonly latest: LayeredState
  readonly lastCheckpoint: LayeredState

  /** Takes both versions over. */
  constructor(lastCheckpoint: LayeredState, latest: LayeredState) {
    assert(latest.isDescendantOf(lastCheckpoint), 'ledger: the newest stands on the checkpoint')
    this.lastCheckpoint = lastCheckpoint
    this.latest = latest
  }

  /** A ledger whose newest version is its checkpoint. Takes the version over. */
  static at(state: LayeredState): LedgerState {
    return new LedgerState(state.fork(), state)
  }

  /**
   * The ledger after a chunk; this one stays. Deltas between checkpoints need not be versions of their own to readers,
   * but each is a layer. The caller releases the result.
   * @throws VarveError STATE_VERSION_NOT_NEXT and what `LayeredState.apply` throws; nothing has changed then
   */
  apply({ versionFirst, deltas, checkpointIndex }: DeltaChunk): LedgerState {
    if (checkpointIndex !== undefined)
      assert(
        checkpointIndex >= 0 && checkpointIndex < deltas.length,
        'ledger: the checkpoint is in the chunk',
      )
    if (versionFirst !== this.latest.version + 1)
      throw new VarveError(
        'STATE_VERSION_NOT_NEXT',
        `a chunk from version ${versionFirst}: expected ${this.latest.version + 1}`,
        { version: versionFirst, expected: this.latest.version + 1 },
      )
    let checkpoint = this.lastCheckpoint.fork()
    let latest = this.latest.fork()
    try {
      deltas.forEach((delta, index) => {
        const next = latest.apply(delta, versionFirst + index)
        latest.release()
        latest = next
        if (index !== checkpointIndex) return
        checkpoint.release()
        checkpoint = latest.fork()
      })
    } catch (error) {
      checkpoint.release()
      latest.release()
      throw error
    }
    return new LedgerState(checkpoint, latest)
  }

  /** The same ledger once more, to be released on its own. */
  fork(): LedgerState {
    return new LedgerState(this.lastCheckpoint.fork(), this.latest.fork())
  }

  /** Lets both versions go. */
  release(): void {
    this.latest.release()
    this.lastCheckpoint.release()
  }
}
