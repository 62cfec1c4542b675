/**
 * One step down in an encoded node, towards a key. For whoever holds rows of nodes and goes along a path without a trie;
 * the rows are the trie's own.
 */
import { LEAF_FLAG, ODD_FLAG } from './leafNode.ts'
import { nibbleAt } from './nibbles.ts'
import { contentStart, itemEnd } from './nodeLeaves.ts'

/** Where a step leads to. The same object may be used for each. */
export type NodeStep = {
  /** Nibbles of the child's path. */
  depth: number
  /** Offset of the child's hash, -1 where no hashed child is on the way to the key. */
  hashStart: number
}

/** RLP of a string of 32 bytes begins with this. */
const STRING_OF_32 = 0xa0

/**
 * Finds the child on the way to `key` in the branch or extension at `start` to `end`.
 * @param key packed
 * @param step holds the depth of the node, and then the child's
 */
export function stepDown(
  bytes: Uint8Array,
  start: number,
  end: number,
  key: Uint8Array,
  step: NodeStep,
): void {
  step.hashStart = -1
  const first = contentStart(bytes, start)
  let at = itemEnd(bytes, first)
  if (itemEnd(bytes, at) === end) {
    if (!followExtension(bytes, contentStart(bytes, first), at, key, step)) return
  } else {
    at = first
    for (let slot = nibbleAt(key, 0, step.depth++); slot > 0; slot--) at = itemEnd(bytes, at)
  }
  if (bytes[at] === STRING_OF_32) step.hashStart = at + 1
}

/** Adds an extension's path to the depth; false where it is not the key's, or a leaf's. */
function followExtension(
  bytes: Uint8Array,
  start: number,
  end: number,
  key: Uint8Array,
  step: NodeStep,
): boolean {
  const flags = bytes[start]!
  if ((flags & LEAF_FLAG) !== 0) return false
  if ((flags & ODD_FLAG) !== 0 && nibbleAt(key, 0, step.depth++) !== (flags & 15)) return false
  for (let at = start + 1; at < end; at++, step.depth += 2)
    if (((nibbleAt(key, 0, step.depth) << 4) | nibbleAt(key, 0, step.depth + 1)) !== bytes[at])
      return false
  return true
}
