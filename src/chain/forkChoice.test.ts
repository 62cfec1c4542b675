// Aim: the head moves as the table in forkChoice.ts says. Method: every cell of the table, with lighter, equal and
// heavier blocks where weight counts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Header } from '../codec/index.ts'
import { replacesHead, type WeighedHeader } from './forkChoice.ts'

const hash = (byte: number) => new Uint8Array(32).fill(byte)

/** A block with its total difficulty; proof of stake where its own difficulty is 0. */
function block(name: number, parent: number, difficulty: bigint, totalDifficulty: bigint) {
  const header = { hash: hash(name), parentHash: hash(parent), difficulty } as Header
  return { header, totalDifficulty } satisfies WeighedHeader
}

test('a child of the head becomes the head, whatever it weighs', () => {
  assert.equal(replacesHead(block(2, 1, 5n, 15n), block(1, 0, 10n, 10n)), true)
  assert.equal(replacesHead(block(2, 1, 0n, 10n), block(1, 0, 10n, 10n)), true)
  assert.equal(replacesHead(block(2, 1, 0n, 10n), block(1, 0, 0n, 10n)), true)
})

test('between two branches of proof of work the heavier one wins, and of equal ones the first seen stays', () => {
  const head = block(1, 0, 10n, 100n)
  assert.equal(replacesHead(block(3, 9, 10n, 99n), head), false)
  assert.equal(replacesHead(block(3, 9, 10n, 100n), head), false)
  assert.equal(replacesHead(block(3, 9, 10n, 101n), head), true)
})

test('where one of the two is under proof of stake, no weight moves the head', () => {
  const work = block(1, 0, 10n, 100n)
  const stake = block(2, 0, 0n, 100n)
  assert.equal(replacesHead(block(3, 9, 0n, 1000n), work), false)
  assert.equal(replacesHead(block(3, 9, 10n, 1000n), stake), false)
  assert.equal(replacesHead(block(3, 9, 0n, 1000n), stake), false)
})
