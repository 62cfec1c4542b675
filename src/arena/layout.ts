/**
 * Byte layout of a node arena's memory. Written here once; hot files keep their own copies of single numbers (an
 * imported number in hot arithmetic took 1.9 times as long) and assert that they agree.
 *
 *     0        nothing: handle 0 is the empty node
 *     64       scratch of the keccak kernel                    KECCAK_SCRATCH_BYTES
 *     2048     list: handles for a kernel call                 LIST_CAPACITY x 4
 *     18432    records: (input, length, output) of hashes      LIST_CAPACITY x 12
 *     67584    lengths of encodings, or spare hash             LIST_CAPACITY x 4
 *     131072   encodings                                       ENCODING_BYTES
 *     393216   nodes
 *
 * A node is a slot of one of the size classes, at a multiple of 8; its handle is its byte offset / 8. The first 40
 * bytes are alike in every kind, little-endian words:
 *
 *     word 0   kind (8 bits) | flags (8) | reference length (8) | size class (8)
 *     word 1   leaf       depth (16) | key bytes (16)
 *              extension  start (16) | end (16), in nibbles from the root
 *              branch     one bit for each used slot, 0 to 16
 *              stub       0
 *              link       handle of the loaded node
 *     2..9     reference: what the parent holds in this node's place. 32 bytes of hash, or the node's whole RLP where
 *              that is shorter than 32 bytes. Void while the flag `dirty` is set.
 *
 *     leaf       40  value length          44  key, packed, whole      44 + key bytes  value
 *     extension  40  child                 44  path from the root to `end`, packed, ceil(end / 2) bytes
 *     branch     40  17 children; slot 16 is a leaf whose key ends here
 *     stub       -   a stored node known by its hash only
 *     link       -   a former stub of which an older version of the tree still holds the handle
 *
 * A leaf keeps its whole key and an extension its whole path from the root, so pushing a node down, splitting and
 * joining change two numbers and never shift nibbles.
 */
import { assert, TRIE_KEY_BYTES_MAX } from '../base/index.ts'

/** Bytes of a handle's unit. */
export const HANDLE_BYTES = 8
export const WORD_BYTES = 4
/** 32-bit words of a handle's unit. */
export const HANDLE_WORDS = HANDLE_BYTES / WORD_BYTES

export const KECCAK_SCRATCH_OFFSET = 64
/** Handles in one kernel call. */
export const LIST_CAPACITY = 4096
export const LIST_OFFSET = 2048
export const RECORD_BYTES = 12
export const RECORD_OFFSET = 18_432
export const LENGTH_OFFSET = 67_584
export const ENCODING_OFFSET = 131_072
export const ENCODING_BYTES = 262_144
/** Where nodes begin. */
export const NODES_OFFSET = 393_216

/** What a slot holds. */
export const NodeKind = { Free: 0, Leaf: 1, Extension: 2, Branch: 3, Stub: 4, Link: 5 } as const
export type NodeKind = (typeof NodeKind)[keyof typeof NodeKind]

/** Bits of word 0. */
export const KIND_MASK = 0xff
/** The reference is not computed. */
export const FLAG_DIRTY = 0x100
/** The node belongs to the state of the last commit and is never written again, but for loading a child. */
export const FLAG_COMMITTED = 0x200
/** An iteration loaded the node; whichever iteration leaves it lets it go. */
export const FLAG_TRANSIENT = 0x400
export const REFERENCE_LENGTH_SHIFT = 16
export const SIZE_CLASS_SHIFT = 24

/** Word of the two numbers of a leaf or extension, the mask of a branch, the target of a link. */
export const DETAIL_WORD = 1
export const REFERENCE_WORD = 2
export const REFERENCE_OFFSET = REFERENCE_WORD * WORD_BYTES
export const REFERENCE_BYTES = 32

/** Value length of a leaf, child of an extension, first child of a branch. */
export const BODY_WORD = 10
/** Key of a leaf, path of an extension. */
export const KEY_OFFSET = 44
export const STUB_BYTES = 40
export const BRANCH_SLOT_COUNT = 17
/** Slot of the value of a branch. */
export const VALUE_SLOT = 16
export const BRANCH_BYTES = (BODY_WORD + BRANCH_SLOT_COUNT) * WORD_BYTES

/** Byte that fills freed slots under `VERIFY`. */
export const POISON_BYTE = 0xdb

/**
 * Sizes of slots in bytes, ascending: steps of 8 to 128, of 16 to 256, of 32 to 512, then four to a doubling up to
 * 32 MiB, so that at most a fifth of a slot is idle.
 */
export const SIZE_CLASS_BYTES: readonly number[] = sizeClasses()

function sizeClasses(): number[] {
  const sizes: number[] = []
  for (let bytes = 40; bytes < 128; bytes += 8) sizes.push(bytes)
  for (let bytes = 128; bytes < 256; bytes += 16) sizes.push(bytes)
  for (let bytes = 256; bytes < 512; bytes += 32) sizes.push(bytes)
  for (let base = 512; base < 2 ** 25; base *= 2)
    for (let quarter = 4; quarter < 8; quarter++) sizes.push((base * quarter) / 4)
  sizes.push(2 ** 25)
  return sizes
}

assert(KECCAK_SCRATCH_OFFSET % 16 === 0, 'arena layout: the keccak scratch is aligned')
assert(KECCAK_SCRATCH_OFFSET + 1280 <= LIST_OFFSET, 'arena layout: scratch and list')
assert(LIST_OFFSET + LIST_CAPACITY * WORD_BYTES <= RECORD_OFFSET, 'arena layout: list and records')
assert(
  RECORD_OFFSET + LIST_CAPACITY * RECORD_BYTES <= LENGTH_OFFSET,
  'arena layout: records and lengths',
)
assert(
  LENGTH_OFFSET + LIST_CAPACITY * WORD_BYTES <= ENCODING_OFFSET,
  'arena layout: lengths and encodings',
)
assert(ENCODING_OFFSET + ENCODING_BYTES <= NODES_OFFSET, 'arena layout: encodings and nodes')
assert(NODES_OFFSET % HANDLE_BYTES === 0, 'arena layout: nodes are aligned')
assert(
  REFERENCE_OFFSET + REFERENCE_BYTES === BODY_WORD * WORD_BYTES,
  'arena layout: reference and body',
)
assert(BODY_WORD * WORD_BYTES === STUB_BYTES, 'arena layout: a stub ends with its reference')
assert(
  KEY_OFFSET === (BODY_WORD + 1) * WORD_BYTES,
  'arena layout: the key follows the first body word',
)
assert(SIZE_CLASS_BYTES.length <= 256, 'arena layout: the size class fits a byte')
assert(
  SIZE_CLASS_BYTES.every((bytes) => bytes % HANDLE_BYTES === 0),
  'arena layout: slots are whole units',
)
assert(TRIE_KEY_BYTES_MAX * 2 < 2 ** 16, 'arena layout: a depth fits 16 bits')
