// A world in maps, as the peers' in-memory states: what Varve's machine asks where nothing else is measured.
import { bigintToMinimalBytes, EMPTY_CODE_HASH, toHex } from '../../dist/base/index.js'
import { keccak256 } from '../../dist/kernels/index.js'

export class MapWorld {
  /** By address: `{ nonce, balance, codeHash, slots }`, slots by hex text and not zero. */
  accounts = new Map()
  codes = new Map()

  put(address, { nonce, balance, code, slots = new Map() }) {
    const codeHash = code.length === 0 ? EMPTY_CODE_HASH : keccak256(code)
    this.accounts.set(address, { nonce, balance, codeHash, slots })
    this.codes.set(toHex(codeHash), code)
  }

  loadAccount(address) {
    return this.accounts.get(toHex(address))
  }

  hasStorage(address) {
    return (this.accounts.get(toHex(address))?.slots.size ?? 0) > 0
  }

  loadSlot(address, slot) {
    const slots = this.accounts.get(toHex(address))?.slots
    if (slots === undefined || slots.size === 0) return undefined
    const value = slots.get(toHex(slot))
    return value === undefined ? undefined : bigintToMinimalBytes(value)
  }

  loadCode(codeHash) {
    return this.codes.get(toHex(codeHash))
  }

  blockHash() {
    return new Uint8Array(32)
  }

  /** Takes over what a block changed. */
  apply(writes) {
    for (const { address, after, storageCleared, slots: written, code } of writes) {
      const key = toHex(address)
      if (after === undefined) {
        this.accounts.delete(key)
        continue
      }
      const slots = new Map(storageCleared ? [] : this.accounts.get(key)?.slots)
      for (const { slot, after: value } of written)
        if (value === 0n) slots.delete(toHex(slot))
        else slots.set(toHex(slot), value)
      const { nonce, balance, codeHash } = after
      this.put(key, {
        nonce,
        balance,
        code: code ?? this.codes.get(toHex(codeHash)) ?? new Uint8Array(0),
        slots,
      })
    }
  }
}
