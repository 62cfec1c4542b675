/**
 * Aim: each root within a block is the root of the state so far, whatever was changed and changed back. Method: deltas from
 * one base, each against a fresh summary of base and delta.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, toHex } from '../base/index.ts'
import { type AccountChange, type StateDelta, sealDelta } from '../state/index.ts'
import { memoryStore } from '../store/index.ts'
import { BlockRoots } from './blockRoots.ts'
import { storedNodes } from './nodeReaders.ts'
import { StateSummary } from './stateSummary.ts'

const bytes = (fill: number) => new Uint8Array(32).fill(fill)
const account = (balance: bigint) => ({ nonce: 0n, balance, codeHash: EMPTY_CODE_HASH })
const slot = (hash: number, before: number | undefined, after: number | undefined) => ({
  slotHash: bytes(hash),
  before: before === undefined ? undefined : bytes(before),
  after: after === undefined ? undefined : bytes(after),
})
const change = (hash: number, fields: Partial<AccountChange>): AccountChange => ({
  addressHash: bytes(hash),
  before: undefined,
  after: undefined,
  storageCleared: false,
  slots: [],
  ...fields,
})

const base = sealDelta([
  change(1, { after: account(5n), slots: [slot(1, undefined, 7), slot(2, undefined, 8)] }),
  change(2, { after: account(6n) }),
])

function summaryOf(...deltas: readonly StateDelta[]): StateSummary {
  const summary = new StateSummary(storedNodes(memoryStore()), EMPTY_TRIE_ROOT)
  for (const delta of deltas) summary.update(delta)
  return summary
}

/** What a block had done after each of its transactions. */
const steps: readonly StateDelta[] = [
  sealDelta([
    change(1, { before: account(5n), after: account(4n), slots: [slot(1, 7, 9)] }),
    change(3, { after: account(1n), slots: [slot(5, undefined, 1)] }),
  ]),
  // The third account is gone, and so is the change of the slot.
  sealDelta([
    change(1, { before: account(5n), after: account(3n), slots: [slot(2, 8, undefined)] }),
  ]),
  // All is as before.
  sealDelta([]),
  // The first account lost its storage, and got some anew.
  sealDelta([
    change(1, {
      before: account(5n),
      after: account(9n),
      storageCleared: true,
      slots: [slot(2, undefined, 1)],
    }),
    change(2, { before: account(6n), storageCleared: true }),
  ]),
  // It is gone; the second one was made again as it had been.
  sealDelta([
    change(1, { before: account(5n), storageCleared: true }),
    change(2, { before: account(6n), after: account(6n), storageCleared: true }),
  ]),
]

test('roots within a block, step by step', () => {
  const roots = new BlockRoots(summaryOf(base))
  assert.equal(roots.hasStarted, false)
  for (const step of steps) {
    const expected = summaryOf(base, step).root()
    assert.equal(toHex(roots.rootAfter(step)), toHex(expected))
    assert.equal(roots.hasStarted, true)
    // Asked again, nothing moves.
    assert.equal(toHex(roots.rootAfter(step)), toHex(expected))
  }
})
