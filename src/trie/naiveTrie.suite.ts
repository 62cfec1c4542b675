/**
 * The model that tests compare the trie with: the recursion of the Yellow Paper, appendix D, over a sorted list of
 * pairs, rebuilt from nothing each time. Slow, and short enough to be checked by reading.
 */
import { bytesConcat, toBareHex } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'

export type NaiveTree = {
  readonly root: Uint8Array
  /** Stored nodes by path, a hex digit a nibble. */
  readonly nodes: Map<string, Uint8Array>
}

/** A pair with its key as text, a hex digit a nibble. */
type Pair = readonly [path: string, value: Uint8Array]

/** Builds the tree of `values` by key in hex. */
export function naiveTree(values: ReadonlyMap<string, Uint8Array>): NaiveTree {
  const nodes = new Map<string, Uint8Array>()
  const pairs: Pair[] = [...values].filter(([, value]) => value.length > 0)
  if (pairs.length === 0) return { root: keccak256(string(new Uint8Array(0))), nodes }
  const encoding = composition(pairs, '', nodes)
  nodes.set('', encoding)
  return { root: keccak256(encoding), nodes }
}

/** c(J, i) of the Yellow Paper: the RLP of the node at `path`; stores what is below. */
function composition(
  pairs: readonly Pair[],
  path: string,
  nodes: Map<string, Uint8Array>,
): Uint8Array {
  const depth = path.length
  const [first] = pairs
  if (pairs.length === 1)
    return list([string(hexPrefix(first![0].slice(depth), true)), string(first![1])])
  let shared = depth
  while (pairs.every(([key]) => key.length > shared && key[shared] === first![0][shared])) shared++
  if (shared > depth) {
    const child = first![0].slice(0, shared)
    const prefix = string(hexPrefix(child.slice(depth), false))
    return list([prefix, reference(pairs, child, nodes)])
  }
  const items: Uint8Array[] = []
  for (let nibble = 0; nibble < 16; nibble++) {
    const child = path + nibble.toString(16)
    const below = pairs.filter(([key]) => key.startsWith(child))
    items.push(below.length === 0 ? string(new Uint8Array(0)) : reference(below, child, nodes))
  }
  const own = pairs.find(([key]) => key.length === depth)
  return list([...items, string(own?.[1] ?? new Uint8Array(0))])
}

/** n(J, i): a node shorter than 32 bytes stands in its parent, any other by its hash. */
function reference(
  pairs: readonly Pair[],
  path: string,
  nodes: Map<string, Uint8Array>,
): Uint8Array {
  const encoding = composition(pairs, path, nodes)
  if (encoding.length < 32) return encoding
  nodes.set(path, encoding)
  return string(keccak256(encoding))
}

/** HP of the Yellow Paper, appendix C. */
function hexPrefix(nibbles: string, isLeaf: boolean): Uint8Array {
  const flag = (isLeaf ? 2 : 0) + (nibbles.length % 2)
  const digits = nibbles.length % 2 === 1 ? `${flag}${nibbles}` : `${flag}0${nibbles}`
  return Uint8Array.from(digits.match(/../g)!, (pair) => Number.parseInt(pair, 16))
}

function string(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 1 && bytes[0]! < 0x80) return bytes
  return bytesConcat(header(bytes.length, 0x80), bytes)
}

function list(items: readonly Uint8Array[]): Uint8Array {
  const payload = bytesConcat(...items)
  return bytesConcat(header(payload.length, 0xc0), payload)
}

function header(length: number, base: number): Uint8Array {
  if (length < 56) return Uint8Array.of(base + length)
  const digits = length
    .toString(16)
    .padStart(length.toString(16).length + (length.toString(16).length % 2), '0')
  const bytes = digits.match(/../g)!.map((pair) => Number.parseInt(pair, 16))
  return Uint8Array.of(base + 55 + bytes.length, ...bytes)
}

/** A map's key for a trie's key. */
export function modelKey(key: Uint8Array): string {
  return toBareHex(key)
}
