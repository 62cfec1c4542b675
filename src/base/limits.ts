/** Every limit that is not a rule of one fork, in one place. Each names what it bounds and why that number. */

/** Deepest nesting of RLP lists that a decoder follows; blocks need 6 (block, body, transaction, access list, entry, keys). */
export const RLP_DEPTH_MAX = 32

/** Bytes of one RLP item a reader accepts from a file: 16 MiB, above the 10 MiB block cap of EIP-7934. */
export const RLP_ITEM_BYTES_MAX = 16 * 1024 * 1024

/** Bytes of one uncompressed snappy stream in an era1 entry: receipts of a full block stay far below 64 MiB. */
export const SNAPPY_BYTES_MAX = 64 * 1024 * 1024

/** Longest key of a trie in bytes. Ethereum's are 32; transaction tries use 1 to 9; fixtures go to about 60. */
export const TRIE_KEY_BYTES_MAX = 255

/** Longest value in a trie: 16 MiB, since a receipt or a transaction may be large. */
export const TRIE_VALUE_BYTES_MAX = 16 * 1024 * 1024

/** Nodes in one proof for one key: a path has at most two nodes a nibble, and a root. */
export const PROOF_NODE_COUNT_MAX = 2 * 2 * TRIE_KEY_BYTES_MAX + 1

/** Keys asked in one proof, as geth's eth_getProof (1024). */
export const PROOF_KEY_COUNT_MAX = 1024

/** Ancestors whose hashes a block may ask for (Yellow Paper, BLOCKHASH; EIP-210's window was never taken in). */
export const BLOCK_HASH_WINDOW = 256

/** Items in one list of a witness: a block of 500 Mgas touches 250,000 accounts of at most 16 nodes (EIP-7928). */
export const WITNESS_ITEM_COUNT_MAX = 2 ** 22

/** Bytes of one witness read from JSON: EIP-8025 reckons with 300 MiB at most. */
export const WITNESS_BYTES_MAX = 512 * 1024 * 1024
