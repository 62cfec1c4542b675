/**
 * The baseline that the kernel's words are measured against: each storage value is a byte string without leading
 * zeros on the JavaScript heap, as clients kept them that did not share one representation. Every read turns bytes
 * into a word and every write makes a new byte string; the journal holds references.
 *
 * Not here: keys, warmth and gas, which stay the kernel's in both arms.
 */
import { assert, EMPTY_BYTES } from '../base/index.ts'
import { type EvmKernel, EvmLayout as L } from '../kernels/index.ts'

export class TrimmedStorage {
  /** By the kernel's number of the slot. */
  private readonly values = new Map<number, Uint8Array>()
  private readonly originals = new Map<number, Uint8Array>()
  private readonly journal: { slot: number; previous: Uint8Array }[] = []

  /** Starts a block. */
  clear(): void {
    this.values.clear()
    this.nextTransaction()
  }

  /** Starts a transaction: what is there now is the original of what it writes. */
  nextTransaction(): void {
    // Clearing a map allocates, also where there is nothing to clear, as in the other arm.
    if (this.originals.size > 0) this.originals.clear()
    this.journal.length = 0
  }

  /** Writes the value as a word to `to`. */
  load(kernel: EvmKernel, slot: number, to: number): void {
    kernel.writeWordBytes(to, this.value(kernel, slot))
  }

  /** Writes the value at the start of the transaction as a word to `to`. */
  original(kernel: EvmKernel, slot: number, to: number): void {
    kernel.writeWordBytes(to, this.originals.get(slot) ?? this.value(kernel, slot))
  }

  /** Takes the word at `from` as the value. */
  store(kernel: EvmKernel, slot: number, from: number): void {
    const previous = this.value(kernel, slot)
    if (!this.originals.has(slot)) this.originals.set(slot, previous)
    this.journal.push({ slot, previous })
    this.values.set(slot, trimmedWord(kernel, from))
  }

  /** Takes the newest store back. */
  undo(): void {
    const entry = this.journal.pop()
    assert(entry !== undefined, 'trimmed storage: nothing to undo')
    this.values.set(entry.slot, entry.previous)
  }

  /** Reads the value from the kernel's record again: the account's storage was cleared. */
  forget(slot: number): void {
    this.values.delete(slot)
    this.originals.delete(slot)
  }

  /** Puts all values in the kernel's records, for those who read them there. */
  writeBack(kernel: EvmKernel): void {
    for (const [slot, value] of this.values)
      kernel.writeWordBytes(kernel.exports.slotRecord(slot) + L.S_VALUE, value)
  }

  private value(kernel: EvmKernel, slot: number): Uint8Array {
    let value = this.values.get(slot)
    if (value === undefined) {
      value = trimmedWord(kernel, kernel.exports.slotRecord(slot) + L.S_VALUE)
      this.values.set(slot, value)
    }
    return value
  }
}

/** Big-endian bytes of a word without leading zeros; 0 is the shared empty string. */
function trimmedWord(kernel: EvmKernel, address: number): Uint8Array {
  const memory = kernel.bytes
  let length = 32
  while (length > 0 && memory[address + length - 1] === 0) length--
  return length === 0 ? EMPTY_BYTES : kernel.readWordBytes(address, length)
}
