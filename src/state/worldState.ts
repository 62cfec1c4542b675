/**
 * A state that a block's execution writes to, over an unchanging view. It keeps what was read, so that reads are
 * stable, and yields the delta of the block. Whoever drops it has undone the block.
 */
import { assert, U256_MAX } from '../base/index.ts'
import { type Account, accountIsEmpty, EMPTY_ACCOUNT } from './account.ts'
import { type AccountChange, type StateDelta, sealDelta } from './delta.ts'
import { addressHashOf, type HashKey, hashKey } from './key.ts'
import type { StateView } from './view.ts'

type Cell = {
  readonly addressHash: Uint8Array
  readonly before: Account | undefined
  after: Account | undefined
}

export class WorldState {
  private readonly view: StateView
  private readonly cells = new Map<HashKey, Cell>()

  constructor(view: StateView) {
    this.view = view
  }

  account(address: Uint8Array): Account | undefined {
    return this.cell(address).after
  }

  /** Replaces an account; `undefined` removes it. */
  setAccount(address: Uint8Array, account: Account | undefined): void {
    this.cell(address).after = account
  }

  /**
   * Credits `amount` wei, creating the account where there is none, as a miner's reward does.
   * An amount of 0 still creates it: forks before EIP-161 need that, later ones call `removeIfEmpty`.
   */
  addBalance(address: Uint8Array, amount: bigint): void {
    const cell = this.cell(address)
    const account = cell.after ?? EMPTY_ACCOUNT
    const balance = account.balance + amount
    assert(balance <= U256_MAX, 'no balance exceeds 2^256-1: there is not that much ether')
    cell.after = { nonce: account.nonce, balance, codeHash: account.codeHash }
  }

  /** EIP-161: a touched account that is empty at the end of a transaction is deleted. */
  removeIfEmpty(address: Uint8Array): void {
    const cell = this.cell(address)
    if (cell.after !== undefined && accountIsEmpty(cell.after)) cell.after = undefined
  }

  /** What the block changed, sorted in trie order. */
  delta(): StateDelta {
    const changes: AccountChange[] = []
    for (const { addressHash, before, after } of this.cells.values())
      changes.push({ addressHash, before, after, storageCleared: false, slots: [] })
    return sealDelta(changes)
  }

  private cell(address: Uint8Array): Cell {
    const addressHash = addressHashOf(address)
    const key = hashKey(addressHash)
    let cell = this.cells.get(key)
    if (cell === undefined) {
      const account = this.view.account(addressHash)
      cell = { addressHash, before: account, after: account }
      this.cells.set(key, cell)
    }
    return cell
  }
}
