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
 * The state before a block. Each question is asked at most once a block and key, so a host needs no cache of its own.
 * Bytes given as arguments are the host's to keep. What a method throws reaches whoever called the machine, which
 * stays usable: the message is undone.
 */
export type Host = {
  /** @param address 20 bytes */
  loadAccount(address: Uint8Array): HostAccount | undefined
  /** True where the account's storage is not empty (EIP-7610). Asked for the target of a creation only. */
  hasStorage(address: Uint8Array): boolean
  /**
   * Value of a storage slot: up to 32 big-endian bytes; `undefined` and no bytes are 0.
   * @param slot 32 bytes, not hashed
   */
  loadSlot(address: Uint8Array, slot: Uint8Array): Uint8Array | undefined
  /** The code with this hash, which some account names. */
  loadCode(codeHash: Uint8Array): Uint8Array
  /** Hash of one of the 256 blocks before the current one; 32 bytes. */
  blockHash(number: bigint): Uint8Array
}
