/**
 * Aim: a cache of the parent's state that transactions have warmed in any order, to the end or not, changes nothing of
 * the block (N9), and follows its state from block to block. Method: contracts whose keys depend on the order in which
 * they are called; the same blocks over the state itself and over caches warmed in wrong orders on another machine.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigintToBytes, bytesEqual, Fork, isVarveError } from '../base/index.ts'
import type { UnsignedTransaction } from '../codec/index.ts'
import { assemble } from '../evm/testWorld.suite.ts'
import {
  addressHashOf,
  completeDelta,
  type ListingView,
  MergedState,
  StableView,
  StateCache,
  type StateDelta,
  type StateView,
  type StoredSlot,
  slotHashOf,
} from '../state/index.ts'
import { Prng } from '../testing/index.ts'
import { ETHER, legacy, TARGET, type TestAccount, viewOf, world } from './testWorld.suite.ts'
import { executeTransaction, type TransactionContext } from './transaction.ts'
import { ViewHost } from './viewHost.ts'
import { deltaOfWrites } from './writtenDelta.ts'

const FORK = Fork.Shanghai
const SENDERS = Array.from({ length: 4 }, (_, index) => bigintToBytes(BigInt(0xf00 + index), 20))
const OTHER = bigintToBytes(0xbbn, 20)
/**
 * Counts its calls in slot 0, keeps each input at the slot of its number, adds to it what lies at the slot that the
 * last input names, and destroys the other contract at every fifth call.
 */
const ORDERED = assemble(
  `0 SLOAD 1 ADD DUP1 0 SSTORE 99 SLOAD SLOAD 0 CALLDATALOAD ADD DUP2 SSTORE 0 CALLDATALOAD 99 SSTORE ` +
    `5 SWAP1 MOD ISZERO @kill JUMPI STOP :kill 0 0 0 0 0 0xbb GAS CALL`,
)
const MORTAL = assemble('0 SLOAD 1 ADD 0 SSTORE 0xaa SELFDESTRUCT')

const word = (value: number): Uint8Array => bigintToBytes(BigInt(value), 32)

const ACCOUNTS: readonly TestAccount[] = [
  ...SENDERS.map((address) => ({ address, balance: ETHER })),
  { address: TARGET, nonce: 1n, code: ORDERED, storage: [[word(7), word(70)] as const] },
  { address: OTHER, nonce: 1n, balance: 9n, code: MORTAL, storage: [[word(0), word(3)] as const] },
]

/** A state that can be moved on, and counts what it is asked. */
class Parent implements ListingView {
  readonly state: MergedState
  askedCount = 0

  constructor() {
    const slots = (addressHash: Uint8Array): StoredSlot[] =>
      ACCOUNTS.filter(({ address }) => bytesEqual(addressHashOf(address), addressHash)).flatMap(
        ({ storage = [] }) =>
          storage.map(([slot, value]) => ({ slotHash: slotHashOf(slot), value })),
      )
    this.state = new MergedState({ ...viewOf(ACCOUNTS), slots })
  }

  account(addressHash: Uint8Array) {
    this.askedCount++
    return this.state.account(addressHash)
  }

  storage(addressHash: Uint8Array, slotHash: Uint8Array) {
    this.askedCount++
    return this.state.storage(addressHash, slotHash)
  }

  code = (codeHash: Uint8Array) => this.state.code(codeHash)
  hasStorage = (addressHash: Uint8Array) => this.state.hasStorage(addressHash)
  slots = (addressHash: Uint8Array) => this.state.slots(addressHash)
}

type Call = { readonly sender: Uint8Array; readonly transaction: UnsignedTransaction }

function begun(view: StateView): TransactionContext {
  const context = world(FORK)
  context.machine.beginBlock(context.block, new ViewHost(view, () => new Uint8Array(32)))
  return context
}

/** The block itself: everything it gives. */
function run(calls: readonly Call[], view: StateView): { delta: StateDelta; gas: bigint[] } {
  const context = begun(view)
  const outcomes = calls.map(({ sender, transaction }) =>
    executeTransaction(context, transaction, sender),
  )
  const delta = deltaOfWrites(context.machine.writeSet())
  return { delta, gas: outcomes.map(({ gasUsed }) => gasUsed) }
}

/** Runs some of the calls in a random order, on a machine of its own, and forgets what they did. */
function prewarm(random: Prng, calls: readonly Call[], view: StateView): number {
  const context = begun(view)
  const left = calls.filter(() => !random.oneIn(4))
  let rejectedCount = 0
  while (left.length > 0) {
    const [{ sender, transaction }] = left.splice(random.below(left.length), 1) as [Call]
    try {
      executeTransaction(context, transaction, sender)
    } catch (error) {
      // Of a sender whose earlier transaction has not run.
      assert(isVarveError(error))
      rejectedCount++
    }
  }
  return rejectedCount
}

test('N9: transactions in the wrong order warm a cache, and the block over it is that over the state', () => {
  let rejectedCount = 0
  let askedCount = 0
  let coldCount = 0
  for (let seed = 1; seed <= 20; seed++) {
    const random = new Prng(seed)
    const parent = new Parent()
    const nonces = SENDERS.map(() => 0n)
    const isLarge = random.oneIn(2)
    const cache = new StateCache(parent, { slotCountMax: isLarge ? 1000 : 4 })
    for (let block = 0; block < 4; block++) {
      const calls = Array.from({ length: 12 }, () => {
        const index = random.below(SENDERS.length)
        const data = word(random.below(20))
        const transaction = legacy({ nonce: nonces[index]!++, data, gasLimit: 200_000n })
        return { sender: SENDERS[index]!, transaction }
      })
      const before = parent.askedCount
      const expected = run(calls, new StableView(parent))
      if (isLarge) coldCount += parent.askedCount - before
      rejectedCount += prewarm(random, calls, cache)
      const warmed = parent.askedCount
      assert.deepEqual(run(calls, cache), expected, `seed ${seed}, block ${block}`)
      if (isLarge) askedCount += parent.askedCount - warmed
      const delta = completeDelta(expected.delta, parent)
      parent.state.apply(delta)
      for (const change of delta.accounts) cache.advance(change)
    }
  }
  assert(rejectedCount > 50, 'orders were wrong')
  assert(askedCount < coldCount / 2, `the cache was used: ${askedCount} of ${coldCount}`)
})

test('N9: a machine keeps nothing of a block for the next one over another parent', () => {
  const context = world(FORK)
  const [first] = SENDERS as [Uint8Array]
  const call: Call = { sender: first, transaction: legacy({ data: word(3), gasLimit: 200_000n }) }
  const other = new Parent()
  other.state.apply(run([call], other).delta)
  const second: Call = { sender: first, transaction: legacy({ nonce: 1n, gasLimit: 200_000n }) }
  const states = [new Parent(), other]
  for (let turn = 0; turn < 6; turn++) {
    const [view, { sender, transaction }] =
      turn % 2 === 0 ? [states[0]!, call] : [states[1]!, second]
    context.machine.beginBlock(context.block, new ViewHost(view, () => new Uint8Array(32)))
    executeTransaction(context, transaction, sender)
    const delta = deltaOfWrites(context.machine.writeSet())
    assert.deepEqual(delta, run([{ sender, transaction }], view).delta, `turn ${turn}`)
  }
})
