/** A world without accounts, for tests that put what they need into the machine. */
import type { BlockEnvironment, Host } from 'varve/evm'

export const emptyHost: Host = {
  loadAccount: () => undefined,
  hasStorage: () => false,
  openStorage: () => undefined,
  loadCode: () => {
    throw new Error('an empty world has no code')
  },
  blockHash: () => new Uint8Array(32),
}

export function blockOf(change: Partial<BlockEnvironment> & Pick<BlockEnvironment, 'fork'>) {
  const block: BlockEnvironment = {
    number: 1n,
    timestamp: 1000n,
    gasLimit: 30_000_000n,
    coinbase: new Uint8Array(20),
    random: 0n,
    chainId: 1n,
    baseFee: 0n,
    blobBaseFee: 0n,
    ...change,
  }
  return block
}
