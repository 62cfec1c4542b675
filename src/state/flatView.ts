/** The state that a store holds, as a view: what layers stand on. Holds no state of its own; moves as the store does. */
import { bytesEqual, EMPTY_BYTES, EMPTY_CODE_HASH, toHex, VarveError } from '../base/index.ts'
import type { Account } from './account.ts'
import type { FlatState } from './flatState.ts'
import type { ListingView, StateViewErrorCode, StoredSlot } from './view.ts'

export class FlatView implements ListingView {
  private readonly flat: FlatState

  constructor(flat: FlatState) {
    this.flat = flat
  }

  /** @throws VarveError STATE_ROW_INVALID */
  account(addressHash: Uint8Array): Account | undefined {
    return this.flat.account(addressHash)
  }

  /** @throws VarveError STATE_ROW_INVALID */
  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    return this.flat.storage(addressHash, slotHash)
  }

  code(codeHash: Uint8Array): Uint8Array {
    if (bytesEqual(codeHash, EMPTY_CODE_HASH)) return EMPTY_BYTES
    const code = this.flat.code(codeHash)
    if (code === undefined) throw codeMissing(codeHash)
    return code
  }

  hasStorage(addressHash: Uint8Array): boolean {
    return this.flat.hasStorage(addressHash)
  }

  /** @throws VarveError STATE_ROW_INVALID */
  slots(addressHash: Uint8Array): Iterable<StoredSlot> {
    return this.flat.slots(addressHash)
  }
}

/** The fault of a state that names a code which nobody has. */
export function codeMissing(codeHash: Uint8Array): VarveError {
  return new VarveError<StateViewErrorCode>(
    'STATE_CODE_MISSING',
    `no code with hash ${toHex(codeHash)} in the store`,
    { codeHash: toHex(codeHash) },
  )
}
