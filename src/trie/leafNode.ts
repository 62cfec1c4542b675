/** Encoding single leaves, and paths as they stand in leaves and extensions. */
import {
  rlpBytesLength,
  rlpHeaderBytes,
  writeRlpBytes,
  writeRlpListHeader,
} from '../codec/index.ts'
import { nibbleAt } from './nibbles.ts'

let scratch = new Uint8Array(1024)

/** Bits of a hex prefix's first byte: a leaf's, and an odd number of nibbles (Yellow Paper, appendix C). */
export const LEAF_FLAG = 0x20
export const ODD_FLAG = 0x10

/** Encodes a leaf into the scratch, which the next leaf overwrites: every value of a list passes here once. */
export function lentLeaf(key: Uint8Array, start: number, value: Uint8Array): Uint8Array {
  const path = hexPrefix(key, start, 2 * key.length, true)
  const payloadBytes = rlpBytesLength(path) + rlpBytesLength(value)
  const length = rlpHeaderBytes(payloadBytes) + payloadBytes
  if (length > scratch.length) scratch = new Uint8Array(2 * length)
  const at = writeRlpListHeader(scratch, 0, payloadBytes)
  writeRlpBytes(scratch, writeRlpBytes(scratch, at, path), value)
  return scratch.subarray(0, length)
}

/** Yellow Paper, appendix C, of nibbles `start` to `end` of a packed key. */
export function hexPrefix(
  key: Uint8Array,
  start: number,
  end: number,
  isLeaf: boolean,
): Uint8Array {
  const count = end - start
  const packed = new Uint8Array((count >> 1) + 1)
  packed[0] = isLeaf ? LEAF_FLAG : 0
  let index = start
  if ((count & 1) === 1) packed[0]! |= ODD_FLAG | nibbleAt(key, 0, index++)
  for (let at = 1; index < end; index += 2)
    packed[at++] = (nibbleAt(key, 0, index) << 4) | nibbleAt(key, 0, index + 1)
  return packed
}

/**
 * The leaf node of a key at a depth, fresh: what a commit writes for it.
 * @param depth nibbles of the key that lead to the node
 */
export function encodeLeafNode(key: Uint8Array, depth: number, value: Uint8Array): Uint8Array {
  return lentLeaf(key, depth, value).slice()
}
