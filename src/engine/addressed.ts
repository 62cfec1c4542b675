/** Values of a state by address and slot, as users name them. Here alone their hashes are made for a question. */
import { ADDRESS_BYTES, assert, HASH_BYTES, ZERO_HASH } from '../base/index.ts'
import { type Account, addressHashOf, type StateView, slotHashOf } from '../state/index.ts'

/** Values of an account, or `undefined`. @param address 20 bytes */
export function accountAt(view: StateView, address: Uint8Array): Account | undefined {
  checkAddress(address)
  return view.account(addressHashOf(address))
}

/** Value of a slot, 32 bytes, the caller's own; zero where nothing was stored. @param slot 32 bytes */
export function storageAt(view: StateView, address: Uint8Array, slot: Uint8Array): Uint8Array {
  checkAddress(address)
  assert(slot.length === HASH_BYTES, 'a slot has 32 bytes')
  return view.storage(addressHashOf(address), slotHashOf(slot)) ?? ZERO_HASH.slice()
}

/** Code of an account, empty where there is none. */
export function codeAt(view: StateView, address: Uint8Array): Uint8Array {
  const account = accountAt(view, address)
  return account === undefined ? new Uint8Array(0) : view.code(account.codeHash)
}

export function checkAddress(address: Uint8Array): void {
  assert(address.length === ADDRESS_BYTES, 'an address has 20 bytes')
}
