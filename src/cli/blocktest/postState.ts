/** Compares the state that a store holds with the accounts that a test lists, both ways. */
import { bytesEqual, toHex } from '../../base/index.ts'
import type { GenesisAccount } from '../../chain/index.ts'
import type { Engine, EngineView } from '../../engine/index.ts'
import type { Store, Table } from '../../store/index.ts'
import { PreState, type RootCalculator } from '../testfiles/preState.ts'

/**
 * The first difference in words, or `undefined`. The store holds all that the engine has accepted.
 * Cost: a read for each account and slot.
 */
export function accountsDifference(
  accounts: readonly GenesisAccount[],
  engine: Engine,
  store: Store,
): string | undefined {
  const view = engine.at('latest')
  for (const account of accounts) {
    const difference = accountDifference(account, view)
    if (difference !== undefined) return `account ${toHex(account.address)}: ${difference}`
  }
  const slotCount = accounts.reduce((sum, { storage }) => sum + storage.length, 0)
  return (
    countDifference(store, 'accounts', accounts.length) ??
    countDifference(store, 'storages', slotCount)
  )
}

/** State root that the accounts make. */
export function rootOfAccounts(
  accounts: readonly GenesisAccount[],
  roots: RootCalculator,
): Uint8Array {
  return roots.at(new PreState(accounts), (summary) => summary.root())
}

function accountDifference(expected: GenesisAccount, view: EngineView): string | undefined {
  const { address } = expected
  const found = view.account(address)
  if (found === undefined) return 'missing'
  if (found.nonce !== expected.nonce)
    return `nonce: expected ${expected.nonce}, found ${found.nonce}`
  if (found.balance !== expected.balance)
    return `balance: expected ${expected.balance}, found ${found.balance}`
  const code = view.code(address)
  if (!bytesEqual(code, expected.code))
    return `code: expected ${toHex(expected.code)}, found ${toHex(code)}`
  for (const { slot, value } of expected.storage) {
    const stored = view.storage(address, slot)
    if (!bytesEqual(stored, value))
      return `slot ${toHex(slot)}: expected ${toHex(value)}, found ${toHex(stored)}`
  }
  return undefined
}

/** With every listed row in its place, as many rows are the same rows. */
function countDifference(store: Store, table: Table, expected: number): string | undefined {
  const stats = store.tableStats().find((row) => row.table === table)
  const found = stats?.entryCount ?? 0
  return found === expected ? undefined : `${table}: expected ${expected}, found ${found}`
}
