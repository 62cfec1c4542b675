/**
 * Hashes of the canonical chain by number: what was written lies in the store, what changed since lies here.
 *
 *     store      0 … first-1                          rows of the table `canonical`
 *     changed          first … head                   in memory, written over the rows at the next write
 */
import { assert } from '../../base/index.ts'
import { numberKey, type Store, type WriteBatch } from '../../store/index.ts'
import { readCanonicalHash } from '../chainRecords.ts'

export class CanonicalIndex {
  private readonly store: Store
  private firstChanged: number
  private changed: Uint8Array[] = []
  /** Highest number that has a row in the store, -1 for none. */
  private storedTop: number

  /** @param storedTop number of the head in the store, -1 for an empty one */
  constructor(store: Store, storedTop: number) {
    this.store = store
    this.storedTop = storedTop
    this.firstChanged = storedTop + 1
  }

  /** Number of the head, -1 before block 0. */
  get top(): number {
    return this.firstChanged + this.changed.length - 1
  }

  /** Hash at a height, or `undefined` above the head. @throws VarveError ENGINE_BLOCK_INVALID */
  hash(number: number): Uint8Array | undefined {
    if (number >= this.firstChanged) return this.changed[number - this.firstChanged]
    return readCanonicalHash(this.store, number)
  }

  /** Appends the next block. */
  push(hash: Uint8Array): void {
    this.changed.push(hash)
  }

  /** Forgets everything above a number. */
  cutTo(number: number): void {
    assert(number <= this.top, 'canonical index: it is cut below its top')
    if (number < this.firstChanged) {
      this.firstChanged = number + 1
      this.changed = []
    } else this.changed.length = number - this.firstChanged + 1
  }

  /** Adds the rows that differ from the store. */
  writeTo(batch: WriteBatch): void {
    this.changed.forEach((hash, index) => {
      batch.put('canonical', numberKey(this.firstChanged + index), hash)
    })
    for (let number = this.top + 1; number <= this.storedTop; number++)
      batch.delete('canonical', numberKey(number))
  }

  /** Tells that the store has what `writeTo` gave when `top` was the head; since then blocks came on top alone. */
  markWritten(top: number): void {
    this.storedTop = top
    this.changed.splice(0, top + 1 - this.firstChanged)
    this.firstChanged = top + 1
  }
}
