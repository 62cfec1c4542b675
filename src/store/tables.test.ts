import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesCompare, toBareHex } from '../base/index.ts'
import {
  accountNodeKey,
  blockKey,
  META,
  metaKey,
  numberKey,
  prefixEnd,
  storageKey,
  storageNodeKey,
  TABLE_INDEX,
  TABLES,
} from './tables.ts'

const nibbles = Uint8Array.of(1, 2, 3, 15, 0)

test('node keys: depth, then two nibbles a byte, the odd one in the high half', () => {
  assert.equal(toBareHex(accountNodeKey(nibbles, 0)), '00')
  assert.equal(toBareHex(accountNodeKey(nibbles, 1)), '0110')
  assert.equal(toBareHex(accountNodeKey(nibbles, 2)), '0212')
  assert.equal(toBareHex(accountNodeKey(nibbles, 3)), '031230')
  assert.equal(toBareHex(accountNodeKey(nibbles, 5)), '05123f00')
  const full = new Uint8Array(64).fill(15)
  assert.equal(toBareHex(accountNodeKey(full, 64)), `40${'ff'.repeat(32)}`)
  assert.throws(() => accountNodeKey(new Uint8Array(65), 65), /64 nibbles/)
  assert.throws(() => accountNodeKey(nibbles, 6), /within its array/)
  assert.throws(() => accountNodeKey(Uint8Array.of(16, 0), 2), /0 to 15/)
})

test('a path and the path one zero longer have different keys', () => {
  assert.notEqual(
    toBareHex(accountNodeKey(Uint8Array.of(1, 0), 1)),
    toBareHex(accountNodeKey(Uint8Array.of(1, 0), 2)),
  )
})

test('storage keys stand behind the hash of their account', () => {
  const account = new Uint8Array(32).fill(0xaa)
  const slot = new Uint8Array(32).fill(0xbb)
  assert.equal(toBareHex(storageNodeKey(account, nibbles, 3)), `${'aa'.repeat(32)}031230`)
  assert.equal(toBareHex(storageKey(account, slot)), 'aa'.repeat(32) + 'bb'.repeat(32))
  assert.throws(() => storageKey(account.subarray(1), slot), /32 bytes/)
  assert.throws(() => storageNodeKey(account.subarray(1), nibbles, 0), /32 bytes/)
})

test('block keys order as their numbers do', () => {
  const hash = new Uint8Array(32).fill(0xff)
  const numbers = [0, 1, 255, 256, 0xffff_ffff, 0x1_0000_0000, Number.MAX_SAFE_INTEGER]
  for (let index = 1; index < numbers.length; index++) {
    const lower = blockKey(numbers[index - 1]!, hash)
    assert.ok(bytesCompare(lower, blockKey(numbers[index]!, new Uint8Array(32))) < 0)
  }
  assert.equal(toBareHex(numberKey(8191)), '0000000000001fff')
  assert.equal(toBareHex(blockKey(1, hash)), `0000000000000001${'ff'.repeat(32)}`)
  assert.throws(() => numberKey(-1))
  assert.throws(() => numberKey(1.5))
})

test('the end of a prefix', () => {
  assert.deepEqual(prefixEnd(Uint8Array.of(1, 2)), Uint8Array.of(1, 3))
  assert.deepEqual(prefixEnd(Uint8Array.of(1, 0xff, 0xff)), Uint8Array.of(2))
  assert.equal(prefixEnd(Uint8Array.of(0xff, 0xff)), undefined)
  assert.equal(prefixEnd(Uint8Array.of()), undefined)
})

test('names of tables and records are distinct', () => {
  assert.equal(new Set(TABLES).size, TABLES.length)
  for (const table of TABLES) assert.equal(TABLES[TABLE_INDEX[table]], table)
  assert.equal(new Set(Object.values(META).map(toBareHex)).size, Object.keys(META).length)
  assert.throws(() => metaKey(''))
  assert.throws(() => metaKey('Kopf é'))
})
