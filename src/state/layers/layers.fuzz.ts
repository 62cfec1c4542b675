/**
 * Random versions on random forks against a model that copies everything: applied, forked, read, compared with each
 * other, released, and overtaken by the persisted state, in any order. At the end nothing may be left.
 */
import assert from 'node:assert/strict'
import { isVarveError, VERIFY } from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import { EMPTY_ACCOUNT } from '../account.ts'
import { completeDelta, invertDelta, type StateDelta } from '../delta.ts'
import { hashKey } from '../key.ts'
import type { LayeredState } from './layeredState.ts'
import {
  DeltaSource,
  KEY_SHAPES,
  type KeyShape,
  ModelBase,
  type ModelState,
  makeKeys,
  modelApply,
  modelMerge,
  modelUsage,
  modelView,
} from './model.suite.ts'
import { SHARD_COUNT } from './nodeLayout.ts'
import { StateLayers } from './stateLayers.ts'

/** Runs the steps; throws at the first difference. Returns counts that show what was exercised. */
export function fuzzLayers(seed: number, stepCount: number): Record<string, number> {
  return run(new LayersFuzz(seed, 2 ** 30), stepCount)
}

/** The same in memory so small that layers do not fit: a layer is built whole, or it throws and changes nothing. */
export function fuzzLayersTightArena(seed: number, stepCount: number): Record<string, number> {
  return run(new LayersFuzz(seed, 2 ** 18), stepCount)
}

/** Layers made and released, most at once and some later; memory must not grow with their number. */
export function fuzzLayerSoak(seed: number, stepCount: number): Record<string, number> {
  return soakLayers(seed, stepCount)
}

function run(fuzz: LayersFuzz, stepCount: number): Record<string, number> {
  for (let step = 0; step < stepCount; step++) fuzz.step()
  fuzz.finish()
  return fuzz.counts
}

/** A version of the model: where it comes from, what it holds. */
type ModelVersion = {
  readonly parent: ModelVersion | undefined
  readonly number: number
  /** Number of the persisted version when this one was made. */
  readonly baseNumber: number
  readonly delta: StateDelta
  readonly state: ModelState
}
type LiveVersion = { readonly real: LayeredState; readonly model: ModelVersion }

const LIVE_COUNT_MAX = 24

class LayersFuzz {
  readonly counts: Record<string, number> = {}
  private readonly prng: Prng
  private readonly where: string
  private readonly source: DeltaSource
  private readonly base = new ModelBase()
  private readonly layers: StateLayers
  private persisted: ModelVersion
  /** What a version must stand on to be answered whole: the persisted version, or the one being written. */
  private line: ModelVersion
  private readonly live: LiveVersion[] = []

  constructor(seed: number, bytesMax: number) {
    this.prng = new Prng(seed)
    const shape: KeyShape = this.prng.pick(KEY_SHAPES)
    const keyCount = bytesMax > 2 ** 20 ? this.prng.between(1, 8) : 40
    this.where = `seed ${seed}, keys ${shape}`
    this.source = new DeltaSource(this.prng, shape, keyCount)
    this.layers = new StateLayers({ persisted: this.base, bytesMax })
    const state: ModelState = new Map()
    const delta = { accounts: [], codes: [] }
    this.persisted = { parent: undefined, number: 0, baseNumber: 0, delta, state }
    this.line = this.persisted
    this.live.push({ real: this.layers.open(), model: this.persisted })
  }

  step(): void {
    const { prng, live } = this
    if (live.length === 0) live.push({ real: this.layers.open(), model: this.persisted })
    const version = prng.pick(live)
    const choice = prng.below(20)
    if (choice < 8) this.apply(prng.oneIn(2) ? version : live.at(-1)!)
    else if (choice < 9) live.push({ real: version.real.fork(), model: version.model })
    else if (choice < 13) this.compareReads(version)
    else if (choice < 16) this.compareDiff(prng.pick(live), version)
    else if (choice < 17) this.persist(prng.oneIn(2) ? version : live[0]!)
    else if (choice < 18) this.comparePersistedDiff(version)
    else this.release(prng.below(live.length))
    while (live.length > LIVE_COUNT_MAX) this.release(prng.below(live.length))
  }

  finish(): void {
    for (const version of this.live) this.compareReads(version)
    while (this.live.length > 0) this.release(0)
    const { layerCount, usedBytes, codeBytes } = this.layers.status
    assert.deepEqual({ layerCount, usedBytes, codeBytes }, NOTHING_USED, this.where)
    this.layers.close()
    const { reservedBytes } = this.layers.status
    assert.equal(this.layers.tree.trim(), reservedBytes, this.where)
    assert.equal(this.layers.status.reservedBytes, 0, this.where)
  }

  private count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1
  }

  private apply({ real, model }: LiveVersion): void {
    const delta = this.source.next(model.state)
    const before = this.layers.status
    try {
      const next: ModelVersion = {
        parent: model,
        number: model.number + 1,
        baseNumber: this.persisted.number,
        delta: completeDelta(delta, modelView(model.state)),
        state: modelApply(model.state, delta),
      }
      this.live.push({ real: real.apply(delta, next.number), model: next })
      for (const { codeHash, code } of delta.codes) this.base.codes.set(hashKey(codeHash), code)
      this.count('apply')
    } catch (error) {
      const isFull = isVarveError(error, 'ARENA_CHUNKS_FULL')
      if (!isFull && !this.isOvertaken(error, model)) throw error
      // Less where the view followed the persisted version before it ran into the limit.
      assert(this.layers.status.usedBytes <= before.usedBytes, this.where)
      assert(this.layers.status.codeBytes <= before.codeBytes, this.where)
      this.count(isFull ? 'full' : 'overtaken')
    }
  }

  /** Whether the fault is the one of a version that does not stand on the persisted one. */
  private isOvertaken(error: unknown, model: ModelVersion): boolean {
    return isVarveError(error, 'STATE_VIEW_OVERTAKEN') && !descends(model, this.line)
  }

  private compareReads({ real, model }: LiveVersion): void {
    this.count(descends(model, this.persisted) ? 'read' : 'readBeside')
    assert.equal(real.version, model.number, this.where)
    assert.deepEqual(real.usage, modelUsage(model.state), this.where)
    for (const addressHash of this.source.addresses) {
      const expected = model.state.get(hashKey(addressHash))
      this.ask(model, () => {
        assert.deepEqual(real.account(addressHash), expected?.account, this.where)
        const account = real.account(addressHash)
        if (account !== undefined) real.code(account.codeHash)
      })
      this.ask(model, () =>
        assert.equal(real.hasStorage(addressHash), (expected?.slots.size ?? 0) > 0, this.where),
      )
      for (const slotHash of this.source.slots)
        this.ask(model, () =>
          assert.deepEqual(
            real.storage(addressHash, slotHash),
            expected?.slots.get(hashKey(slotHash)),
            this.where,
          ),
        )
      this.ask(model, () => {
        const slots = [...real.slots(addressHash)].map(
          ({ slotHash, value }) => [hashKey(slotHash), value] as const,
        )
        const byKey = (a: readonly [string, unknown], b: readonly [string, unknown]) =>
          a[0] < b[0] ? -1 : 1
        const expectedSlots = [...(expected?.slots ?? [])]
        assert.deepEqual(slots.sort(byKey), expectedSlots.sort(byKey), this.where)
      })
    }
  }

  private ask(model: ModelVersion, question: () => void): void {
    try {
      question()
    } catch (error) {
      if (!this.isOvertaken(error, model)) throw error
      this.count('overtaken')
    }
  }

  private compareDiff(older: LiveVersion, newer: LiveVersion): void {
    const isLegal =
      descends(newer.model, older.model) && older.model.number >= newer.model.baseNumber
    if (!isLegal) {
      assert.throws(
        () => newer.real.diffSince(older.real),
        (error) => isVarveError(error, 'STATE_VIEW_ILLEGAL'),
        this.where,
      )
      this.count('illegal')
      return
    }
    const deltas = deltasBetween(older.model, newer.model)
    const diff = newer.real.diffSince(older.real)
    assert.deepEqual(diff, modelMerge(deltas), this.where)
    assert.deepEqual(modelApply(older.model.state, diff), newer.model.state, this.where)
    // A complete delta leads back, too.
    assert.deepEqual(
      modelApply(newer.model.state, invertDelta(diff)),
      older.model.state,
      this.where,
    )
    const shards = Array.from({ length: SHARD_COUNT }, (_, shard) =>
      newer.real.diffSince(older.real, shard),
    )
    assert.deepEqual(
      shards.flatMap(({ accounts }) => accounts),
      diff.accounts,
      this.where,
    )
    assert.deepEqual(
      shards.flatMap(({ codes }) => codes),
      diff.codes,
      this.where,
    )
    this.count(deltas.length > 1 ? 'diffMany' : 'diff')
  }

  private comparePersistedDiff({ real, model }: LiveVersion): void {
    this.ask(model, () => {
      const deltas = real.deltasSincePersisted()
      const expected = deltasBetween(this.persisted, model)
      assert.deepEqual(
        deltas,
        expected.map((delta) => modelMerge([delta])),
        this.where,
      )
      assert.deepEqual(real.diffSincePersisted(), modelMerge(expected), this.where)
      this.count('diffPersisted')
    })
  }

  private persist({ real, model }: LiveVersion): void {
    if (!descends(model, this.persisted)) {
      assert.throws(
        () => this.layers.markPersisted(real),
        (error) => isVarveError(error, 'STATE_PERSIST_ORDER'),
        this.where,
      )
      this.count('persistRefused')
      return
    }
    if (this.prng.oneIn(2)) this.writeBeside({ real, model })
    this.base.state = model.state
    this.layers.markPersisted(real)
    this.persisted = model
    this.line = model
    this.count('persist')
    // Most of what was left behind goes, so that the rest of the run is about what stands on the persisted version.
    for (let index = this.live.length - 1; index >= 0; index--)
      if (!descends(this.live[index]!.model, model) && !this.prng.oneIn(8)) this.release(index)
  }

  /** A write that takes its time: versions are read and made while the store is as it was, and as it will be. */
  private writeBeside({ real, model }: LiveVersion): void {
    const before = this.base.state
    this.layers.announcePersist(real)
    this.line = model
    for (let step = 0; step < 4; step++) {
      this.base.state = step < 2 ? before : model.state
      const version = this.prng.pick(this.live)
      if (this.prng.oneIn(2)) this.compareReads(version)
      else this.apply(version)
    }
    const isOutOfOrder = (error: unknown) => isVarveError(error, 'STATE_PERSIST_ORDER')
    assert.throws(() => this.layers.announcePersist(real), isOutOfOrder, this.where)
    this.count('writeBeside')
    if (!this.prng.oneIn(4)) return
    this.base.state = before
    this.layers.cancelPersist()
    this.line = this.persisted
    this.compareReads(this.prng.pick(this.live))
    this.count('writeCancelled')
  }

  private release(index: number): void {
    const [version] = this.live.splice(index, 1)
    const { real } = version!
    real.release()
    const isReleased = (error: unknown) => isVarveError(error, 'STATE_LAYER_RELEASED')
    assert.throws(() => real.account(this.source.addresses[0]!), isReleased, this.where)
    assert.throws(() => real.fork(), isReleased, this.where)
    assert.throws(() => real.release(), isReleased, this.where)
    this.count('release')
  }
}

const NOTHING_USED = { layerCount: 0, usedBytes: 0, codeBytes: 0 }

function descends(model: ModelVersion, ancestor: ModelVersion): boolean {
  let at: ModelVersion | undefined = model
  while (at !== undefined && at.number > ancestor.number) at = at.parent
  return at === ancestor
}

function deltasBetween(older: ModelVersion, newer: ModelVersion): StateDelta[] {
  const deltas: StateDelta[] = []
  for (let at = newer; at !== older; at = at.parent!) deltas.push(at.delta)
  return deltas.reverse()
}

function soakLayers(seed: number, layerCount: number): Record<string, number> {
  const prng = new Prng(seed)
  const addresses = makeKeys(prng, 'spread', 6)
  const layers = new StateLayers({ persisted: new ModelBase() })
  const kept: LayeredState[] = [layers.open()]
  let reservedMax = 0
  for (let count = 0; count < layerCount; count++) {
    const parent = prng.pick(kept)
    kept.push(parent.apply(credit(parent, prng.pick(addresses))))
    if (kept.length > 50) for (const state of kept.splice(1, 49)) state.release()
    if (count === Math.floor(layerCount / 10)) reservedMax = layers.status.reservedBytes
  }
  const { reservedBytes } = layers.status
  assert(
    reservedBytes <= Math.max(2 * reservedMax, 2 ** 20),
    `seed ${seed}: ${reservedBytes} bytes`,
  )
  for (const state of kept) state.release()
  assert.equal(layers.status.usedBytes, 0, `seed ${seed}`)
  assert.equal(layers.status.layerCount, 0, `seed ${seed}`)
  return { layers: layerCount, reservedBytes, isVerifying: VERIFY ? 1 : 0 }
}

/** Adds one wei to an account. */
function credit(state: LayeredState, addressHash: Uint8Array): StateDelta {
  const before = state.account(addressHash)
  const { nonce, balance, codeHash } = before ?? EMPTY_ACCOUNT
  const after = { nonce, balance: balance + 1n, codeHash }
  return {
    accounts: [{ addressHash, before, after, storageCleared: false, slots: [] }],
    codes: [],
  }
}
