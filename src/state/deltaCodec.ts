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
import { bytesCompare, EMPTY_BYTES, HASH_BYTES, isVarveError, VarveError } from '../base/index.ts'
import { encodeRlp, type RlpInput, RlpReader } from '../codec/index.ts'
import { type Account, accountsEqual } from './account.ts'
import { type AccountChange, type SlotChange, type StateDelta, slotsEqual } from './delta.ts'
import { decodeFlatSlot, encodeFlatSlot, flatAccountToRlp, readFlatAccount } from './flatState.ts'

/** Encodes a complete delta. Cost: one pass, all bytes copied twice. */
export function encodeDelta(delta: StateDelta): Uint8Array {
  const accounts: RlpInput[] = []
  for (const { addressHash, before, after, slots } of delta.accounts) {
    const changed = slots.filter((slot) => !slotsEqual(slot.before, slot.after))
    if (changed.length === 0 && accountsEqual(before, after)) continue
    accounts.push([
      addressHash,
      accountToRlp(before),
      accountToRlp(after),
      changed.map((slot) => [slot.slotHash, slotToRlp(slot.before), slotToRlp(slot.after)]),
    ])
  }
  return encodeRlp(accounts)
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

function accountToRlp(account: Account | undefined): RlpInput {
  return account === undefined ? EMPTY_BYTES : flatAccountToRlp(account)
}

function readAccount(reader: RlpReader): Account | undefined {
  if (reader.nextIsList) return readFlatAccount(reader)
  if (reader.readBytes('account').length > 0) throw deltaFault('an account or nothing')
  return undefined
}

function slotToRlp(value: Uint8Array | undefined): Uint8Array {
  return value === undefined ? EMPTY_BYTES : encodeFlatSlot(value)
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
