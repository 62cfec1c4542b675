/** Aim: a delta says what changed against the state before the block, net, hashed and sorted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesCompare, Fork } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { addressHashOf, slotHashOf } from '../state/index.ts'
import { COINBASE, legacy, SENDER, TARGET, world } from './testWorld.suite.ts'
import { executeTransaction } from './transaction.ts'
import { deltaOfWrites } from './writtenDelta.ts'

const word = (value: number) => new Uint8Array(32).fill(value, 31)

test('slots of two transactions are one net change, in the order of hashes', () => {
  // Writes the call data's word to the slot of its second word.
  const code = Uint8Array.of(0x5f, 0x35, 0x60, 0x20, 0x35, 0x55)
  const storage = [
    [word(1), word(5)],
    [word(2), word(6)],
  ] as const
  const context = world(Fork.Prague, [{ address: TARGET, nonce: 1n, code, storage }])
  const write = (nonce: bigint, slot: number, value: number) =>
    executeTransaction(
      context,
      legacy({ nonce, data: Uint8Array.of(...word(value), ...word(slot)) }),
      SENDER,
    )
  write(0n, 1, 9)
  write(1n, 2, 9)
  // Back to what it was: no change.
  write(2n, 2, 6)
  write(3n, 3, 4)
  const delta = deltaOfWrites(context.machine.writeSet())
  const hashes = delta.accounts.map(({ addressHash }) => addressHash)
  assert.deepEqual(hashes, [SENDER, TARGET, COINBASE].map(addressHashOf).sort(bytesCompare))
  const target = delta.accounts.find(
    ({ addressHash }) => bytesCompare(addressHash, addressHashOf(TARGET)) === 0,
  )!
  assert.equal(target.storageCleared, false)
  const expected = [
    { slotHash: slotHashOf(word(1)), before: word(5), after: word(9) },
    { slotHash: slotHashOf(word(3)), before: undefined, after: word(4) },
  ].sort((a, b) => bytesCompare(a.slotHash, b.slotHash))
  assert.deepEqual(target.slots, expected)
  assert.deepEqual(delta.codes, [])
})

test('a new contract comes with its code', () => {
  const runtime = Uint8Array.of(0x60, 1, 0x5f, 0xf3)
  const context = world(Fork.Prague)
  const { created } = executeTransaction(context, legacy({ to: undefined, data: runtime }), SENDER)
  const delta = deltaOfWrites(context.machine.writeSet())
  const codeHash = keccak256(Uint8Array.of(0))
  const [change] = delta.accounts.filter(
    ({ addressHash }) => bytesCompare(addressHash, addressHashOf(created!)) === 0,
  )
  assert.equal(change!.before, undefined)
  assert.deepEqual(change!.after, { nonce: 1n, balance: 0n, codeHash })
  assert.deepEqual(delta.codes, [{ codeHash, code: Uint8Array.of(0) }])
})

test('an account that destroys itself in Shanghai is gone with its storage', () => {
  const code = Uint8Array.of(0x5f, 0xff)
  const accounts = [{ address: TARGET, nonce: 1n, code, storage: [[word(1), word(5)]] as const }]
  const context = world(Fork.Shanghai, accounts)
  executeTransaction(context, legacy(), SENDER)
  const delta = deltaOfWrites(context.machine.writeSet())
  const target = delta.accounts.find(
    ({ addressHash }) => bytesCompare(addressHash, addressHashOf(TARGET)) === 0,
  )!
  assert.equal(target.after, undefined)
  assert.equal(target.before!.nonce, 1n)
  assert(target.storageCleared)
  assert.deepEqual(target.slots, [])
})
