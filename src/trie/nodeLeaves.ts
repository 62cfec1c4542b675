/**
 * The leaves in an encoded node: the node itself, or short ones that it embeds. For whoever holds rows of nodes and asks
 * what they say of single keys, without a trie. The rows are the trie's own; what is no node has no leaves.
 *
 *     leaf       [ hex prefix, value ]
 *     extension  [ hex prefix, child ]      branch  [ 16 children, value ]      a child of 32 bytes is a hash
 *
 * Not here: strict decoding (`decode.ts`), reading by key (`proof.ts`).
 */

import { LEAF_FLAG, ODD_FLAG } from './leafNode.ts'

/** RLP: first byte of a string, and of a list, that follows; of one whose length has bytes of its own. */
const STRING = 0x80
const LONG_STRING = 0xb8
const LIST = 0xc0
const LONG_LIST = 0xf8

/** Told of a leaf, whose key is in `key`; its value lies at `start` to `end` of the node's bytes. */
export type LeafVisitor = (start: number, end: number) => void

export class NodeLeaves {
  /** Key of the leaf at hand, packed. The bytes before the path are the caller's. */
  readonly key: Uint8Array
  private readonly keyOffset: number
  private readonly visitor: LeafVisitor
  private bytes: Uint8Array = new Uint8Array(0)

  /**
   * @param keyBytes of the trie's keys
   * @param keyOffset bytes in `key` before the trie's own key
   */
  constructor(keyBytes: number, keyOffset: number, visitor: LeafVisitor) {
    this.key = new Uint8Array(keyOffset + keyBytes)
    this.keyOffset = keyOffset
    this.visitor = visitor
  }

  /**
   * Visits the leaves of the node at `start` to `end`. Cost: the items that it has to pass, nothing on the heap.
   * @param depth nibbles of the node's path, which `key` holds already
   */
  visit(bytes: Uint8Array, start: number, end: number, depth: number): void {
    this.bytes = bytes
    this.node(start, end, depth)
  }

  private node(start: number, end: number, depth: number): void {
    const first = contentStart(this.bytes, start)
    const second = itemEnd(this.bytes, first)
    if (itemEnd(this.bytes, second) === end) this.pair(first, second, end, depth)
    else this.branch(first, depth)
  }

  private pair(start: number, valueStart: number, end: number, depth: number): void {
    const { bytes } = this
    const prefix = contentStart(bytes, start)
    const flag = bytes[prefix]!
    let nibble = depth
    if ((flag & ODD_FLAG) !== 0) this.setNibble(nibble++, flag & 15)
    for (let at = prefix + 1; at < valueStart; at++) {
      this.setNibble(nibble++, bytes[at]! >> 4)
      this.setNibble(nibble++, bytes[at]! & 15)
    }
    if ((flag & LEAF_FLAG) !== 0) this.visitor(contentStart(bytes, valueStart), end)
    else if (bytes[valueStart]! >= LIST) this.node(valueStart, end, nibble)
  }

  private branch(start: number, depth: number): void {
    const { bytes } = this
    let at = start
    for (let slot = 0; slot < 16; slot++) {
      const end = itemEnd(bytes, at)
      if (bytes[at]! >= LIST) {
        this.setNibble(depth, slot)
        this.node(at, end, depth + 1)
      }
      at = end
    }
  }

  private setNibble(index: number, value: number): void {
    const at = this.keyOffset + (index >> 1)
    const byte = this.key[at]!
    this.key[at] = (index & 1) === 0 ? (value << 4) | (byte & 15) : (byte & 0xf0) | value
  }
}

/** Where the content of the RLP item at `at` starts. */
export function contentStart(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!
  if (first < STRING) return at
  if (first < LONG_STRING) return at + 1
  if (first < LIST) return at + 2 + first - LONG_STRING
  return first < LONG_LIST ? at + 1 : at + 2 + first - LONG_LIST
}

/** Where the RLP item after the one at `at` starts. */
export function itemEnd(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!
  if (first < STRING) return at + 1
  if (first < LONG_STRING) return at + 1 + first - STRING
  if (first >= LIST && first < LONG_LIST) return at + 1 + first - LIST
  const start = contentStart(bytes, at)
  let length = 0
  for (let index = at + 1; index < start; index++) length = length * 256 + bytes[index]!
  return start + length
}
