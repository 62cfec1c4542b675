/**
 * Aim: slots never overlap, memory in use is exact, and a full arena says so. Method: random allocation and freeing
 * beside a map of what each slot was filled with.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VERIFY } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { HANDLE_BYTES, NODES_OFFSET, NodeKind, SIZE_CLASS_BYTES } from './layout.ts'
import { NO_NODE, NodeArena, type NodeHandle } from './nodeArena.ts'

const HEAD_BYTES = 4

/** Marks a slot as live and fills what follows its first word. */
function fill(arena: NodeArena, handle: NodeHandle, byteCount: number, content: number): void {
  arena.words[handle * 2]! |= NodeKind.Stub
  const start = handle * HANDLE_BYTES
  arena.bytes.fill(content, start + HEAD_BYTES, start + byteCount)
}

test('handle 0 is the empty node: no slot ever has it', () => {
  const arena = new NodeArena()
  assert.equal(NO_NODE, 0)
  assert.ok(arena.allocate(0) * HANDLE_BYTES >= NODES_OFFSET)
})

test('random allocations keep their content, and used bytes are exact', () => {
  for (let seed = 1; seed <= 5; seed++) {
    const prng = new Prng(seed)
    const arena = new NodeArena({ bytesMax: 2 ** 25 })
    const live: { handle: NodeHandle; byteCount: number; content: number }[] = []
    let usedBytes = 0
    for (let step = 0; step < 4000; step++) {
      if (live.length > 0 && prng.oneIn(2)) {
        const [slot] = live.splice(prng.below(live.length), 1)
        const { handle, byteCount, content } = slot!
        const start = handle * HANDLE_BYTES
        for (let at = start + HEAD_BYTES; at < start + byteCount; at++)
          if (arena.bytes[at] !== content) assert.fail('a slot was overwritten')
        usedBytes -= arena.slotBytes(handle)
        arena.free(handle)
      } else {
        const byteCount = prng.pick([40, 41, 48, 112, 127, 128, 129, 511, 512, 513, 5000, 70_000])
        const handle = arena.allocate(byteCount)
        assert.ok(arena.slotBytes(handle) >= byteCount)
        const content = prng.below(256)
        fill(arena, handle, byteCount, content)
        usedBytes += arena.slotBytes(handle)
        live.push({ handle, byteCount, content })
      }
      assert.equal(arena.usedBytes, usedBytes)
      assert.equal(arena.usedCount, live.length)
    }
    for (const { handle } of live) arena.free(handle)
    assert.equal(arena.usedBytes, 0)
  }
})

test('N4: a full arena refuses, keeps its content, and serves again what is freed', () => {
  const arena = new NodeArena({ bytesMax: NODES_OFFSET + 65_536 })
  const handles: NodeHandle[] = []
  const full = { code: 'ARENA_FULL' }
  assert.throws(() => {
    for (;;) {
      const handle = arena.allocate(112)
      fill(arena, handle, 112, handles.length & 0xff)
      handles.push(handle)
    }
  }, full)
  assert.equal(handles.length, 585)
  const used = arena.usedBytes
  assert.throws(() => arena.allocate(1000), full)
  assert.equal(arena.usedBytes, used)
  assert.equal(arena.bytes[handles[9]! * HANDLE_BYTES + 50], 9)
  arena.free(handles.pop()!)
  const small = arena.allocate(40)
  assert.equal(arena.slotBytes(small), 112, 'a bigger free slot serves')
  assert.throws(() => arena.allocate(112), full)
})

test('memory grows in steps up to the limit, and views are replaced', () => {
  const arena = new NodeArena({ bytesMax: 2 ** 23 })
  const before = arena.bytes
  let count = 0
  try {
    for (;;) {
      arena.words[arena.allocate(65_000) * 2]! |= NodeKind.Stub
      count++
    }
  } catch {
    assert.ok(count > 100)
  }
  assert.notEqual(arena.bytes, before)
  assert.equal(arena.reservedBytes, 2 ** 23)
  assert.equal(arena.words.byteLength, arena.bytes.length)
})

test('sizes: every request gets a slot of at most a quarter more, beyond the smallest', () => {
  const arena = new NodeArena({ bytesMax: 2 ** 28 })
  for (let byteCount = 40; byteCount <= 2 ** 25; byteCount += 1 + (byteCount >> 3)) {
    const handle = arena.allocate(byteCount)
    const slot = arena.slotBytes(handle)
    assert.ok(SIZE_CLASS_BYTES.includes(slot))
    assert.ok(slot >= byteCount && slot <= Math.max(byteCount + 8, byteCount * 1.26))
    arena.words[handle * 2]! |= NodeKind.Stub
    arena.free(handle)
  }
})

test('N3: under VERIFY a slot freed twice, read after, or written after is found', {
  skip: !VERIFY,
}, () => {
  const arena = new NodeArena()
  const make = (): NodeHandle => {
    const handle = arena.allocate(64)
    fill(arena, handle, 64, 1)
    return handle
  }
  const handle = make()
  arena.free(handle)
  assert.throws(() => arena.free(handle), /freed/)
  assert.throws(() => arena.kindOf(handle), /freed/)
  arena.bytes[handle * HANDLE_BYTES + 40] = 5
  assert.throws(() => make(), /written/)
  assert.throws(() => arena.kindOf(3 as NodeHandle), /freed|outside/)
})
