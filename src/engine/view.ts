/**
 * A state of the chain as a user sees it: named by address and slot, with its root and its proofs.
 * Reading changes nothing. A view belongs to one block: once the engine has moved on, it says so and answers no more,
 * since older states are not kept yet.
 */
import { ADDRESS_BYTES, assert, HASH_BYTES, VarveError, ZERO_HASH } from '../base/index.ts'
import type { Header } from '../codec/index.ts'
import {
  type AccountProof,
  proveAccount,
  type StateSummary,
  verifyAccountProof,
} from '../commit/index.ts'
import { type Account, addressHashOf, type StateView, slotHashOf } from '../state/index.ts'

/** What a view reads from, and how it knows that it is still of its block. */
export type ViewSource = {
  readonly state: StateView
  readonly summary: () => StateSummary
  /** The block whose state `state` and `summary` hold now. */
  readonly head: () => Header
}

export class EngineView {
  readonly header: Header
  private readonly source: ViewSource

  constructor(source: ViewSource) {
    this.source = source
    this.header = source.head()
  }

  /** State root, 32 bytes, fresh. */
  root(): Uint8Array {
    this.checkCurrent()
    return this.header.stateRoot.slice()
  }

  /** Values of an account, or `undefined`. @param address 20 bytes */
  account(address: Uint8Array): Account | undefined {
    this.checkCurrent()
    checkAddress(address)
    return this.source.state.account(addressHashOf(address))
  }

  /** Value of a slot, 32 bytes; zero where nothing was stored. @param slot 32 bytes */
  storage(address: Uint8Array, slot: Uint8Array): Uint8Array {
    this.checkCurrent()
    checkAddress(address)
    assert(slot.length === HASH_BYTES, 'a slot has 32 bytes')
    return this.source.state.storage(addressHashOf(address), slotHashOf(slot)) ?? ZERO_HASH.slice()
  }

  /** Code of an account, empty where there is none. */
  code(address: Uint8Array): Uint8Array {
    const account = this.account(address)
    return account === undefined ? new Uint8Array(0) : this.source.state.code(account.codeHash)
  }

  /**
   * Proof of an account and some of its slots (EIP-1186). It is verified against the root before it is returned.
   * @throws VarveError PROOF_KEYS_TOO_MANY, TRIE_NODE_MISSING
   */
  proof(address: Uint8Array, slots: readonly Uint8Array[] = []): AccountProof {
    this.checkCurrent()
    checkAddress(address)
    const proof = proveAccount(this.source.summary(), address, slots)
    verifyAccountProof(this.header.stateRoot, proof)
    return proof
  }

  private checkCurrent(): void {
    const head = this.source.head()
    if (head !== this.header)
      throw new VarveError(
        'ENGINE_STATE_NOT_KEPT',
        `the state of block ${this.header.number} is not kept: the head is at block ${head.number}`,
        { number: this.header.number, head: head.number },
      )
  }
}

function checkAddress(address: Uint8Array): void {
  assert(address.length === ADDRESS_BYTES, 'an address has 20 bytes')
}

/** Error codes of this module. */
export type ViewErrorCode =
  /** The state of that block is no longer, or not yet, in reach. */
  'ENGINE_STATE_NOT_KEPT'
