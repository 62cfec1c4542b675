/** What the EVM asks of the world, declared where it is called. Synchronous: state has to be at hand. */

/** An account before the block. */
export type HostAccount = {
  /** 0 to 2^64-1. */
  readonly nonce: bigint
  /** Wei. */
  readonly balance: bigint
  /** keccak-256 of the code, 32 bytes; of nothing where there is none. */
  readonly codeHash: Uint8Array
}

/**
 * Reads the slots of one account as they were before the block: up to 32 big-endian bytes; `undefined` and no bytes
 * are 0. The machine copies what it is given.
 * @param slot 32 bytes, not hashed, lent for the call: they change after it
 */
export type StorageReader = (slot: Uint8Array) => Uint8Array | undefined

/**
 * The state before a block. Each question is asked at most once a block and key, so a host needs no cache of its own.
 * Addresses and hashes given as arguments are the host's to keep. What a method throws reaches whoever called the
 * machine, which stays usable: the message is undone, and the question may come again.
 */
export type Host = {
  /** @param address 20 bytes */
  loadAccount(address: Uint8Array): HostAccount | undefined
  /** True where the account's storage is not empty (EIP-7610). Asked for the target of a creation that existed before. */
  hasStorage(address: Uint8Array): boolean
  /**
   * The way to the slots of an account that exists, asked for at the block's first use of one. `undefined` where the
   * host can tell cheaply that there are none: no slot of it is asked for then.
   */
  openStorage(address: Uint8Array): StorageReader | undefined
  /** The code with this hash, which some account names. */
  loadCode(codeHash: Uint8Array): Uint8Array
  /** Hash of one of the 256 blocks before the current one; 32 bytes. */
  blockHash(number: bigint): Uint8Array
}
