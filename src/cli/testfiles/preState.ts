/**
 * The state that a test starts from: a view for execution, and deltas that lead a state summary there and back again,
 * so that one summary serves test after test.
 */
import { bytesCompare, EMPTY_TRIE_ROOT } from '../../base/index.ts'
import type { GenesisAccount } from '../../chain/index.ts'
import { StateSummary, storedNodes } from '../../commit/index.ts'
import { allocationDelta } from '../../engine/index.ts'
import {
  type AccountChange,
  FlatState,
  FlatView,
  type HashKey,
  hashKey,
  MergedState,
  type StateDelta,
  type StateView,
  sealDelta,
} from '../../state/index.ts'
import { memoryStore } from '../../store/index.ts'

export class PreState {
  readonly view: StateView
  /** From the empty state to this one. */
  readonly delta: StateDelta
  private readonly changes = new Map<HashKey, AccountChange>()

  constructor(accounts: readonly GenesisAccount[]) {
    this.delta = allocationDelta(accounts)
    for (const change of this.delta.accounts) this.changes.set(hashKey(change.addressHash), change)
    const view = new MergedState(new FlatView(new FlatState(memoryStore())))
    view.apply(this.delta)
    this.view = view
  }

  /** Leads back to the empty state. */
  get removal(): StateDelta {
    return sealDelta(
      this.delta.accounts.map(({ addressHash, after }) => ({
        addressHash,
        before: after,
        after: undefined,
        storageCleared: true,
        slots: [],
      })),
    )
  }

  /** Leads back to this state from where `delta` has led to. */
  inverse(delta: StateDelta): StateDelta {
    return sealDelta(
      delta.accounts.map(({ addressHash, after }) => {
        const original = this.changes.get(hashKey(addressHash))
        return {
          addressHash,
          before: after,
          after: original?.after,
          storageCleared: true,
          slots: original?.slots ?? [],
        }
      }),
    )
  }
}

/** The root of one state after another. */
export class RootCalculator {
  private summary = new StateSummary(storedNodes(memoryStore()), EMPTY_TRIE_ROOT)
  private stateCount = 0

  /** Runs `work` with the summary at `state`, and leaves it empty. */
  at<Result>(state: PreState, work: (summary: StateSummary) => Result): Result {
    // Emptied storage tries stay open in a summary; a fresh one now and then bounds them.
    if (++this.stateCount % STATE_COUNT_PER_SUMMARY === 0) this.renew()
    let isEmpty = false
    try {
      this.summary.update(state.delta)
      const result = work(this.summary)
      isEmpty = bytesCompare(this.summary.update(state.removal), EMPTY_TRIE_ROOT) === 0
      return result
    } finally {
      if (!isEmpty) this.renew()
    }
  }

  private renew(): void {
    this.summary = new StateSummary(storedNodes(memoryStore()), EMPTY_TRIE_ROOT)
  }
}

/** A summary takes a reservation of address space, so one for each state would be many. */
const STATE_COUNT_PER_SUMMARY = 512
