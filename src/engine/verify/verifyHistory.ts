/**
 * Checks the deltas of the kept blocks: each in the one form it may have, and leading exactly from one state to the
 * next. One end of a delta is compared value by value with the state at hand, the other by the root it leads to:
 *
 *     head ──▶ back to the floor:      `after` is what the state holds, `before` gives the parent's root
 *     floor ─▶ every side branch:      `before` is what the state holds, `after` gives the block's root
 */
import { bytesEqual, isVarveError, toHex } from '../../base/index.ts'
import { StateSummary, storedNodes } from '../../commit/index.ts'
import {
  type Account,
  accountHasCode,
  accountsEqual,
  decodeDelta,
  encodeDelta,
  FlatState,
  FlatView,
  invertDelta,
  MergedState,
  type StateDelta,
  slotsEqual,
} from '../../state/index.ts'
import { blockKey, type Store } from '../../store/index.ts'
import type { BlockNode, BlockTree } from '../tree/blockTree.ts'
import { type Difference, difference } from './difference.ts'

/** Checks all deltas. The head's state has been checked. @param onBlock called after each one */
export function* verifyHistory(
  store: Store,
  tree: BlockTree,
  onBlock: () => void,
): Generator<Difference> {
  const walk = new HistoryWalk(store, tree)
  try {
    for (let node = tree.head; node !== tree.floor; node = node.parent!) {
      yield* walk.back(node)
      onBlock()
    }
    for (const node of tree.nodes()) {
      if (node.isCanonical) continue
      yield* walk.forward(node)
      onBlock()
    }
  } catch (error) {
    if (!isVarveError(error)) throw error
    yield difference('deltas', walk.key, walk.subject, 'a delta between states', error.message)
  }
}

class HistoryWalk {
  private readonly store: Store
  private readonly tree: BlockTree
  private readonly state: MergedState
  private readonly summary: StateSummary
  /** Where state and summary stand. */
  private node: BlockNode
  /** The delta at hand. */
  key: Uint8Array = new Uint8Array(0)
  subject = ''

  constructor(store: Store, tree: BlockTree) {
    this.store = store
    this.tree = tree
    this.node = tree.head
    this.state = new MergedState(new FlatView(new FlatState(store)))
    this.summary = new StateSummary(storedNodes(store), tree.head.header.stateRoot)
  }

  /** Checks the delta of the block that the walk stands at, and goes to its parent. */
  *back(node: BlockNode): Generator<Difference> {
    const delta = yield* this.read(node)
    yield* this.compare(delta, 'after')
    yield* this.apply(invertDelta(delta), node.parent!)
  }

  /** Goes to a block's parent, wherever that is, checks the block's delta and follows it. */
  *forward(node: BlockNode): Generator<Difference> {
    const path = this.tree.path(this.node, node.parent!)
    for (const each of path.back)
      yield* this.apply(invertDelta(yield* this.read(each)), each.parent!)
    for (const each of path.forward) yield* this.apply(yield* this.read(each), each)
    const delta = yield* this.read(node)
    yield* this.compare(delta, 'before')
    yield* this.apply(delta, node)
  }

  private *read(node: BlockNode): Generator<Difference, StateDelta> {
    const { number, hash } = node.header
    this.key = blockKey(number, hash)
    this.subject = `${node.isCanonical ? '' : 'side '}block ${number}`
    const row = this.store.get('deltas', this.key) ?? new Uint8Array(0)
    const delta = decodeDelta(row, `block ${number}`)
    const encoded = encodeDelta(delta)
    if (!bytesEqual(encoded, row)) yield difference('deltas', this.key, this.subject, encoded, row)
    return delta
  }

  /** Compares one side of a delta with the state at hand, and looks for the codes of both. */
  private *compare(delta: StateDelta, side: 'before' | 'after'): Generator<Difference> {
    for (const { addressHash, slots, ...change } of delta.accounts) {
      const subject = `${this.subject}, account ${toHex(addressHash)}`
      const account = this.state.account(addressHash)
      if (!accountsEqual(account, change[side]))
        yield difference('deltas', this.key, subject, shown(account), shown(change[side]))
      for (const each of [change.before, change.after])
        if (each !== undefined && accountHasCode(each) && !this.store.has('codes', each.codeHash))
          yield difference('codes', each.codeHash, subject, 'its code', undefined)
      for (const { slotHash, ...values } of slots) {
        const value = this.state.storage(addressHash, slotHash)
        if (slotsEqual(value, values[side])) continue
        const place = `${subject}, slot ${toHex(slotHash)}`
        yield difference('deltas', this.key, place, value ?? 'zero', values[side] ?? 'zero')
      }
    }
  }

  private *apply(delta: StateDelta, goal: BlockNode): Generator<Difference> {
    this.state.apply(delta)
    const root = this.summary.update(delta)
    this.node = goal
    const { number, stateRoot } = goal.header
    if (!bytesEqual(root, stateRoot))
      yield difference(
        'deltas',
        this.key,
        `${this.subject}: root of the state of block ${number}`,
        stateRoot,
        root,
      )
  }
}

function shown(account: Account | undefined): string {
  if (account === undefined) return 'no account'
  const { nonce, balance, codeHash } = account
  return `nonce ${nonce}, balance ${balance}, code ${toHex(codeHash)}`
}
