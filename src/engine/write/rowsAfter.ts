/** A store as it will be after a batch that is not written yet. */
import {
  keysBelow,
  type Store,
  type StoreEntry,
  type Table,
  type WriteBatch,
} from '../../store/index.ts'

/** A flat row that the tries do not confirm, or lack. */
export type RowFault = { readonly table: Table; readonly key: Uint8Array; readonly problem: string }

export class RowsAfter {
  readonly batch: WriteBatch
  private readonly store: Store

  /** @param batch is not changed any more */
  constructor(store: Store, batch: WriteBatch) {
    this.store = store
    this.batch = batch
  }

  get(table: Table, key: Uint8Array): Uint8Array | undefined {
    const outcome = this.batch.outcomeOf(table, key)
    return outcome === undefined ? this.store.get(table, key) : (outcome ?? undefined)
  }

  /** How many flat rows go. Cost: a look-up for each, and a walk over those of accounts whose storage is cleared. */
  removedCount(): number {
    const { store, batch } = this
    const order = batch.operationsSorted()
    let count = 0
    for (const table of ['accounts', 'storages'] as const) {
      const [start, end] = batch.spanOf(table)
      for (let place = start; place < end; place++) {
        const operation = order[place]!
        if (batch.valueEndAt(operation) < 0 && store.has(table, batch.keyAt(operation))) count++
      }
      for (const bounds of batch.rangesOf(table))
        for (const _ of store.range(table, bounds)) count++
    }
    return count
  }

  /** Some account whose key has the first nibbles of another one, as the leaf at that path must; read of few rows. */
  accountBelow(key: Uint8Array, nibbleCount: number): StoreEntry | undefined {
    const { store, batch } = this
    const order = batch.operationsSorted()
    const bounds = keysBelow(key, nibbleCount)
    const [start, end] = batch.spanOf('accounts', bounds)
    for (let place = start; place < end; place++) {
      const value = batch.valueAt(order[place]!)
      if (value !== undefined) return { key: batch.keyAt(order[place]!), value }
    }
    for (const entry of store.range('accounts', bounds))
      if (batch.outcomeOf('accounts', entry.key) === undefined) return entry
    return undefined
  }
}
