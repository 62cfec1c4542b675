/**
 * A million layers made and released: a line of versions that grows, forks, is persisted behind and let go, over few
 * accounts and slots that are written, cleared and gone again and again. In the end nothing may be left but what the
 * persisted state holds, by its own count and by the layers'.
 */
import { bytesCompare, EMPTY_CODE_HASH, VarveError } from '../../base/index.ts'
import { Prng } from '../../measure/index.ts'
import {
  type Account,
  type AccountChange,
  accountRowBytes,
  diffAccounts,
  type HashKey,
  hashKey,
  hashOfKey,
  type LayeredState,
  type ListingView,
  type StateDelta,
  StateLayers,
  type StateUsage,
  type StoredSlot,
  sealDelta,
  slotRowBytes,
} from '../../state/index.ts'

export type LayersSoakReport = {
  readonly layers: number
  readonly seconds: number
  readonly layersPerSecond: number
}

export type LayersSoakOptions = {
  readonly count: number
  readonly seed: number
  readonly onLayer: (done: number) => void
}

const ACCOUNT_COUNT = 500
const SLOT_COUNT = 8
const ACCOUNTS_PER_LAYER = 4
/** Versions that are open at once. */
const LIVE_COUNT = 100
/** Every so many versions one is persisted. */
const PERSIST_PERIOD = 25
/** Every so many versions a side line of a few is made and dropped. */
const FORK_PERIOD = 10
const FORK_LENGTH_MAX = 5

/** @throws VarveError SOAK_LAYERS_LEFT */
export function soakLayers({ count, seed, onLayer }: LayersSoakOptions): LayersSoakReport {
  const start = performance.now()
  const prng = new Prng(seed)
  const base = new SoakBase()
  const layers = new StateLayers({ persisted: base })
  const deltas = new DeltaMaker(prng)
  const live: LayeredState[] = [layers.open()]
  let done = 0
  const next = (from: LayeredState): LayeredState => {
    onLayer(++done)
    return from.apply(deltas.next(from))
  }
  while (done < count) {
    const newest = live.at(-1)!
    live.push(next(newest))
    if (done % FORK_PERIOD === 0) {
      let side = prng.pick(live).fork()
      for (let length = prng.between(1, FORK_LENGTH_MAX); length > 0; length--) {
        const longer = next(side)
        side.release()
        side = longer
      }
      side.release()
    }
    if (live.length <= LIVE_COUNT) continue
    persist(layers, base, live[PERSIST_PERIOD]!)
    for (const state of live.splice(0, PERSIST_PERIOD)) state.release()
  }
  persist(layers, base, live.at(-1)!)
  const { usage } = live.at(-1)!
  for (const state of live) state.release()
  checkEnd(layers, base, usage)
  const seconds = (performance.now() - start) / 1000
  return { layers: done, seconds, layersPerSecond: done / seconds }
}

/** Moves the base to a version, as a write would. */
function persist(layers: StateLayers, base: SoakBase, state: LayeredState): void {
  const span = state.sincePersisted()
  layers.announcePersist(state)
  for (const change of diffAccounts(span.diffSource())) base.take(change)
  layers.markPersisted(state)
  span.close()
}

function checkEnd(layers: StateLayers, base: SoakBase, usage: StateUsage): void {
  const { layerCount, usedBytes, codeBytes } = layers.status
  const found = base.usage()
  const isEqual =
    found.accountCount === usage.accountCount &&
    found.slotCount === usage.slotCount &&
    found.byteCount === usage.byteCount
  // The persisted one, whose writes are in the base.
  if (layerCount <= 1 && codeBytes === 0 && isEqual) return
  throw new VarveError<SoakErrorCode>(
    'SOAK_LAYERS_LEFT',
    `layers: expected one at the end and ${JSON.stringify(usage)}, found ${layerCount} with ${usedBytes} bytes and ${JSON.stringify(found)}`,
    { layerCount, usedBytes },
  )
}

/** Random writes that are right for the state that they are made for. */
class DeltaMaker {
  private readonly prng: Prng
  private readonly addresses: readonly Uint8Array[]
  private readonly slots: readonly Uint8Array[]

  constructor(prng: Prng) {
    this.prng = prng
    this.addresses = Array.from({ length: ACCOUNT_COUNT }, () => prng.bytes(32))
    this.slots = Array.from({ length: SLOT_COUNT }, () => prng.bytes(32)).sort(bytesCompare)
  }

  next(state: LayeredState): StateDelta {
    const { prng, addresses } = this
    const chosen = new Set(
      Array.from({ length: ACCOUNTS_PER_LAYER }, () => prng.below(addresses.length)),
    )
    return sealDelta(Array.from(chosen, (index) => this.change(addresses[index]!, state)))
  }

  private change(addressHash: Uint8Array, state: LayeredState): AccountChange {
    const { prng } = this
    const before = state.account(addressHash)
    const isGone = before !== undefined && prng.oneIn(10)
    const after = isGone ? undefined : accountOf(prng)
    const storageCleared = before !== undefined && (isGone || prng.oneIn(20))
    const slots = isGone
      ? []
      : this.slots
          .filter(() => prng.oneIn(4))
          .map((slotHash) => ({
            slotHash,
            before: storageCleared ? undefined : state.storage(addressHash, slotHash),
            after: prng.oneIn(3) ? undefined : prng.bytes(32),
          }))
    return { addressHash, before, after, storageCleared, slots }
  }
}

function accountOf(prng: Prng): Account {
  return { nonce: BigInt(prng.uint32()), balance: prng.bigint(80), codeHash: EMPTY_CODE_HASH }
}

/** The persisted state, as maps. */
class SoakBase implements ListingView {
  private readonly accounts = new Map<HashKey, Account>()
  private readonly storages = new Map<HashKey, Map<HashKey, Uint8Array>>()

  account(addressHash: Uint8Array): Account | undefined {
    return this.accounts.get(hashKey(addressHash))
  }

  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    return this.storages.get(hashKey(addressHash))?.get(hashKey(slotHash))
  }

  code(): Uint8Array {
    throw new Error('these accounts have no code')
  }

  hasStorage(addressHash: Uint8Array): boolean {
    return (this.storages.get(hashKey(addressHash))?.size ?? 0) > 0
  }

  *slots(addressHash: Uint8Array): Iterable<StoredSlot> {
    for (const [key, value] of this.storages.get(hashKey(addressHash)) ?? [])
      yield { slotHash: hashOfKey(key), value }
  }

  take({ addressHash, after, storageCleared, slots }: AccountChange): void {
    const key = hashKey(addressHash)
    if (after === undefined) this.accounts.delete(key)
    else this.accounts.set(key, after)
    if (storageCleared || after === undefined) this.storages.delete(key)
    for (const { slotHash, after: value } of slots) this.takeSlot(key, hashKey(slotHash), value)
  }

  usage(): StateUsage {
    let [slotCount, byteCount] = [0, 0]
    for (const account of this.accounts.values()) byteCount += accountRowBytes(account)
    for (const slots of this.storages.values())
      for (const value of slots.values()) {
        slotCount++
        byteCount += slotRowBytes(value)
      }
    return { accountCount: this.accounts.size, slotCount, byteCount }
  }

  private takeSlot(key: HashKey, slot: HashKey, value: Uint8Array | undefined): void {
    let slots = this.storages.get(key)
    if (slots === undefined) {
      if (value === undefined) return
      slots = new Map()
      this.storages.set(key, slots)
    }
    if (value === undefined) slots.delete(slot)
    else slots.set(slot, value)
    if (slots.size === 0) this.storages.delete(key)
  }
}

/** Error codes of this module. */
export type SoakErrorCode =
  /** Layers, or what they say a state holds, are not what they must be once all are released. */
  'SOAK_LAYERS_LEFT'
