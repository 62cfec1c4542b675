/**
 * Ether created by a block under proof of work. Yellow Paper section 11.3; 5 ether at first, 3 from Byzantium
 * (EIP-649), 2 from Constantinople (EIP-1234), none from Paris (EIP-3675).
 * Not here: fees and withdrawals, which are moved by execution.
 */
import { assert, Fork } from '../base/index.ts'

const ETHER = 10n ** 18n

/** Wei to add to an account. An address may occur more than once in a list. */
export type Reward = { readonly address: Uint8Array; readonly amount: bigint }

/** Wei of a block's own reward, 0 from Paris on. */
export function blockReward(fork: Fork): bigint {
  if (fork >= Fork.Paris) return 0n
  if (fork >= Fork.Constantinople) return 2n * ETHER
  return fork >= Fork.Byzantium ? 3n * ETHER : 5n * ETHER
}

/**
 * All rewards of a block, its own miner first, then its uncles' in their order; empty from Paris on.
 * A miner gets 1/32 of the block reward more for each uncle; an uncle's miner (8 - depth)/8 of it.
 * The addresses are those of the headers given, not copies.
 */
export function blockRewards(
  fork: Fork,
  block: { readonly number: number; readonly coinbase: Uint8Array },
  uncles: readonly { readonly number: number; readonly coinbase: Uint8Array }[],
): Reward[] {
  const base = blockReward(fork)
  if (base === 0n) return []
  const rewards: Reward[] = [
    { address: block.coinbase, amount: base + (base / 32n) * BigInt(uncles.length) },
  ]
  for (const uncle of uncles) {
    const depth = block.number - uncle.number
    assert(depth >= 1 && depth <= 6, 'rewards are of checked uncles, one to six blocks deep')
    rewards.push({ address: uncle.coinbase, amount: (base * BigInt(8 - depth)) / 8n })
  }
  return rewards
}
