/**
 * Naive roots, for tests of genesis and bodies: the Merkle Patricia trie as the Yellow Paper's appendix D defines it,
 * by recursion over sorted keys, with nothing kept and nothing shared.
 */
import { EMPTY_TRIE_ROOT } from '../base/index.ts'
import { encodeRlp, type RlpInput } from '../codec/index.ts'
import { keccak256 } from '../kernels/index.ts'
import type { GenesisAccount } from './genesisJson.ts'

type Leaf = { readonly path: readonly number[]; readonly value: Uint8Array }

/** Root of the state that the accounts make. */
export function stateRootModel(accounts: readonly GenesisAccount[]): Uint8Array {
  return secureRoot(
    accounts.map(({ address, balance, nonce, code, storage }) => {
      const storageRoot = secureRoot(
        storage.map(({ slot, value }) => [slot, encodeRlp(trimmed(value))] as const),
      )
      return [address, encodeRlp([nonce, balance, storageRoot, keccak256(code)])] as const
    }),
  )
}

/** Root of the trie of a list: the value at each index under the RLP of the index. */
export function orderedRootModel(items: readonly Uint8Array[]): Uint8Array {
  return trieRoot(items.map((item, index) => [encodeRlp(index), item] as const))
}

function secureRoot(entries: readonly (readonly [Uint8Array, Uint8Array])[]): Uint8Array {
  return trieRoot(entries.map(([key, value]) => [keccak256(key), value] as const))
}

function trieRoot(entries: readonly (readonly [Uint8Array, Uint8Array])[]): Uint8Array {
  if (entries.length === 0) return EMPTY_TRIE_ROOT
  const leaves = entries.map(([key, value]) => ({ path: nibbles(key), value }))
  return keccak256(encodeRlp(node(leaves, 0)))
}

function node(leaves: readonly Leaf[], depth: number): RlpInput {
  const first = leaves[0]!
  if (leaves.length === 1) return [hexPrefix(first.path.slice(depth), true), first.value]
  let shared = depth
  while (leaves.every(({ path }) => path[shared] === first.path[shared])) shared++
  if (shared > depth)
    return [hexPrefix(first.path.slice(depth, shared), false), reference(leaves, shared)]
  const children: RlpInput[] = []
  for (let nibble = 0; nibble < 16; nibble++) {
    const inside = leaves.filter(({ path }) => path[depth] === nibble)
    children.push(inside.length === 0 ? new Uint8Array(0) : reference(inside, depth + 1))
  }
  return [...children, new Uint8Array(0)]
}

function reference(leaves: readonly Leaf[], depth: number): RlpInput {
  const inner = node(leaves, depth)
  const bytes = encodeRlp(inner)
  return bytes.length < 32 ? inner : keccak256(bytes)
}

function nibbles(key: Uint8Array): number[] {
  return [...key].flatMap((byte) => [byte >> 4, byte & 15])
}

function hexPrefix(path: readonly number[], isLeaf: boolean): Uint8Array {
  const flag = isLeaf ? 2 : 0
  const padded = path.length % 2 === 1 ? [flag + 1, ...path] : [flag, 0, ...path]
  return Uint8Array.from({ length: padded.length / 2 }, (_, index) => {
    return padded[index * 2]! * 16 + padded[index * 2 + 1]!
  })
}

function trimmed(word: Uint8Array): Uint8Array {
  return word.subarray(word.findIndex((byte) => byte !== 0))
}
