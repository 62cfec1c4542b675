/** A world that a genesis file describes. */
import type { GenesisAccount } from 'varve/chain'
import type { Host } from 'varve/evm'
import { keccak256 } from 'varve/kernels'
import { hexOf } from './fixtures.ts'

const EMPTY_CODE_HASH = keccak256(new Uint8Array(0))

/** @param blockHash of the block before; one value for all, as no test asks for more */
export function allocHost(accounts: readonly GenesisAccount[], blockHash: Uint8Array): Host {
  const byAddress = new Map(accounts.map((account) => [hexOf(account.address), account]))
  const slots = new Map<string, Uint8Array>()
  const codes = new Map<string, Uint8Array>()
  for (const { address, code, storage } of accounts) {
    codes.set(hexOf(keccak256(code)), code)
    for (const { slot, value } of storage) slots.set(hexOf(address) + hexOf(slot), value)
  }
  return {
    loadAccount(address) {
      const account = byAddress.get(hexOf(address))
      if (account === undefined) return undefined
      const { nonce, balance, code } = account
      return { nonce, balance, codeHash: code.length === 0 ? EMPTY_CODE_HASH : keccak256(code) }
    },
    hasStorage: (address) => (byAddress.get(hexOf(address))?.storage.length ?? 0) > 0,
    openStorage: (address) => (slot) => slots.get(hexOf(address) + hexOf(slot)),
    loadCode: (codeHash) => codes.get(hexOf(codeHash))!,
    blockHash: () => blockHash,
  }
}
