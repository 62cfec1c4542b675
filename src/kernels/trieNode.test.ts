/**
 * Aim: the kernel and its twin encode and hash every kind of node alike. Method: the same random nodes are laid out
 * in two arenas, one served by each, and all references and encodings compared; the layout that the kernel was
 * compiled with is read from its source. The published roots of the trie's tests back both.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import {
  BODY_WORD,
  BRANCH_BYTES,
  DETAIL_WORD,
  FLAG_DIRTY,
  HANDLE_BYTES,
  KEY_OFFSET,
  NodeArena,
  type NodeHandle,
  NodeKind,
  REFERENCE_LENGTH_SHIFT,
  REFERENCE_OFFSET,
  VALUE_SLOT,
  WORD_BYTES,
} from '../arena/index.ts'
import { toBareHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { keccak256 } from './keccak.ts'
import { type TrieNodeImplementation, TrieNodeKernel } from './trieNode.ts'

/** An arena with random nodes, alike for equal seeds; lists of dirty nodes by level. */
class NodeGarden {
  readonly arena = new NodeArena({ bytesMax: 2 ** 25 })
  readonly kernel: TrieNodeKernel
  private readonly prng: Prng

  constructor(seed: number, implementation: TrieNodeImplementation) {
    this.prng = new Prng(seed)
    this.kernel = new TrieNodeKernel(this.arena, implementation)
  }

  leaf(
    valueLength: number,
    keyBytes = this.prng.pick([1, 2, 31, 32, 33, 55, 56, 57, 255]),
  ): NodeHandle {
    const handle = this.start(NodeKind.Leaf, KEY_OFFSET + keyBytes + valueLength)
    const depth = this.prng.between(0, 2 * keyBytes)
    this.arena.words[handle * 2 + DETAIL_WORD] = depth | (keyBytes << 16)
    this.arena.words[handle * 2 + BODY_WORD] = valueLength
    this.arena.bytes.set(
      this.prng.bytes(keyBytes + valueLength),
      handle * HANDLE_BYTES + KEY_OFFSET,
    )
    return handle
  }

  extension(child: NodeHandle): NodeHandle {
    const end = this.prng.between(1, 510)
    const start = this.prng.between(Math.max(0, end - this.prng.pick([1, 2, 3, 510])), end - 1)
    const handle = this.start(NodeKind.Extension, KEY_OFFSET + ((end + 1) >> 1))
    this.arena.words[handle * 2 + DETAIL_WORD] = start | (end << 16)
    this.arena.words[handle * 2 + BODY_WORD] = child
    this.arena.bytes.set(this.prng.bytes((end + 1) >> 1), handle * HANDLE_BYTES + KEY_OFFSET)
    return handle
  }

  branch(children: readonly NodeHandle[], value: NodeHandle | undefined): NodeHandle {
    const handle = this.start(NodeKind.Branch, BRANCH_BYTES)
    const base = handle * 2 + BODY_WORD
    for (let slot = 0; slot <= VALUE_SLOT; slot++) this.arena.words[base + slot] = 0
    for (const child of children) this.arena.words[base + this.prng.below(16)] = child
    if (value !== undefined) this.arena.words[base + VALUE_SLOT] = value
    return handle
  }

  valueLength(): number {
    if (this.prng.oneIn(60)) return this.prng.pick([65_535, 65_536])
    return this.prng.pick([1, 1, 2, 20, 28, 29, 30, 54, 55, 56, 100, 101, 135, 136, 137, 255, 256])
  }

  pick<Item>(items: readonly Item[]): Item {
    return this.prng.pick(items)
  }

  hash(handles: readonly NodeHandle[], isRoot = false): string[] {
    this.kernel.hashNodes(Uint32Array.from(handles), 0, handles.length, isRoot)
    return handles.map((handle) => {
      const head = this.arena.words[handle * 2]!
      assert.equal(head & FLAG_DIRTY, 0)
      const length = (head >>> REFERENCE_LENGTH_SHIFT) & 0xff
      const start = handle * HANDLE_BYTES + REFERENCE_OFFSET
      return toBareHex(this.arena.bytes.subarray(start, start + length))
    })
  }

  encode(handles: readonly NodeHandle[]): Uint8Array[] {
    const encodings: Uint8Array[] = []
    this.kernel.encodeNodes(
      Uint32Array.from(handles),
      handles.length,
      (bytes, start, lengths, count) => {
        for (let index = 0, at = start; index < count; index++) {
          encodings.push(Uint8Array.from(bytes.subarray(at, at + lengths[index]!)))
          at += lengths[index]!
        }
      },
    )
    return encodings
  }

  private start(kind: NodeKind, byteCount: number): NodeHandle {
    const handle = this.arena.allocate(byteCount)
    this.arena.words[handle * 2]! |= kind | FLAG_DIRTY
    return handle
  }
}

function grow(garden: NodeGarden, count: number): { results: string[]; handles: NodeHandle[] } {
  const results: string[] = []
  const leaves = Array.from({ length: count }, () => garden.leaf(garden.valueLength()))
  results.push(...garden.hash(leaves))
  const branches = Array.from({ length: count }, (_, index) =>
    garden.branch(
      Array.from({ length: garden.pick([1, 2, 5, 40]) }, () => garden.pick(leaves)),
      index % 3 === 0 ? garden.pick(leaves) : undefined,
    ),
  )
  results.push(...garden.hash(branches))
  const extensions = branches.map((branch) => garden.extension(branch))
  results.push(...garden.hash(extensions))
  results.push(...garden.hash(extensions.slice(0, 1), true))
  return { results, handles: [...leaves, ...branches, ...extensions] }
}

test('kernel and twin give equal references and encodings, and a reference is that of its encoding', () => {
  for (let seed = 1; seed <= 12; seed++) {
    const count = [1, 2, 3, 7, 50, 200][seed % 6]!
    const [wasm, twin] = [new NodeGarden(seed, 'kernel'), new NodeGarden(seed, 'reference')]
    const [ours, theirs] = [grow(wasm, count), grow(twin, count)]
    assert.deepEqual(ours.results, theirs.results, `seed ${seed}`)
    const encodings = wasm.encode(ours.handles)
    assert.deepEqual(encodings, twin.encode(theirs.handles), `seed ${seed}`)
    assert.equal(encodings.length, ours.handles.length)
    encodings.forEach((encoding, index) => {
      // The first extension was hashed as a root.
      if (index === 2 * count) return
      const reference = encoding.length < 32 ? encoding : keccak256(encoding)
      assert.equal(ours.results[index], toBareHex(reference))
    })
  }
})

test('nodes bigger than the region get room of their own, which is given back', () => {
  for (const implementation of ['kernel', 'reference'] as const) {
    const garden = new NodeGarden(3, implementation)
    const lengths = [10, 262_000, 262_144, 300_000, 20, 262_200, 30]
    const leaves = lengths.map((length) => garden.leaf(length, 32))
    const used = garden.arena.usedBytes
    const references = garden.hash(leaves)
    const encodings = garden.encode(leaves)
    assert.equal(garden.arena.usedBytes, used)
    encodings.forEach((encoding, index) => {
      const isShort = encoding.length < 32
      assert.equal(references[index], toBareHex(isShort ? encoding : keccak256(encoding)))
    })
  }
})

test('more nodes than a kernel call takes', () => {
  const garden = new NodeGarden(5, 'kernel')
  const leaves = Array.from({ length: 10_000 }, () => garden.leaf(60, 32))
  const references = garden.hash(leaves)
  garden.encode(leaves).forEach((encoding, index) => {
    assert.equal(references[index], toBareHex(keccak256(encoding)))
  })
})

test('a hash is compared with bytes of any length', () => {
  const { kernel, arena } = new NodeGarden(1, 'kernel')
  for (const length of [0, 1, 135, 136, 262_144, 262_145, 500_000]) {
    const bytes = new Prng(length).bytes(length)
    const hash = keccak256(bytes)
    assert.equal(kernel.isHashOf(bytes, hash), true)
    hash[31]! ^= 1
    assert.equal(kernel.isHashOf(bytes, hash), false)
  }
  assert.equal(arena.usedBytes, 0)
})

const layoutSource = resolve(import.meta.dirname, '../../assembly/trie-node/layout.ts')
test('the kernel was compiled with the layout of the arena', {
  skip: !existsSync(layoutSource),
}, () => {
  const source = readFileSync(layoutSource, 'utf8')
  const numbers = new Map(
    [...source.matchAll(/export const (\w+): \w+ = (\w+)/g)].map(([, name, value]) => [
      name,
      Number(value),
    ]),
  )
  assert.deepEqual(Object.fromEntries(numbers), {
    HANDLE_SHIFT: Math.log2(HANDLE_BYTES),
    KIND_LEAF: NodeKind.Leaf,
    KIND_EXTENSION: NodeKind.Extension,
    KIND_BRANCH: NodeKind.Branch,
    FLAG_DIRTY,
    REFERENCE_OFFSET,
    DETAIL_OFFSET: DETAIL_WORD * WORD_BYTES,
    BODY_OFFSET: BODY_WORD * WORD_BYTES,
    KEY_OFFSET,
    VALUE_SLOT,
  })
})
