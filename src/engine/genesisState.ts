/**
 * Block 0: its state as a delta over nothing, from a genesis allocation, and its header.
 */
import { bytesCompare, EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../base/index.ts'
import {
  type Genesis,
  type GenesisAccount,
  genesisHeader,
  type NetworkName,
  networkOfStateRoot,
} from '../chain/index.ts'
import type { Header } from '../codec/index.ts'
import { StateSummary, storedNodes } from '../commit/index.ts'
import { keccak256 } from '../kernels/index.ts'
import {
  type AccountChange,
  addressHashOf,
  type CodeChange,
  type StateDelta,
  sealDelta,
  slotHashOf,
} from '../state/index.ts'
import { memoryStore } from '../store/index.ts'

/** Block 0 with the state that it starts from. */
export type GenesisBlock = { readonly header: Header; readonly delta: StateDelta }

/** Builds block 0. @param summary an empty one; it holds the genesis state afterwards */
export function buildGenesis(genesis: Genesis, summary: StateSummary): GenesisBlock {
  const delta = allocationDelta(genesis.accounts)
  return { header: genesisHeader(genesis, summary.update(delta)), delta }
}

/** The delta that leads from the empty state to an allocation. */
export function allocationDelta(accounts: readonly GenesisAccount[]): StateDelta {
  const codes: CodeChange[] = []
  const changes = accounts.map((account) => accountChange(account, codes))
  return sealDelta(changes, codes)
}

function accountChange(account: GenesisAccount, codes: CodeChange[]): AccountChange {
  const { address, nonce, balance, code, storage } = account
  const codeHash = code.length === 0 ? EMPTY_CODE_HASH : keccak256(code)
  if (code.length > 0) codes.push({ codeHash, code })
  const slots = storage.map(({ slot, value }) => ({
    slotHash: slotHashOf(slot),
    before: undefined,
    after: value,
  }))
  slots.sort((a, b) => bytesCompare(a.slotHash, b.slotHash))
  return {
    addressHash: addressHashOf(address),
    before: undefined,
    after: { nonce, balance, codeHash },
    storageCleared: false,
    slots,
  }
}

/** The public network whose genesis state an allocation makes, or `undefined`. Cost: builds the state in memory. */
export function networkOfAccounts(accounts: readonly GenesisAccount[]): NetworkName | undefined {
  const delta = allocationDelta(accounts)
  return networkOfStateRoot(
    new StateSummary(storedNodes(memoryStore()), EMPTY_TRIE_ROOT).update(delta),
  )
}
