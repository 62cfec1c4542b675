/**
 * A state read through its tries: what a stateless block executes over. Slower than flat rows, and sure: every value
 * was reached from the root by hash.
 */
import { bytesEqual, EMPTY_BYTES, EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../base/index.ts'
import type { Account, StateView } from '../state/index.ts'
import type { StateSummary } from './stateSummary.ts'

/** Codes by their keccak-256. @throws where there is none */
export type CodeReader = (codeHash: Uint8Array) => Uint8Array

/** The state that `summary` stands at. Good until the summary is updated. */
export class SummaryView implements StateView {
  private readonly summary: StateSummary
  private readonly readCode: CodeReader

  constructor(summary: StateSummary, readCode: CodeReader) {
    this.summary = summary
    this.readCode = readCode
  }

  account(addressHash: Uint8Array): Account | undefined {
    return this.summary.accountLeaf(addressHash)
  }

  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    return this.summary.slot(addressHash, slotHash)
  }

  code(codeHash: Uint8Array): Uint8Array {
    return bytesEqual(codeHash, EMPTY_CODE_HASH) ? EMPTY_BYTES : this.readCode(codeHash)
  }

  hasStorage(addressHash: Uint8Array): boolean {
    const leaf = this.summary.accountLeaf(addressHash)
    return leaf !== undefined && !bytesEqual(leaf.storageRoot, EMPTY_TRIE_ROOT)
  }
}
