// Aim: chains of chunks come and go without losing or doubling a chunk, whatever the order; capacity fails loudly.
// Method: random owners against a model of which chunk belongs to whom, marked by its owner's number.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AssertionFault, isVarveError, VERIFY } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import {
  CHUNK_BYTES,
  CHUNK_UNITS,
  ChunkArena,
  type ChunkHandle,
  NO_CHUNK,
  SEGMENT_MASK,
  SEGMENT_SHIFT,
} from './chunkArena.ts'

const SEGMENT_BYTES = 2 ** 18
const isFull = (error: unknown) => isVarveError(error, 'ARENA_CHUNKS_FULL')

type Owner = { readonly mark: number; readonly chunks: ChunkHandle[] }

function wordsOf(arena: ChunkArena, chunk: ChunkHandle): Uint32Array {
  const word = (chunk & SEGMENT_MASK) * 2
  return arena.segments[chunk >>> SEGMENT_SHIFT]!.subarray(word, word + CHUNK_UNITS * 2)
}

function grow(arena: ChunkArena, owner: Owner): void {
  const chunk = arena.take(owner.chunks.at(-1) ?? NO_CHUNK)
  assert.notEqual(chunk, NO_CHUNK)
  wordsOf(arena, chunk).fill(owner.mark, 2)
  owner.chunks.push(chunk)
}

function drop(arena: ChunkArena, owner: Owner): void {
  for (const chunk of owner.chunks)
    assert(
      wordsOf(arena, chunk)
        .subarray(2)
        .every((word) => word === owner.mark),
    )
  if (owner.chunks.length > 0)
    arena.release(owner.chunks.at(-1)!, owner.chunks[0]!, owner.chunks.length)
}

test('N4: random owners keep their chunks apart, and everything comes back', () => {
  const seed = 11
  const prng = new Prng(seed)
  const arena = new ChunkArena({ bytesMax: 4 * SEGMENT_BYTES })
  const owners: Owner[] = []
  let fullCount = 0
  for (let step = 0; step < 6000; step++) {
    if (owners.length === 0 || prng.oneIn(8)) owners.push({ mark: step + 1, chunks: [] })
    else if (prng.oneIn(40)) drop(arena, owners.splice(prng.below(owners.length), 1)[0]!)
    else if (prng.oneIn(300)) arena.trim()
    try {
      if (owners.length > 0) grow(arena, prng.pick(owners))
    } catch (error) {
      assert(isFull(error))
      fullCount++
      drop(arena, owners.splice(prng.below(owners.length), 1)[0]!)
    }
    const chunkCount = owners.reduce((sum, { chunks }) => sum + chunks.length, 0)
    assert.equal(arena.usedBytes, chunkCount * CHUNK_BYTES, `seed ${seed} step ${step}`)
    assert(arena.reservedBytes <= arena.bytesMax)
  }
  assert(fullCount > 0, 'the limit was met')
  for (const owner of owners) drop(arena, owner)
  assert.equal(arena.usedBytes, 0)
  const { reservedBytes } = arena
  assert.equal(arena.trim(), reservedBytes)
  assert.equal(arena.reservedBytes, 0)
  grow(arena, { mark: 1, chunks: [] })
  assert.equal(arena.reservedBytes, SEGMENT_BYTES)
})

test('a segment in use is not given back', () => {
  const arena = new ChunkArena()
  const first: Owner = { mark: 1, chunks: [] }
  const second: Owner = { mark: 2, chunks: [] }
  for (let count = 0; count < 300; count++) grow(arena, first)
  for (let count = 0; count < 300; count++) grow(arena, second)
  drop(arena, first)
  assert.equal(arena.trim(), SEGMENT_BYTES)
  drop(arena, second)
  assert.equal(arena.trim(), 2 * SEGMENT_BYTES)
})

test('N4: the limit is met before memory is taken beyond it', () => {
  const arena = new ChunkArena({ bytesMax: SEGMENT_BYTES + 5000 })
  const owner: Owner = { mark: 1, chunks: [] }
  assert.throws(() => {
    for (;;) grow(arena, owner)
  }, isFull)
  // The first chunk of all is not given out: its handle would be 0.
  assert.equal(owner.chunks.length, SEGMENT_BYTES / CHUNK_BYTES - 1)
  drop(arena, owner)
  assert.throws(() => new ChunkArena({ bytesMax: 1000 }), AssertionFault)
})

test('N3: a write into a released chunk is found', {
  skip: !VERIFY && 'VARVE_VERIFY is off',
}, () => {
  const arena = new ChunkArena()
  const owner: Owner = { mark: 1, chunks: [] }
  grow(arena, owner)
  const words = wordsOf(arena, owner.chunks[0]!)
  drop(arena, owner)
  words[5] = 1
  assert.throws(() => arena.take(NO_CHUNK), AssertionFault)
})

test('a chain of another length than its owner says is refused', {
  skip: !VERIFY && 'VARVE_VERIFY is off',
}, () => {
  const arena = new ChunkArena()
  const owner: Owner = { mark: 1, chunks: [] }
  for (let count = 0; count < 3; count++) grow(arena, owner)
  assert.throws(() => arena.release(owner.chunks[2]!, owner.chunks[0]!, 2), AssertionFault)
})
