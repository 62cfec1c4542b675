/** The accounts that a block names before it runs: what the summary may load meanwhile. */
import { ADDRESS_BYTES } from '../../base/index.ts'
import type { Block } from '../../codec/index.ts'

/** Blocks with fewer transactions are over before a message about them has arrived. */
const TRANSACTIONS_MIN = 32

/**
 * Senders and receivers, 20 bytes each, one behind the other; nothing of a small block. Contracts may change others, and
 * those are read when their change comes.
 * @param senders where they are known already
 */
export function namedAccounts(
  { header, transactions }: Block,
  senders: readonly Uint8Array[] | undefined,
): Uint8Array | undefined {
  if (transactions.length < TRANSACTIONS_MIN) return undefined
  const addresses = new Uint8Array((2 * transactions.length + 1) * ADDRESS_BYTES)
  let end = 0
  const add = (address: Uint8Array): void => {
    addresses.set(address, end)
    end += ADDRESS_BYTES
  }
  add(header.coinbase)
  for (const { to } of transactions) if (to !== undefined) add(to)
  for (const sender of senders ?? []) add(sender)
  return addresses.subarray(0, end)
}
