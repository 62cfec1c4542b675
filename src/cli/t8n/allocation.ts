/** Accounts before and after the block, as `alloc.json` writes them. */
import { toBareHex, toHex } from '../../base/index.ts'
import type { GenesisAccount } from '../../chain/index.ts'
import type { WriteSet } from '../../evm/index.ts'

type Account = {
  balance: bigint
  nonce: bigint
  code: Uint8Array
  /** By slot, both as 64 digits. */
  readonly storage: Map<string, string>
}

/** JSON of one account; what is empty is left out, but for the balance. */
type AccountJson = {
  readonly code?: string
  readonly storage?: { readonly [slot: string]: string }
  readonly balance: string
  readonly nonce?: string
}

export type AllocationJson = { readonly [address: string]: AccountJson }

/** The accounts after `writes`, ordered by address. */
export function allocationAfter(
  accounts: readonly GenesisAccount[],
  writes: WriteSet,
): AllocationJson {
  const all = new Map<string, Account>()
  for (const { address, balance, nonce, code, storage } of accounts) {
    const slots = storage.map(({ slot, value }) => [toHex(slot), toHex(value)] as const)
    all.set(toHex(address), { balance, nonce, code, storage: new Map(slots) })
  }
  for (const write of writes) applyWrite(all, write)
  const entries = [...all].sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([address, account]) => [address, accountJson(account)]))
}

function applyWrite(all: Map<string, Account>, write: WriteSet[number]): void {
  const key = toHex(write.address)
  const { after } = write
  if (after === undefined) {
    all.delete(key)
    return
  }
  const known = all.get(key)
  const account: Account = known ?? {
    balance: 0n,
    nonce: 0n,
    code: new Uint8Array(0),
    storage: new Map(),
  }
  account.balance = after.balance
  account.nonce = after.nonce
  if (write.code !== undefined) account.code = write.code
  else if (toBareHex(after.codeHash) === EMPTY_CODE_HASH_TEXT) account.code = new Uint8Array(0)
  if (write.storageCleared) account.storage.clear()
  for (const { slot, after: value } of write.slots) {
    if (value === 0n) account.storage.delete(toHex(slot))
    else account.storage.set(toHex(slot), `0x${value.toString(16).padStart(64, '0')}`)
  }
  all.set(key, account)
}

const EMPTY_CODE_HASH_TEXT = 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

function accountJson({ balance, nonce, code, storage }: Account): AccountJson {
  const slots = [...storage].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    ...(code.length === 0 ? {} : { code: toHex(code) }),
    ...(slots.length === 0 ? {} : { storage: Object.fromEntries(slots) }),
    balance: `0x${balance.toString(16)}`,
    ...(nonce === 0n ? {} : { nonce: `0x${nonce.toString(16)}` }),
  }
}
