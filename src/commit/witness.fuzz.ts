/**
 * Random states and blocks of changes over them. The naive model is the whole state: its summary, with all nodes in
 * memory, and its values in maps. Each round reads and changes at random, makes the witness, and does the same over
 * the witness alone: reads, and the root after the changes, must be the whole state's. Then the witness is damaged: a
 * node dropped, a byte changed, nodes swapped. It must lead to a refusal by code, or to the very same answers.
 */
import assert from 'node:assert/strict'
import { bytesEqual, EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, isVarveError } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import {
  type Account,
  type AccountChange,
  type HashKey,
  hashKey,
  hashOfKey,
  type SlotChange,
  type StateDelta,
  type StateView,
  sealDelta,
} from '../state/index.ts'
import { memoryStore } from '../store/index.ts'
import { Prng } from '../testing/index.ts'
import { storedNodes } from './nodeReaders.ts'
import { StateSummary } from './stateSummary.ts'
import { SummaryView } from './summaryView.ts'
import { WitnessRecorder } from './witnessRecorder.ts'
import { openWitnessState, type WitnessPreimages } from './witnessState.ts'

/** What a damaged witness may be refused by. */
const REFUSALS = [
  'WITNESS_NODE_MISSING',
  'WITNESS_CODE_MISSING',
  'TRIE_NODE_INVALID',
  'SUMMARY_LEAF_INVALID',
]

const CODES = [1, 2, 3].map((byte) => new Uint8Array(40).fill(byte))
/** Few keys, so that tries are small and changes meet: most nodes are on somebody's way. */
const ACCOUNT_COUNT = 40
const SLOT_COUNT = 24

/** Runs rounds; throws at the first difference. Returns counts that show what was exercised. */
export function fuzzWitness(seed: number, stepCount: number): Record<string, number> {
  const fuzz = new WitnessFuzz(new Prng(seed))
  for (let step = 0; step < stepCount; step++) fuzz.step()
  return fuzz.counts
}

type Model = { account: Account; slots: Map<HashKey, Uint8Array> }

class WitnessFuzz {
  readonly counts = { nodes: 0, refused: 0, harmless: 0, cleared: 0 }
  private readonly prng: Prng
  private readonly summary = new StateSummary(storedNodes(memoryStore()), EMPTY_TRIE_ROOT)
  private readonly model = new Map<HashKey, Model>()

  constructor(prng: Prng) {
    this.prng = prng
  }

  step(): void {
    const root = this.summary.root()
    const whole = new SummaryView(this.summary, codeOf)
    const recorder = new WitnessRecorder(whole, this.summary.nodes(), root)
    const reads = this.randomReads()
    const answers = readAll(recorder.view, reads)
    const delta = this.randomDelta()
    const after = new StateSummary(recorder.nodes, root).update(delta)
    const witness = recorder.finish()
    assert.deepEqual(this.summary.root(), root, 'recording changes nothing')
    assert.deepEqual(this.summary.update(delta), after)
    assert.deepEqual(replay(root, witness, reads, delta), { answers, after })
    this.counts.nodes += witness.state.length
    for (let round = 0; round < 8; round++) {
      const damaged = this.damage(witness)
      if (damaged === undefined) continue
      this.checkDamaged(() => replay(root, damaged, reads, delta), { answers, after })
    }
  }

  private checkDamaged(work: () => unknown, expected: unknown): void {
    let found: unknown
    try {
      found = work()
    } catch (error) {
      assert.ok(isVarveError(error) && REFUSALS.includes(error.code), String(error))
      this.counts.refused++
      return
    }
    assert.deepEqual(found, expected)
    this.counts.harmless++
  }

  private damage(witness: WitnessPreimages): WitnessPreimages | undefined {
    const { prng } = this
    const lists = { state: witness.state.slice(), codes: witness.codes.slice() }
    const list = prng.below(4) > 0 ? lists.state : lists.codes
    if (list.length === 0) return undefined
    const index = prng.below(list.length)
    const choice = prng.below(4)
    if (choice === 0) list.splice(index, 1)
    else if (choice === 1) list[index] = flipped(list[index]!, prng)
    else if (choice === 2) list.reverse()
    else list.push(prng.bytes(prng.below(80)))
    return lists
  }

  private randomReads(): Reads {
    const { prng } = this
    return Array.from({ length: prng.below(12) }, () => ({
      addressHash: this.anyAddress(),
      slotHashes: Array.from({ length: prng.below(4) }, () => slotOf(prng.below(SLOT_COUNT))),
    }))
  }

  private anyAddress(): Uint8Array {
    return keccak256(Uint8Array.of(this.prng.below(ACCOUNT_COUNT)))
  }

  /** Changes of some accounts; the model follows. */
  private randomDelta(): StateDelta {
    const changes = new Map<HashKey, AccountChange>()
    for (let count = this.prng.below(10); count > 0; count--) {
      const key = hashKey(this.anyAddress())
      if (!changes.has(key)) changes.set(key, this.randomChange(key))
    }
    return sealDelta([...changes.values()])
  }

  private randomChange(key: HashKey): AccountChange {
    const { prng } = this
    const addressHash = hashOfKey(key)
    const old = this.model.get(key)
    const before = old?.account
    const storageCleared = old !== undefined && prng.below(10) === 0
    if (storageCleared) this.counts.cleared++
    if (storageCleared && prng.below(2) === 0) {
      this.model.delete(key)
      return { addressHash, before, after: undefined, storageCleared, slots: [] }
    }
    const code = CODES[prng.below(6)]
    const after = {
      nonce: BigInt(prng.below(1000)),
      balance: prng.bigint(prng.below(100)),
      codeHash: code === undefined ? EMPTY_CODE_HASH : keccak256(code),
    }
    const held = storageCleared || old === undefined ? new Map<HashKey, Uint8Array>() : old.slots
    const slots = this.randomSlots(held)
    this.model.set(key, { account: after, slots: held })
    return { addressHash, before, after, storageCleared, slots }
  }

  /** Changes of slots, put into `held` as well. */
  private randomSlots(held: Map<HashKey, Uint8Array>): SlotChange[] {
    const { prng } = this
    const slots = new Map<HashKey, SlotChange>()
    for (let count = prng.below(8); count > 0; count--) {
      const slotHash = slotOf(prng.below(SLOT_COUNT))
      const key = hashKey(slotHash)
      if (slots.has(key)) continue
      const before = held.get(key)
      const after = prng.below(2) === 0 ? undefined : this.randomValue()
      if (before === undefined && after === undefined) continue
      slots.set(key, { slotHash, before, after })
      if (after === undefined) held.delete(key)
      else held.set(key, after)
    }
    return [...slots.values()].sort((a, b) => (hashKey(a.slotHash) < hashKey(b.slotHash) ? -1 : 1))
  }

  private randomValue(): Uint8Array {
    const value = new Uint8Array(32)
    const byteCount = this.prng.between(1, 32)
    value.set(this.prng.bytes(byteCount), 32 - byteCount)
    value[31]! |= 1
    return value
  }
}

type Reads = readonly {
  readonly addressHash: Uint8Array
  readonly slotHashes: readonly Uint8Array[]
}[]

function slotOf(index: number): Uint8Array {
  return keccak256(Uint8Array.of(1, index))
}

function codeOf(codeHash: Uint8Array): Uint8Array {
  const code = CODES.find((bytes) => bytesEqual(keccak256(bytes), codeHash))
  assert.ok(code !== undefined)
  return code
}

/** Everything that a view can be asked, of each account read. */
function readAll(view: StateView, reads: Reads): unknown[] {
  return reads.map(({ addressHash, slotHashes }) => {
    const account = view.account(addressHash)
    return {
      account: account && [account.nonce, account.balance, account.codeHash],
      code: account && view.code(account.codeHash),
      hasStorage: view.hasStorage(addressHash),
      slots: slotHashes.map((slotHash) => view.storage(addressHash, slotHash)),
    }
  })
}

function replay(root: Uint8Array, witness: WitnessPreimages, reads: Reads, delta: StateDelta) {
  const { view, summary } = openWitnessState(root, witness)
  const answers = readAll(view, reads)
  return { answers, after: summary.update(delta) }
}

function flipped(bytes: Uint8Array, prng: Prng): Uint8Array {
  const copy = bytes.slice()
  if (copy.length > 0) copy[prng.below(copy.length)]! ^= 1 << prng.below(8)
  return copy
}
