/**
 * A complete delta as bytes. One delta has one encoding, and the decoder takes no other:
 *
 *     delta    RLP [ account … ]                                      in the order of addressHash
 *     account  [ addressHash (32), before, after, [ slot … ] ]        slots in the order of slotHash
 *     before, after   an account's flat row, or "" for none
 *     slot     [ slotHash (32), before, after ]                       values without leading zeros, "" for zero
 *
 * An account is listed where it or a slot of it differs, a slot where it differs. Codes are not part of it: the store
 * keeps them by hash. Nor is `storageCleared`: a complete delta lists what was cleared.
 */
import {
  bytesCompare,
  EMPTY_BYTES,
  HASH_BYTES,
  isVarveError,
  leadingZeroCount,
  VarveError,
} from '../base/index.ts'
import {
  RlpReader,
  rlpBytesLength,
  rlpHeaderBytes,
  writeRlpBytes,
  writeRlpListHeader,
} from '../codec/index.ts'
import { type Account, accountsEqual } from './account.ts'
import { type AccountChange, type SlotChange, type StateDelta, slotsEqual } from './delta.ts'
import { decodeFlatSlot, flatAccountBytes, readFlatAccount, writeFlatAccount } from './flatState.ts'

/** Encodes a complete delta. Cost: one pass, all bytes copied twice. */
export function encodeDelta(delta: StateDelta): Uint8Array {
  const encoder = new DeltaEncoder()
  for (const change of delta.accounts) encoder.add(change)
  return encoder.finish()
}

const FIRST_BYTES = 64 * 1024
/** Room for the head of the whole list, which is known last. */
const HEAD_BYTES = 9
/** More than an account's or a slot's parts take: hash, two rows, heads. */
const ACCOUNT_BYTES_MAX = 256
const SLOT_BYTES_MAX = 128
const HASH_ITEM_BYTES = 1 + HASH_BYTES

/** Encodes a complete delta whose changes come one after the other, in their order. For use once. */
export class DeltaEncoder {
  private target = new Uint8Array(FIRST_BYTES)
  private end = HEAD_BYTES

  add({ addressHash, before, after, slots }: AccountChange): void {
    let slotBytes = 0
    for (const slot of slots)
      if (!slotsEqual(slot.before, slot.after)) slotBytes += listBytes(slotPayload(slot))
    if (slotBytes === 0 && accountsEqual(before, after)) return
    this.reserve(ACCOUNT_BYTES_MAX)
    const payload = HASH_ITEM_BYTES + rowBytes(before) + rowBytes(after) + listBytes(slotBytes)
    let at = writeRlpListHeader(this.target, this.end, payload)
    at = writeRlpBytes(this.target, at, addressHash)
    at = writeRow(this.target, at, before)
    at = writeRow(this.target, at, after)
    this.end = writeRlpListHeader(this.target, at, slotBytes)
    for (const slot of slots) if (!slotsEqual(slot.before, slot.after)) this.addSlot(slot)
  }

  /** The delta's bytes, a view of memory that is the caller's. */
  finish(): Uint8Array {
    const payload = this.end - HEAD_BYTES
    const start = HEAD_BYTES - rlpHeaderBytes(payload)
    writeRlpListHeader(this.target, start, payload)
    return this.target.subarray(start, this.end)
  }

  private addSlot(slot: SlotChange): void {
    this.reserve(SLOT_BYTES_MAX)
    let at = writeRlpListHeader(this.target, this.end, slotPayload(slot))
    at = writeRlpBytes(this.target, at, slot.slotHash)
    at = writeRlpBytes(this.target, at, slotRow(slot.before))
    this.end = writeRlpBytes(this.target, at, slotRow(slot.after))
  }

  private reserve(byteCount: number): void {
    if (this.end + byteCount <= this.target.length) return
    const grown = new Uint8Array(2 * this.target.length)
    grown.set(this.target)
    this.target = grown
  }
}

function listBytes(payload: number): number {
  return rlpHeaderBytes(payload) + payload
}

function slotPayload({ before, after }: SlotChange): number {
  return HASH_ITEM_BYTES + rlpBytesLength(slotRow(before)) + rlpBytesLength(slotRow(after))
}

function slotRow(value: Uint8Array | undefined): Uint8Array {
  return value === undefined ? EMPTY_BYTES : value.subarray(leadingZeroCount(value))
}

function rowBytes(account: Account | undefined): number {
  return account === undefined ? 1 : flatAccountBytes(account)
}

function writeRow(target: Uint8Array, offset: number, account: Account | undefined): number {
  return account === undefined
    ? writeRlpBytes(target, offset, EMPTY_BYTES)
    : writeFlatAccount(target, offset, account)
}

/** Decodes a delta. @param block what it belongs to, for the message. @throws VarveError STATE_DELTA_INVALID */
export function decodeDelta(bytes: Uint8Array, block: string): StateDelta {
  try {
    const reader = new RlpReader(bytes)
    const accounts = readSorted(
      reader,
      'accounts',
      readAccountChange,
      (change) => change.addressHash,
    )
    reader.finish('delta')
    return { accounts, codes: [] }
  } catch (cause) {
    if (!isVarveError(cause)) throw cause
    throw new VarveError(
      'STATE_DELTA_INVALID',
      `delta of ${block}: ${cause.message}`,
      { block },
      { cause },
    )
  }
}

function readAccountChange(reader: RlpReader): AccountChange {
  const end = reader.openList('account change')
  const addressHash = reader.readFixed(HASH_BYTES, 'addressHash')
  const before = readAccount(reader)
  const after = readAccount(reader)
  const slots = readSorted(reader, 'slots', readSlotChange, (slot) => slot.slotHash)
  reader.closeList(end, 'account change')
  if (slots.length === 0 && accountsEqual(before, after))
    throw deltaFault('an account that differs')
  return { addressHash, before, after, storageCleared: false, slots }
}

function readSlotChange(reader: RlpReader): SlotChange {
  const end = reader.openList('slot change')
  const slotHash = reader.readFixed(HASH_BYTES, 'slotHash')
  const before = readSlot(reader, slotHash)
  const after = readSlot(reader, slotHash)
  reader.closeList(end, 'slot change')
  if (slotsEqual(before, after)) throw deltaFault('a slot that differs')
  return { slotHash, before, after }
}

/** Reads a list whose items have strictly rising keys. */
function readSorted<Item>(
  reader: RlpReader,
  what: string,
  read: (reader: RlpReader) => Item,
  keyOf: (item: Item) => Uint8Array,
): Item[] {
  const items: Item[] = []
  const start = reader.openList(what)
  while (!reader.atEnd) {
    const item = read(reader)
    const last = items.at(-1)
    if (last !== undefined && bytesCompare(keyOf(last), keyOf(item)) >= 0)
      throw deltaFault(`${what} in strictly rising order`)
    items.push(item)
  }
  reader.closeList(start, what)
  return items
}

function readAccount(reader: RlpReader): Account | undefined {
  if (reader.nextIsList) return readFlatAccount(reader)
  if (reader.readBytes('account').length > 0) throw deltaFault('an account or nothing')
  return undefined
}

function readSlot(reader: RlpReader, slotHash: Uint8Array): Uint8Array | undefined {
  const row = reader.readBytes('slot value')
  return row.length === 0 ? undefined : decodeFlatSlot(row, slotHash)
}

function deltaFault(expected: string): VarveError<DeltaCodecErrorCode> {
  return new VarveError('STATE_DELTA_INVALID', `expected ${expected}`)
}

/** Error codes of this module. */
export type DeltaCodecErrorCode =
  /** A stored delta does not decode, or not in its one form. */
  'STATE_DELTA_INVALID'
