/**
 * A naive model of states and their differences, for the tests of layers: a state is a map of maps, copied for each
 * version; the difference of two is their deltas put together one by one.
 */
import { bytesCompare, bytesEqual, EMPTY_CODE_HASH } from '../../base/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import type { Prng } from '../../testing/index.ts'
import { type Account, accountsEqual } from '../account.ts'
import {
  type AccountChange,
  type CodeChange,
  type SlotChange,
  type StateDelta,
  sealDelta,
  slotsEqual,
} from '../delta.ts'
import { type HashKey, hashKey, hashOfKey } from '../key.ts'
import { accountRowBytes, type StateUsage, slotRowBytes } from '../usage.ts'
import type { ListingView, StoredSlot } from '../view.ts'

export type ModelAccount = {
  readonly account: Account | undefined
  readonly slots: ReadonlyMap<HashKey, Uint8Array>
}
export type ModelState = ReadonlyMap<HashKey, ModelAccount>

/** How keys are made: spread as hashes are, or alike up to a nibble, so that paths collide. */
export const KEY_SHAPES = ['spread', 'lastNibble', 'lastByte', 'firstByte'] as const
export type KeyShape = (typeof KEY_SHAPES)[number]

/** Distinct hashes of a shape. */
export function makeKeys(prng: Prng, shape: KeyShape, count: number): Uint8Array[] {
  const stem = prng.bytes(32)
  const keys = new Map<HashKey, Uint8Array>()
  for (let tries = 0; keys.size < count && tries < count * 20; tries++) {
    const key = shape === 'spread' ? prng.bytes(32) : stem.slice()
    if (shape === 'lastNibble') key[31] = (key[31]! & 0xf0) | prng.below(16)
    if (shape === 'lastByte') key[31] = prng.below(256)
    if (shape === 'firstByte') key[0] = prng.below(256)
    keys.set(hashKey(key), key)
  }
  return [...keys.values()]
}

/** Where random deltas come from: few keys and few values, so that everything is met again. */
export class DeltaSource {
  readonly addresses: readonly Uint8Array[]
  readonly slots: readonly Uint8Array[]
  private readonly prng: Prng
  private readonly values: readonly Uint8Array[]
  private readonly codes: readonly CodeChange[]

  constructor(prng: Prng, shape: KeyShape, keyCount: number, slotCount = keyCount) {
    this.prng = prng
    this.addresses = makeKeys(prng, shape, keyCount)
    this.slots = makeKeys(prng, shape, slotCount)
    this.values = Array.from({ length: 4 }, (_, index) =>
      index === 0
        ? Uint8Array.from({ length: 32 }, (_, at) => (at === 31 ? 1 : 0))
        : prng.bytes(32),
    )
    this.codes = Array.from({ length: 4 }, () => {
      const code = prng.bytes(prng.between(1, 40))
      return { codeHash: keccak256(code), code }
    })
  }

  /** A delta that is right for the state. */
  next(state: ModelState): StateDelta {
    const { prng } = this
    const oneIn = prng.between(1, 4)
    const codes = new Map<HashKey, CodeChange>()
    const changes = this.addresses
      .filter(() => prng.oneIn(oneIn))
      .map((addressHash) => this.change(addressHash, state.get(hashKey(addressHash)), codes))
    return sealDelta(changes, [...codes.values()])
  }

  private change(
    addressHash: Uint8Array,
    old: ModelAccount | undefined,
    codes: Map<HashKey, CodeChange>,
  ): AccountChange {
    const { prng } = this
    const before = old?.account
    const after = prng.oneIn(6)
      ? undefined
      : prng.oneIn(3)
        ? (before ?? this.account())
        : this.account()
    const code = this.codes.find(
      ({ codeHash }) => after !== undefined && bytesEqual(codeHash, after.codeHash),
    )
    if (code !== undefined) codes.set(hashKey(code.codeHash), code)
    const storageCleared =
      before !== undefined && (after === undefined ? prng.oneIn(2) : prng.oneIn(6))
    const kept = storageCleared ? undefined : old?.slots
    const slots: SlotChange[] = []
    if (after !== undefined && prng.oneIn(2))
      for (const slotHash of this.slots) {
        if (!prng.oneIn(3)) continue
        const value = prng.oneIn(3) ? undefined : prng.pick(this.values)
        slots.push({ slotHash, before: kept?.get(hashKey(slotHash)), after: value })
      }
    slots.sort((a, b) => bytesCompare(a.slotHash, b.slotHash))
    return { addressHash, before, after, storageCleared, slots }
  }

  private account(): Account {
    const { prng } = this
    return {
      nonce: prng.bigint(prng.oneIn(4) ? 64 : 3),
      balance: prng.bigint(prng.oneIn(2) ? 256 : 4),
      codeHash: prng.oneIn(3) ? prng.pick(this.codes).codeHash : EMPTY_CODE_HASH,
    }
  }
}

/** The state after a delta. */
export function modelApply(state: ModelState, delta: StateDelta): ModelState {
  const next = new Map(state)
  for (const { addressHash, after, storageCleared, slots } of delta.accounts) {
    const key = hashKey(addressHash)
    const isCleared = storageCleared || after === undefined
    const kept = new Map(isCleared ? [] : (next.get(key)?.slots ?? []))
    for (const slot of slots)
      if (slot.after === undefined) kept.delete(hashKey(slot.slotHash))
      else kept.set(hashKey(slot.slotHash), slot.after)
    if (after === undefined && kept.size === 0) next.delete(key)
    else next.set(key, { account: after, slots: kept })
  }
  return next
}

/** Complete deltas of consecutive versions as one, without what was undone in between. */
export function modelMerge(deltas: readonly StateDelta[]): StateDelta {
  type Merged = {
    addressHash: Uint8Array
    before: Account | undefined
    after: Account | undefined
    isCleared: boolean
    slots: Map<HashKey, { before: Uint8Array | undefined; after: Uint8Array | undefined }>
  }
  const merged = new Map<HashKey, Merged>()
  const codes = new Map<HashKey, Uint8Array>()
  for (const delta of deltas) {
    for (const change of delta.accounts) {
      const { addressHash, before, after } = change
      const key = hashKey(addressHash)
      let entry = merged.get(key)
      if (entry === undefined) {
        entry = { addressHash, before, after, isCleared: false, slots: new Map() }
        merged.set(key, entry)
      }
      entry.after = after
      if (change.storageCleared || after === undefined) entry.isCleared = true
      for (const slot of change.slots) {
        const slotKey = hashKey(slot.slotHash)
        const first = entry.slots.get(slotKey)
        entry.slots.set(slotKey, {
          before: first === undefined ? slot.before : first.before,
          after: slot.after,
        })
      }
    }
    for (const { codeHash, code } of delta.codes) codes.set(hashKey(codeHash), code)
  }
  const accounts: AccountChange[] = []
  for (const { addressHash, before, after, isCleared, slots } of merged.values()) {
    const storageCleared = isCleared && before !== undefined
    const changed: SlotChange[] = [...slots]
      .filter(([, slot]) =>
        storageCleared
          ? slot.before !== undefined || slot.after !== undefined
          : !slotsEqual(slot.before, slot.after),
      )
      .map(([key, slot]) => ({ slotHash: hashOfKey(key), ...slot }))
      .sort((a, b) => bytesCompare(a.slotHash, b.slotHash))
    if (storageCleared || changed.length > 0 || !accountsEqual(before, after))
      accounts.push({ addressHash, before, after, storageCleared, slots: changed })
  }
  const sortedCodes = [...codes]
    .map(([key, code]) => ({ codeHash: hashOfKey(key), code }))
    .sort((a, b) => bytesCompare(a.codeHash, b.codeHash))
  return sealDelta(accounts, sortedCodes)
}

/** Usage by counting everything. */
export function modelUsage(state: ModelState): StateUsage {
  let accountCount = 0
  let slotCount = 0
  let byteCount = 0
  for (const { account, slots } of state.values()) {
    if (account !== undefined) {
      accountCount++
      byteCount += accountRowBytes(account)
    }
    for (const value of slots.values()) {
      slotCount++
      byteCount += slotRowBytes(value)
    }
  }
  return { accountCount, slotCount, byteCount }
}

/** A persisted state: a model that can be replaced, with a count of what was asked. */
export class ModelBase implements ListingView {
  state: ModelState = new Map()
  readonly codes = new Map<HashKey, Uint8Array>()
  readCount = 0

  account(addressHash: Uint8Array): Account | undefined {
    this.readCount++
    return this.state.get(hashKey(addressHash))?.account
  }

  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    this.readCount++
    return this.state.get(hashKey(addressHash))?.slots.get(hashKey(slotHash))
  }

  code(codeHash: Uint8Array): Uint8Array {
    this.readCount++
    const code = this.codes.get(hashKey(codeHash))
    if (code === undefined) throw new Error('the model lacks a code')
    return code
  }

  hasStorage(addressHash: Uint8Array): boolean {
    this.readCount++
    return (this.state.get(hashKey(addressHash))?.slots.size ?? 0) > 0
  }

  *slots(addressHash: Uint8Array): Iterable<StoredSlot> {
    this.readCount++
    const slots = this.state.get(hashKey(addressHash))?.slots ?? new Map<HashKey, Uint8Array>()
    for (const [key, value] of [...slots].sort(([a], [b]) => (a < b ? -1 : 1)))
      yield { slotHash: hashOfKey(key), value }
  }
}

/** A model as a view. */
export function modelView(state: ModelState): ListingView {
  const view = new ModelBase()
  view.state = state
  return view
}
