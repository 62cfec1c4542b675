/**
 * RLP of trie nodes (Yellow Paper, appendix D) out of the slots of a node arena. Every function writes forward and
 * returns the end of what it wrote. Up to 32 bytes past that end may be overwritten: short copies are done in whole
 * vectors.
 */
import {
  BODY_OFFSET,
  DETAIL_OFFSET,
  HANDLE_SHIFT,
  KEY_OFFSET,
  KIND_BRANCH,
  KIND_LEAF,
  REFERENCE_OFFSET,
  VALUE_SLOT,
} from './layout'

/** Bytes that an encoding needs at most, with the slack of the copies. */
export function encodingBytesMax(node: usize): usize {
  const kind = load<u8>(node)
  if (kind === KIND_LEAF) {
    return usize(load<u16>(node + DETAIL_OFFSET, 2)) + usize(load<u32>(node + BODY_OFFSET)) + 64
  }
  if (kind === KIND_BRANCH) {
    const value: usize = usize(load<u32>(node + BODY_OFFSET + (VALUE_SLOT << 2))) << HANDLE_SHIFT
    return 600 + (value === 0 ? 0 : usize(load<u32>(value + BODY_OFFSET)))
  }
  return 384
}

/** Writes the RLP of a leaf, extension or branch. */
export function encodeNode(node: usize, out: usize): usize {
  const kind = load<u8>(node)
  if (kind === KIND_BRANCH) return encodeBranch(node, out)
  if (kind === KIND_LEAF) return encodeLeaf(node, out)
  return encodeExtension(node, out)
}

/**
 * [hex prefix of the key from `depth` on, value]. A key is whole bytes, so what is left of it after an even depth
 * starts at a byte, and after an odd one with a half whose place is in the flag byte: nothing is ever shifted.
 */
function encodeLeaf(node: usize, out: usize): usize {
  const depth = usize(load<u16>(node + DETAIL_OFFSET))
  const keyBytes = usize(load<u16>(node + DETAIL_OFFSET, 2))
  const valueLength = usize(load<u32>(node + BODY_OFFSET))
  const key = node + KEY_OFFSET
  const value = key + keyBytes
  const skipped = (depth + 1) >> 1
  const tailBytes = keyBytes - skipped
  const flag: u32 = depth & 1 ? 0x30 | (u32(load<u8>(key + (depth >> 1))) & 15) : 0x20

  const pathItem: usize = tailBytes === 0 ? 1 : stringBytes(tailBytes + 1)
  out = listHeader(pathItem + valueBytes(value, valueLength), out)
  if (tailBytes > 0) out = stringHeader(tailBytes + 1, out)
  store<u8>(out, flag)
  memory.copy(out + 1, key + skipped, tailBytes)
  return encodeValue(value, valueLength, out + 1 + tailBytes)
}

/** [hex prefix of the path from `start` to `end`, child]. */
function encodeExtension(node: usize, out: usize): usize {
  const start = usize(load<u16>(node + DETAIL_OFFSET))
  const end = usize(load<u16>(node + DETAIL_OFFSET, 2))
  const child: usize = usize(load<u32>(node + BODY_OFFSET)) << HANDLE_SHIFT
  const path = node + KEY_OFFSET
  const nibbleCount = end - start
  const pathBytes = (nibbleCount >> 1) + 1
  const childBytes = referenceItemBytes(child)
  out = listHeader((pathBytes === 1 ? 1 : stringBytes(pathBytes)) + childBytes, out)
  if (pathBytes > 1) out = stringHeader(pathBytes, out)
  let nibble = start
  if (nibbleCount & 1) {
    store<u8>(out, 0x10 | nibbleAt(path, nibble))
    nibble++
  } else store<u8>(out, 0)
  out++
  for (; nibble < end; nibble += 2) {
    store<u8>(out, (nibbleAt(path, nibble) << 4) | nibbleAt(path, nibble + 1))
    out++
  }
  return encodeReference(child, out)
}

/** [16 children, value]. */
function encodeBranch(node: usize, out: usize): usize {
  const slots = node + BODY_OFFSET
  let payload: usize = 0
  for (let slot: usize = 0; slot < VALUE_SLOT << 2; slot += 4) {
    const child: usize = usize(load<u32>(slots + slot)) << HANDLE_SHIFT
    payload += child === 0 ? 1 : referenceItemBytes(child)
  }
  const leaf: usize = usize(load<u32>(slots + (VALUE_SLOT << 2))) << HANDLE_SHIFT
  let value: usize = 0
  let valueLength: usize = 0
  if (leaf !== 0) {
    value = leaf + KEY_OFFSET + usize(load<u16>(leaf + DETAIL_OFFSET, 2))
    valueLength = usize(load<u32>(leaf + BODY_OFFSET))
    payload += valueBytes(value, valueLength)
  } else payload++

  out = listHeader(payload, out)
  for (let slot: usize = 0; slot < VALUE_SLOT << 2; slot += 4) {
    const child: usize = usize(load<u32>(slots + slot)) << HANDLE_SHIFT
    if (child === 0) {
      store<u8>(out, 0x80)
      out++
    } else out = encodeReference(child, out)
  }
  if (leaf !== 0) return encodeValue(value, valueLength, out)
  store<u8>(out, 0x80)
  return out + 1
}

/** Bytes that a child takes in its parent: a hash as a string, shorter nodes as they are. */
function referenceItemBytes(child: usize): usize {
  const length = usize(load<u8>(child, 2))
  return length === 32 ? 33 : length
}

function encodeReference(child: usize, out: usize): usize {
  const length = usize(load<u8>(child, 2))
  const reference = child + REFERENCE_OFFSET
  if (length === 32) {
    store<u8>(out, 0xa0)
    out++
  }
  v128.store(out, v128.load(reference))
  v128.store(out, v128.load(reference, 16), 16)
  return out + length
}

/** Bytes of a value's RLP: values are never empty. */
function valueBytes(value: usize, length: usize): usize {
  return length === 1 && load<u8>(value) < 0x80 ? 1 : stringBytes(length)
}

function encodeValue(value: usize, length: usize, out: usize): usize {
  if (length !== 1 || load<u8>(value) >= 0x80) out = stringHeader(length, out)
  memory.copy(out, value, length)
  return out + length
}

function nibbleAt(path: usize, index: usize): u32 {
  const byte = u32(load<u8>(path + (index >> 1)))
  return index & 1 ? byte & 15 : byte >> 4
}

function stringBytes(length: usize): usize {
  return length + (length < 56 ? 1 : length < 0x100 ? 2 : length < 0x10000 ? 3 : length < 0x1000000 ? 4 : 5)
}

function stringHeader(length: usize, out: usize): usize {
  return header(length, 0x80, out)
}

function listHeader(length: usize, out: usize): usize {
  return header(length, 0xc0, out)
}

function header(length: usize, base: u32, out: usize): usize {
  if (length < 56) {
    store<u8>(out, base + u32(length))
    return out + 1
  }
  if (length < 0x100) {
    store<u8>(out, base + 56)
    store<u8>(out, length, 1)
    return out + 2
  }
  if (length < 0x10000) {
    store<u8>(out, base + 57)
    store<u8>(out, length >> 8, 1)
    store<u8>(out, length, 2)
    return out + 3
  }
  if (length < 0x1000000) {
    store<u8>(out, base + 58)
    store<u8>(out, length >> 16, 1)
    store<u8>(out, length >> 8, 2)
    store<u8>(out, length, 3)
    return out + 4
  }
  store<u8>(out, base + 59)
  store<u8>(out, length >> 24, 1)
  store<u8>(out, length >> 16, 2)
  store<u8>(out, length >> 8, 3)
  store<u8>(out, length, 4)
  return out + 5
}
