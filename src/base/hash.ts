/** Hashes that everybody names. */
import { fromBareHex } from './hex.ts'

/** Bytes of a keccak-256 hash. */
export const HASH_BYTES = 32
/** Bytes of an account's address. */
export const ADDRESS_BYTES = 20

/** keccak-256 of RLP's empty string: the root of the empty trie. Shared: never write to it. */
export const EMPTY_TRIE_ROOT = fromBareHex(
  '56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
)

/** keccak-256 of nothing: the code hash of an account without code. Shared: never write to it. */
export const EMPTY_CODE_HASH = fromBareHex(
  'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
)

/** keccak-256 of RLP's empty list: the uncle hash of a block without uncles. Shared: never write to it. */
export const EMPTY_LIST_HASH = fromBareHex(
  '1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
)

/** 32 zero bytes. Shared: never write to it. */
export const ZERO_HASH = new Uint8Array(HASH_BYTES)
