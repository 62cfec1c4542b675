/**
 * Keys of accounts and slots: keccak-256 of the address or slot, as in the trie, so that a sorted diff is in trie
 * order. In maps a hash is a string with one character a byte (Latin-1): no attacker can choose it without paying
 * for keccak, and it compares in byte order.
 */
import { keccak256 } from '../kernels/index.ts'

/** A 32-byte hash as a string of 32 characters 0 to 255. */
export type HashKey = string & { readonly [brand]: 'HashKey' }
declare const brand: unique symbol

/** Turns a hash into a map key. */
export function hashKey(hash: Uint8Array): HashKey {
  return String.fromCharCode.apply(null, hash as unknown as number[]) as HashKey
}

/** The bytes of a map key, fresh. */
export function hashOfKey(key: HashKey): Uint8Array {
  const hash = new Uint8Array(key.length)
  for (let index = 0; index < hash.length; index++) hash[index] = key.charCodeAt(index)
  return hash
}

/** The account's key in trie and store: keccak-256 of its address. Cost: one hash, about 0.4 us. */
export function addressHashOf(address: Uint8Array): Uint8Array {
  return keccak256(address)
}

/** The slot's key in trie and store: keccak-256 of its 32 bytes. */
export function slotHashOf(slot: Uint8Array): Uint8Array {
  return keccak256(slot)
}
