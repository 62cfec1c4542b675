/**
 * Aim: SSZ is written and hashed as consensus-specs says, and nothing else is read.
 * Method: encodings and roots worked out by hand from the rules; round trips; every kind of damage to offsets.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isVarveError, toBareHex } from '../base/index.ts'
import { sha256 } from './sha256.ts'
import {
  sha256Pair,
  sszBoolean,
  sszByteList,
  sszBytes,
  sszContainer,
  sszList,
  sszUint,
} from './ssz.ts'

const uint64 = sszUint(8)
const zero = new Uint8Array(32)

function chunk(...bytes: number[]): Uint8Array {
  const padded = new Uint8Array(32)
  padded.set(bytes)
  return padded
}

const pairType = sszContainer({ id: uint64, name: sszByteList(40), flag: sszBoolean })
const pair = { id: 258n, name: Uint8Array.of(7, 8), flag: true }

test('a container lays fixed fields in place and names the others by offset', () => {
  const bytes = pairType.encode(pair)
  assert.equal(toBareHex(bytes), '0201000000000000' + '0d000000' + '01' + '0708')
  assert.deepEqual(pairType.decode(bytes, 'pair'), pair)
  assert.equal(pairType.fixedBytes, undefined)
  assert.equal(sszContainer({ a: uint64, b: sszBytes(3) }).fixedBytes, 11)
})

test('roots follow the rules by hand', () => {
  assert.deepEqual(uint64.root(258n), chunk(2, 1))
  assert.deepEqual(sszBytes(33).root(new Uint8Array(33).fill(9)), hashOfTwo(33))
  // 40 bytes are two chunks: one level, then the length.
  const name = sha256Pair(sha256Pair(chunk(7, 8), zero), chunk(2))
  assert.deepEqual(sszByteList(40).root(pair.name), name)
  // Three fields are filled up to four.
  const expected = sha256Pair(sha256Pair(chunk(2, 1), name), sha256Pair(chunk(1), zero))
  assert.deepEqual(pairType.root(pair), expected)
  const list = sszList(sszBytes(32), 4)
  const two = [chunk(1), chunk(2)]
  const tree = sha256Pair(sha256Pair(two[0]!, two[1]!), sha256Pair(zero, zero))
  assert.deepEqual(list.root(two), sha256Pair(tree, chunk(2)))
  assert.deepEqual(sha256(new Uint8Array(64)), sha256Pair(zero, zero))
})

function hashOfTwo(byteCount: number): Uint8Array {
  return sha256Pair(new Uint8Array(32).fill(9), chunk(...new Array(byteCount - 32).fill(9)))
}

test('lists round-trip, empty ones too', () => {
  const lists = sszList(sszByteList(4), 3)
  for (const value of [
    [],
    [Uint8Array.of()],
    [Uint8Array.of(1), Uint8Array.of(), Uint8Array.of(2)],
  ])
    assert.deepEqual(lists.decode(lists.encode(value), 'list'), value)
  const pairs = sszList(pairType, 2)
  assert.deepEqual(pairs.decode(pairs.encode([pair, pair]), 'pairs'), [pair, pair])
})

test('what is no SSZ is refused by code', () => {
  const good = pairType.encode(pair)
  const damaged: [string, Uint8Array][] = [
    ['short head', good.subarray(0, 12)],
    ['long name', pairType.encode({ ...pair, name: new Uint8Array(41) })],
    ['first offset too high', patched(good, 8, 14)],
    ['first offset too low', patched(good, 8, 12)],
    ['boolean 2', patched(good, 12, 2)],
  ]
  for (const [name, bytes] of damaged) assertRefused(() => pairType.decode(bytes, 'pair'), name)
  const lists = sszList(sszByteList(4), 3)
  const three = lists.encode([Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3)])
  assertRefused(() => lists.decode(patched(three, 4, 11), 'list'), 'offset falls')
  assertRefused(() => lists.decode(patched(three, 4, 99), 'list'), 'offset beyond the end')
  assertRefused(() => lists.decode(patched(three, 0, 0), 'list'), 'no offsets')
  assertRefused(() => lists.decode(patched(three, 0, 6), 'list'), 'part of an offset')
  assertRefused(() => lists.decode(three.subarray(0, 3), 'list'), 'no whole offset')
  const four = sszList(sszByteList(4), 4).encode(new Array(4).fill(Uint8Array.of(1)))
  assertRefused(() => lists.decode(four, 'list'), 'too many items')
  assertRefused(() => sszList(uint64, 3).decode(new Uint8Array(9), 'list'), 'part of an item')
})

function patched(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const copy = bytes.slice()
  copy[at] = value
  return copy
}

function assertRefused(work: () => unknown, what: string): void {
  assert.throws(work, (error) => isVarveError(error, 'SSZ_INVALID'), what)
}
