/**
 * The trie node kernel in plain TypeScript, on the same memory: oracle for the kernel's tests, baseline for its
 * benchmark, and what serves where WebAssembly is missing.
 * @see Yellow Paper, appendix C (hex prefix) and appendix D (node encoding)
 */
import {
  BODY_WORD,
  DETAIL_WORD,
  FLAG_DIRTY,
  HANDLE_BYTES,
  HANDLE_WORDS,
  KEY_OFFSET,
  KIND_MASK,
  NodeKind,
  type NodeMemory,
  REFERENCE_LENGTH_SHIFT,
  REFERENCE_OFFSET,
  VALUE_SLOT,
  WORD_BYTES,
} from '../../arena/index.ts'
import { keccak256ReferenceInto } from './keccak.ts'

const HASH_BYTES = 32

/** Bytes that a node's encoding needs at most, with slack; the same bound as the kernel's. */
export function encodingBytesMax(arena: NodeMemory, handle: number): number {
  const { words } = arena
  const word = handle * HANDLE_WORDS
  switch (words[word]! & KIND_MASK) {
    case NodeKind.Leaf:
      return (words[word + DETAIL_WORD]! >>> 16) + words[word + BODY_WORD]! + 64
    case NodeKind.Branch: {
      const value = words[word + BODY_WORD + VALUE_SLOT]!
      return 600 + (value === 0 ? 0 : words[value * HANDLE_WORDS + BODY_WORD]!)
    }
    default:
      return 384
  }
}

/** Same functions, arguments and results as the exports of the kernel. */
export class TrieNodeReference {
  private readonly arena: NodeMemory
  private bytes: Uint8Array
  private words: Uint32Array

  constructor(arena: NodeMemory) {
    this.arena = arena
    this.bytes = arena.bytes
    this.words = arena.words
  }

  prepare(_scratch: number): void {}

  hash(input: number, length: number, output: number, _scratch: number): void {
    const { bytes } = this.arena
    keccak256ReferenceInto(bytes.subarray(input, input + length), bytes, output)
  }

  hashNodes(
    list: number,
    count: number,
    output: number,
    outputBytes: number,
    _records: number,
    scratch: number,
    isRoot: number,
  ): number {
    this.refresh()
    const { bytes, words } = this
    for (let index = 0; index < count; index++) {
      const handle = words[list / WORD_BYTES + index]!
      if (encodingBytesMax(this.arena, handle) > outputBytes) return index
      const length = this.encode(handle, output) - output
      const reference = handle * HANDLE_BYTES + REFERENCE_OFFSET
      const isEmbedded = length < HASH_BYTES && isRoot === 0
      if (isEmbedded) bytes.copyWithin(reference, output, output + HASH_BYTES)
      else this.hash(output, length, reference, scratch)
      const word = handle * HANDLE_WORDS
      const referenceLength = isEmbedded ? length : HASH_BYTES
      const head = words[word]! & ~(FLAG_DIRTY | (0xff << REFERENCE_LENGTH_SHIFT))
      words[word] = head | (referenceLength << REFERENCE_LENGTH_SHIFT)
    }
    return count
  }

  encodeNodes(
    list: number,
    count: number,
    output: number,
    outputBytes: number,
    lengths: number,
  ): number {
    this.refresh()
    let at = output
    for (let index = 0; index < count; index++) {
      const handle = this.words[list / WORD_BYTES + index]!
      if (at + encodingBytesMax(this.arena, handle) > output + outputBytes) return index
      const end = this.encode(handle, at)
      this.words[lengths / WORD_BYTES + index] = end - at
      at = end
    }
    return count
  }

  private refresh(): void {
    this.bytes = this.arena.bytes
    this.words = this.arena.words
  }

  /** Writes a node's RLP from `out` on and returns its end. */
  private encode(handle: number, out: number): number {
    const items: number[][] = []
    const word = handle * HANDLE_WORDS
    switch (this.words[word]! & KIND_MASK) {
      case NodeKind.Leaf: {
        const keyBytes = this.words[word + DETAIL_WORD]! >>> 16
        const depth = this.words[word + DETAIL_WORD]! & 0xffff
        items.push(encodeString(this.hexPrefix(handle, depth, 2 * keyBytes, true)))
        items.push(encodeString(this.value(handle)))
        break
      }
      case NodeKind.Extension: {
        const end = this.words[word + DETAIL_WORD]! >>> 16
        const start = this.words[word + DETAIL_WORD]! & 0xffff
        items.push(encodeString(this.hexPrefix(handle, start, end, false)))
        items.push(this.reference(this.words[word + BODY_WORD]!))
        break
      }
      default:
        for (let slot = 0; slot < VALUE_SLOT; slot++)
          items.push(this.reference(this.words[word + BODY_WORD + slot]!))
        items.push(encodeString(this.value(this.words[word + BODY_WORD + VALUE_SLOT]!)))
    }
    const payload = items.flat()
    const encoding = [...header(payload.length, 0xc0), ...payload]
    this.bytes.set(encoding, out)
    return out + encoding.length
  }

  private hexPrefix(handle: number, start: number, end: number, isLeaf: boolean): number[] {
    const key = handle * HANDLE_BYTES + KEY_OFFSET
    const nibbles: number[] = []
    for (let index = start; index < end; index++) {
      const byte = this.bytes[key + (index >> 1)]!
      nibbles.push(index % 2 === 0 ? byte >> 4 : byte & 15)
    }
    const flag = (isLeaf ? 2 : 0) + (nibbles.length % 2)
    const padded = nibbles.length % 2 === 1 ? [flag, ...nibbles] : [flag, 0, ...nibbles]
    const packed: number[] = []
    for (let index = 0; index < padded.length; index += 2)
      packed.push(padded[index]! * 16 + padded[index + 1]!)
    return packed
  }

  private value(leaf: number): number[] {
    if (leaf === 0) return []
    const word = leaf * HANDLE_WORDS
    const start = leaf * HANDLE_BYTES + KEY_OFFSET + (this.words[word + DETAIL_WORD]! >>> 16)
    return Array.from(this.bytes.subarray(start, start + this.words[word + BODY_WORD]!))
  }

  private reference(child: number): number[] {
    if (child === 0) return [0x80]
    const length = (this.words[child * HANDLE_WORDS]! >>> REFERENCE_LENGTH_SHIFT) & 0xff
    const start = child * HANDLE_BYTES + REFERENCE_OFFSET
    const reference = Array.from(this.bytes.subarray(start, start + length))
    return length === HASH_BYTES ? encodeString(reference) : reference
  }
}

function encodeString(content: number[]): number[] {
  if (content.length === 1 && content[0]! < 0x80) return content
  return header(content.length, 0x80).concat(content)
}

function header(length: number, base: number): number[] {
  if (length < 56) return [base + length]
  const digits: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256)
  return [base + 55 + digits.length, ...digits]
}
