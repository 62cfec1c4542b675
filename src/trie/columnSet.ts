/**
 * Node sets in columns: the bytes of all nodes lie in a few big arrays, and entries are views on them, made when first
 * asked for. Columns need no arena, so they outlive the nodes they were made from and may be posted between threads.
 *
 *     handles of a walk (`ChangePiece`) ── encodeChanges, on any thread ──▶ ChangeColumns ──▶ ColumnNodeSet
 *                                                                                 └── tellChanges ──▶ NodeSink
 */
import {
  BODY_WORD,
  DETAIL_WORD,
  HANDLE_WORDS,
  KEY_OFFSET,
  KIND_MASK,
  NO_NODE,
  NodeKind,
  type NodeMemory,
  REFERENCE_BYTES,
  REFERENCE_OFFSET,
  WORD_BYTES,
} from '../arena/index.ts'
import { assert, EMPTY_BYTES } from '../base/index.ts'
import type { TrieNodeKernel } from '../kernels/index.ts'
import type { ChangePiece } from './changeList.ts'
import { copyBytes } from './core.ts'
import {
  type LeafWrite,
  type NodeDeletion,
  type NodeEntry,
  NodeShape,
  type NodeSink,
  type NodeWrite,
  type WalkableNodeSet,
} from './nodeSet.ts'

// Numbers of the layout, in this file for speed.
const WORDS = 2
const DETAIL = 1
const BODY = 10
const KEY_WORD = 11
const REFERENCE = 2
const REFERENCE_WORDS = 8
assert(WORDS === HANDLE_WORDS && DETAIL === DETAIL_WORD && BODY === BODY_WORD, 'columns: layout')
assert(KEY_WORD * WORD_BYTES === KEY_OFFSET, 'columns: the key of a leaf')
assert(
  REFERENCE * WORD_BYTES === REFERENCE_OFFSET && REFERENCE_WORDS * WORD_BYTES === REFERENCE_BYTES,
  'columns: references',
)

/** In place of the index of an encoding: there is none. */
const NO_ENCODING = 0xffff_ffff

/** The changes of a piece, in its order. Entry i has a path, an encoding, and perhaps the encoding it replaces. */
export type ChangeColumns = {
  readonly paths: Uint8Array<ArrayBuffer>
  readonly pathEnds: Uint32Array<ArrayBuffer>
  /** Index of the new bytes among the encodings, or NO_ENCODING for a deletion. */
  readonly encodingIndexes: Uint32Array<ArrayBuffer>
  /** Index of the previous bytes among the encodings, or NO_ENCODING. */
  readonly previousIndexes: Uint32Array<ArrayBuffer>
  /** Shape of the new node, and that of the former one shifted left by SHAPE_SHIFT. */
  readonly shapes: Uint8Array<ArrayBuffer>
  /** Hash of encoding i at 32 x i. */
  readonly hashes: Uint8Array<ArrayBuffer>
  /** Encodings in their order, one behind the other within a chunk. */
  readonly chunks: readonly Uint8Array<ArrayBuffer>[]
  /** Chunk of encoding i, its start and end there. */
  readonly encodingChunks: Uint32Array<ArrayBuffer>
  readonly encodingStarts: Uint32Array<ArrayBuffer>
  readonly encodingEnds: Uint32Array<ArrayBuffer>
  /** Leaves told before entry i + 1. */
  readonly leafEnds: Uint32Array<ArrayBuffer>
  /** Key and value of each leaf, from a multiple of 4 on; where they begin, how long the key is, where the value ends. */
  readonly leafBytes: Uint8Array<ArrayBuffer>
  readonly leafStarts: Uint32Array<ArrayBuffer>
  readonly leafKeyBytes: Uint32Array<ArrayBuffer>
  readonly leafValueEnds: Uint32Array<ArrayBuffer>
}

const SHAPE_SHIFT = 2
const SHAPE_MASK = 3

/**
 * Encodes the nodes of a piece, hashed before, in few passes over big regions.
 * @param wantsPrevious false leaves out the bytes from before
 * @throws VarveError ARENA_FULL where a node over 256 KiB finds no room
 */
export function encodeChanges(
  memory: NodeMemory,
  kernel: TrieNodeKernel,
  piece: ChangePiece,
  wantsPrevious: boolean,
): ChangeColumns {
  const { paths, pathEnds, writes, formers, leafEnds } = piece
  const count = writes.length
  const encoded = new Uint32Array(2 * count)
  const encodingIndexes = new Uint32Array(count).fill(NO_ENCODING)
  const previousIndexes = new Uint32Array(count).fill(NO_ENCODING)
  const shapes = new Uint8Array(count)
  const { words } = memory
  let encodedCount = 0
  for (let index = 0; index < count; index++) {
    if (writes[index] !== NO_NODE) {
      encodingIndexes[index] = encodedCount
      encoded[encodedCount++] = writes[index]!
    }
    shapes[index] =
      shapeOf(words, writes[index]!) | (shapeOf(words, formers[index]!) << SHAPE_SHIFT)
    if (formers[index] === NO_NODE || !wantsPrevious) continue
    previousIndexes[index] = encodedCount
    encoded[encodedCount++] = formers[index]!
  }
  const chunks: Uint8Array<ArrayBuffer>[] = []
  const encodingChunks = new Uint32Array(encodedCount)
  const encodingStarts = new Uint32Array(encodedCount)
  const encodingEnds = new Uint32Array(encodedCount)
  let done = 0
  kernel.encodeNodes(encoded, encodedCount, (bytes, start, lengths, chunkCount) => {
    let end = 0
    for (let index = 0; index < chunkCount; index++) {
      encodingChunks[done] = chunks.length
      encodingStarts[done] = end
      end += lengths[index]!
      encodingEnds[done++] = end
    }
    chunks.push(copyBytes(bytes, start, start + end))
  })
  const encodings = { chunks, encodingChunks, encodingStarts, encodingEnds }
  const hashes = copyHashes(words, encoded, encodedCount)
  const entries = { paths, pathEnds, encodingIndexes, previousIndexes, shapes, leafEnds }
  return { ...entries, ...encodings, hashes, ...copyLeaves(words, piece.leaves) }
}

function shapeOf(words: Uint32Array, node: number): NodeShape {
  if (node === NO_NODE) return NodeShape.None
  return (words[node * WORDS]! & KIND_MASK) === NodeKind.Leaf ? NodeShape.Leaf : NodeShape.Inner
}

function copyHashes(
  words: Uint32Array,
  handles: Uint32Array,
  count: number,
): Uint8Array<ArrayBuffer> {
  const hashes = new Uint32Array(REFERENCE_WORDS * count)
  let target = 0
  for (let index = 0; index < count; index++) {
    const reference = handles[index]! * WORDS + REFERENCE
    for (let word = reference; word < reference + REFERENCE_WORDS; word++)
      hashes[target++] = words[word]!
  }
  return new Uint8Array(hashes.buffer)
}

type LeafColumns = Pick<
  ChangeColumns,
  'leafBytes' | 'leafStarts' | 'leafKeyBytes' | 'leafValueEnds'
>

/** Key and value of a leaf lie side by side; copied word by word, as both memories are aligned. */
function copyLeaves(words: Uint32Array, leaves: Uint32Array): LeafColumns {
  const { length } = leaves
  const leafStarts = new Uint32Array(length)
  const leafKeyBytes = new Uint32Array(length)
  const leafValueEnds = new Uint32Array(length)
  let wordCount = 0
  for (let index = 0; index < length; index++) {
    const word = leaves[index]! * WORDS
    const keyBytes = words[word + DETAIL]! >>> 16
    const start = wordCount * WORD_BYTES
    const end = start + keyBytes + words[word + BODY]!
    leafStarts[index] = start
    leafKeyBytes[index] = keyBytes
    leafValueEnds[index] = end
    wordCount = Math.ceil(end / WORD_BYTES)
  }
  const copy = new Uint32Array(wordCount)
  for (let index = 0; index < length; index++) {
    const target = leafStarts[index]! / WORD_BYTES
    const targetEnd = Math.ceil(leafValueEnds[index]! / WORD_BYTES)
    const shift = leaves[index]! * WORDS + KEY_WORD - target
    for (let word = target; word < targetEnd; word++) copy[word] = words[word + shift]!
  }
  return { leafBytes: new Uint8Array(copy.buffer), leafStarts, leafKeyBytes, leafValueEnds }
}

/** Tells a sink what columns hold, in their order. */
export function tellChanges(columns: ChangeColumns, sink: NodeSink): void {
  const { paths, pathEnds, encodingIndexes, previousIndexes, shapes, hashes } = columns
  const { chunks, encodingChunks, encodingStarts, encodingEnds, leafEnds } = columns
  const entry: NodeEntry = {
    paths,
    pathStart: 0,
    pathEnd: 0,
    bytes: EMPTY_BYTES,
    start: 0,
    end: 0,
    hashes,
    hashStart: 0,
    previous: undefined,
    shape: NodeShape.None,
    formerShape: NodeShape.None,
  }
  let leafIndex = 0
  for (let index = 0; index < pathEnds.length; index++) {
    entry.pathStart = entry.pathEnd
    entry.pathEnd = pathEnds[index]!
    const encoding = encodingIndexes[index]!
    if (encoding === NO_ENCODING) {
      entry.start = 0
      entry.end = 0
    } else {
      entry.bytes = chunks[encodingChunks[encoding]!]!
      entry.start = encodingStarts[encoding]!
      entry.end = encodingEnds[encoding]!
      entry.hashStart = 32 * encoding
    }
    const previous = previousIndexes[index]!
    entry.previous =
      previous === NO_ENCODING
        ? undefined
        : chunks[encodingChunks[previous]!]!.subarray(
            encodingStarts[previous]!,
            encodingEnds[previous]!,
          )
    entry.shape = (shapes[index]! & SHAPE_MASK) as NodeShape
    entry.formerShape = ((shapes[index]! >> SHAPE_SHIFT) & SHAPE_MASK) as NodeShape
    sink.node(entry)
    for (const leafEnd = leafEnds[index]!; leafIndex < leafEnd; leafIndex++)
      tellLeaf(columns, leafIndex, hashes.subarray(entry.hashStart, entry.hashStart + 32), sink)
  }
}

function tellLeaf(columns: ChangeColumns, index: number, hash: Uint8Array, sink: NodeSink): void {
  const { leafBytes, leafStarts, leafKeyBytes, leafValueEnds } = columns
  const start = leafStarts[index]!
  const valueStart = start + leafKeyBytes[index]!
  const value = leafBytes.subarray(valueStart, leafValueEnds[index]!)
  sink.leaf(value, hash, leafBytes.subarray(start, valueStart))
}

/** The buffers of columns, to be transferred with them. */
export function columnBuffers(columns: ChangeColumns): ArrayBuffer[] {
  const { chunks, ...arrays } = columns
  return [...chunks, ...Object.values(arrays)].map(({ buffer }) => buffer)
}

/** A node set over the columns of its pieces, in their order. */
export class ColumnNodeSet implements WalkableNodeSet {
  readonly root: Uint8Array
  private readonly pieces: readonly ChangeColumns[]
  private lists: { nodes: NodeWrite[]; deletions: NodeDeletion[]; leaves: LeafWrite[] } | undefined

  constructor(root: Uint8Array, pieces: readonly ChangeColumns[]) {
    this.root = root
    this.pieces = pieces
  }

  get nodes(): readonly NodeWrite[] {
    return this.materialize().nodes
  }

  get deletions(): readonly NodeDeletion[] {
    return this.materialize().deletions
  }

  get leaves(): readonly LeafWrite[] {
    return this.materialize().leaves
  }

  get byteCount(): number {
    let sum = 0
    for (const { paths, chunks } of this.pieces) {
      sum += paths.length
      for (const { length } of chunks) sum += length
    }
    return sum
  }

  walk(visit: (entry: Readonly<NodeEntry>) => void): void {
    this.tell({ node: visit, leaf: () => {} })
  }

  /** Tells a sink the changes one by one; makes no lists. */
  tell(sink: NodeSink): void {
    for (const columns of this.pieces) tellChanges(columns, sink)
  }

  private materialize(): NonNullable<ColumnNodeSet['lists']> {
    if (this.lists !== undefined) return this.lists
    const nodes: NodeWrite[] = []
    const deletions: NodeDeletion[] = []
    const leaves: LeafWrite[] = []
    this.tell({
      node: ({
        paths,
        pathStart,
        pathEnd,
        bytes,
        start,
        end,
        hashes,
        hashStart,
        previous,
        shape,
      }) => {
        const path = paths.subarray(pathStart, pathEnd)
        if (shape === NodeShape.None) deletions.push({ path, previous })
        else {
          const hash = hashes.subarray(hashStart, hashStart + 32)
          nodes.push({ path, hash, bytes: bytes.subarray(start, end), previous })
        }
      },
      leaf: (value, parentHash, key) => leaves.push({ key, value, parentHash }),
    })
    this.lists = { nodes, deletions, leaves }
    return this.lists
  }
}
