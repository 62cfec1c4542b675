/**
 * Aim: applying `earlier` and then the way between leads where `later` leads. Method: random runs of changes over a
 * random state of few accounts and slots, so that everything is created, changed back, deleted and made again.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesCompare, EMPTY_CODE_HASH, toBareHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import type { Account } from './account.ts'
import { type AccountChange, type SlotChange, type StateDelta, sealDelta } from './delta.ts'
import { deltaBetween } from './deltaBetween.ts'

const ACCOUNT_COUNT = 3
const SLOT_COUNT = 3

/** Slots that are not zero, by number. */
type ModelAccount = { balance: bigint; slots: Map<number, bigint> }
type Model = Map<number, ModelAccount>

const hashOf = (number: number) => new Uint8Array(32).fill(number + 1)
const bytesOf = (value: bigint | undefined) =>
  value === undefined ? undefined : new Uint8Array(32).fill(Number(value))
const accountOf = (account: ModelAccount | undefined): Account | undefined =>
  account && { nonce: 0n, balance: account.balance, codeHash: EMPTY_CODE_HASH }

function copy(model: Model): Model {
  return new Map(
    [...model].map(([number, { balance, slots }]) => [number, { balance, slots: new Map(slots) }]),
  )
}

/** One random step; remembers in `cleared` which accounts lost their slots. */
function step(model: Model, cleared: Set<number>, prng: Prng): void {
  const number = prng.below(ACCOUNT_COUNT)
  const account = model.get(number)
  if (account === undefined) {
    model.set(number, { balance: BigInt(prng.below(3)), slots: new Map() })
    return
  }
  if (prng.below(4) === 0) {
    model.delete(number)
    cleared.add(number)
    return
  }
  account.balance = BigInt(prng.below(3))
  const value = prng.below(3)
  const slot = prng.below(SLOT_COUNT)
  if (value === 0) account.slots.delete(slot)
  else account.slots.set(slot, BigInt(value))
}

/** As a block's write set: net changes only, and a clear where the account had been there before. */
function deltaOf(base: Model, now: Model, cleared: ReadonlySet<number>): StateDelta {
  const changes: AccountChange[] = []
  for (let number = 0; number < ACCOUNT_COUNT; number++) {
    const before = base.get(number)
    const after = now.get(number)
    const storageCleared = cleared.has(number) && before !== undefined
    const slots: SlotChange[] = []
    for (let slot = 0; slot < SLOT_COUNT; slot++) {
      const old = storageCleared ? undefined : before?.slots.get(slot)
      const value = after?.slots.get(slot)
      if (old === value || after === undefined) continue
      slots.push({ slotHash: hashOf(slot), before: bytesOf(old), after: bytesOf(value) })
    }
    changes.push({
      addressHash: hashOf(number),
      before: accountOf(before),
      after: accountOf(after),
      storageCleared,
      slots,
    })
  }
  return sealDelta(changes)
}

/** Applies a delta to a model, and checks that what it says of before is so. */
function apply(model: Model, delta: StateDelta): void {
  for (const { addressHash, before, after, storageCleared, slots } of delta.accounts) {
    const number = addressHash[0]! - 1
    const account = model.get(number)
    assert.deepEqual(accountOf(account), before)
    if (after === undefined) {
      model.delete(number)
      continue
    }
    const next = { balance: after.balance, slots: new Map(storageCleared ? [] : account?.slots) }
    slots.forEach(({ slotHash, before: old, after: value }, index) => {
      const previous = slots[index - 1]
      assert.ok(previous === undefined || bytesCompare(previous.slotHash, slotHash) < 0)
      const slot = slotHash[0]! - 1
      if (!storageCleared) assert.deepEqual(old, bytesOf(next.slots.get(slot)))
      if (value === undefined) next.slots.delete(slot)
      else next.slots.set(slot, BigInt(value[0]!))
    })
    model.set(number, next)
  }
}

function textOf(model: Model): string {
  const lines = [...model].map(
    ([number, { balance, slots }]) =>
      `${toBareHex(hashOf(number))} ${balance} ${JSON.stringify([...slots].map(String).sort())}`,
  )
  return lines.sort().join('\n')
}

test('earlier and the way between lead where later leads', () => {
  const prng = new Prng(7)
  for (let round = 0; round < 3000; round++) {
    const base: Model = new Map()
    for (let count = 0; count < 8; count++) step(base, new Set(), prng)
    const now = copy(base)
    const cleared = new Set<number>()
    for (let count = 0; count < 4; count++) step(now, cleared, prng)
    const earlier = deltaOf(base, now, cleared)
    for (let count = 0; count < 4; count++) step(now, cleared, prng)
    const later = deltaOf(base, now, cleared)
    const found = copy(base)
    apply(found, earlier)
    apply(found, deltaBetween(earlier, later))
    assert.equal(textOf(found), textOf(now), `round ${round}`)
  }
})
