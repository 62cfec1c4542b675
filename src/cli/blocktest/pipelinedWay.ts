/**
 * Blocks of a test through a pipeline, and afterwards through an engine without one: answers, head and every row of the
 * store must be the same. With a seed, every stage is late at random, and so is whoever hands blocks over.
 */
import { bytesEqual, isVarveError, toHex } from '../../base/index.ts'
import type { Block } from '../../codec/index.ts'
import { delayedStages, type Engine, type Pipeline } from '../../engine/index.ts'
import { Prng } from '../../measure/index.ts'
import { memoryStore, type Store, TABLES } from '../../store/index.ts'
import { asFault, type BlockWay, type Fault, importFault } from './blockWay.ts'

export type PipelinedWayOptions = {
  /** Where the pipelined chain lies. */
  readonly store: Store
  /** Opens the same chain elsewhere. */
  openAnew(store: Store): Promise<Engine>
  /** Of the delays; none without it. */
  readonly seed: number | undefined
  /** Stores up to this size are compared row by row. */
  readonly comparedBytesMax: number
}

type Handed = { readonly block: Block; fault: Promise<Fault> }

/** Longest delay in turns of the event loop, and, of one in so many, in milliseconds: a timer takes one at least. */
const TURNS_MAX = 3
const ONE_TIMER_IN = 16
const TIMER_MS_MAX = 3

export class PipelinedWay implements BlockWay {
  private readonly options: PipelinedWayOptions
  private readonly engine: Engine
  private readonly pipeline: Pipeline
  private readonly handed: Handed[] = []
  private readonly wait: () => Promise<void>

  constructor(engine: Engine, options: PipelinedWayOptions) {
    this.engine = engine
    this.options = options
    const { seed } = options
    this.wait = seed === undefined ? async () => undefined : randomDelay(new Prng(seed))
    this.pipeline = engine.pipeline({
      // Tests are short: each block that can goes through the stages.
      inlineBlocksAfterSwitch: 0,
      ...(seed === undefined ? {} : { through: (stages) => delayedStages(stages, this.wait) }),
    })
  }

  async hand(block: Block): Promise<number> {
    await this.wait()
    return this.handed.push({ block, fault: this.settled(await this.push(block)) }) - 1
  }

  async answer(index: number): Promise<Fault> {
    const entry = this.handed[index]!
    const fault = await entry.fault
    // It stood on a block that was refused later. Who hands it over again is told what is wrong by now.
    if (!isVarveError(fault, 'PIPELINE_ANCESTOR_REFUSED')) return fault
    await this.pipeline.drain()
    entry.fault = this.settled(await this.push(entry.block))
    return await this.answer(index)
  }

  async finish(): Promise<string | undefined> {
    const faults: Fault[] = []
    for (const index of this.handed.keys()) faults.push(await this.answer(index))
    await this.pipeline.close()
    return await this.differenceToEngine(faults)
  }

  /** A fault before the root, or the promise of the last word. In an object, so that nobody waits for it by mistake. */
  private async push(block: Block): Promise<{ readonly fault: Promise<Fault> }> {
    try {
      const { accepted } = await this.pipeline.push(block)
      return { fault: accepted.then(() => undefined, asFault) }
    } catch (error) {
      return { fault: Promise.resolve(asFault(error)) }
    }
  }

  private settled({ fault }: { readonly fault: Promise<Fault> }): Promise<Fault> {
    // A bug is met where the answer is asked for, which may be much later.
    fault.catch(() => undefined)
    return fault
  }

  private async differenceToEngine(faults: readonly Fault[]): Promise<string | undefined> {
    const { openAnew, store, comparedBytesMax } = this.options
    const inlineStore = memoryStore()
    const inline = await openAnew(inlineStore)
    for (const [index, { block }] of this.handed.entries()) {
      const expected = codeOf(importFault(block, inline))
      const found = codeOf(faults[index])
      if (found !== expected)
        return `pipeline: block ${block.header.number} (${index}): expected ${expected} as without one, found ${found}`
    }
    const [expected, found] = [inline, this.engine].map(({ head }) => head.header.hash)
    if (!bytesEqual(expected!, found!))
      return `pipeline: expected head ${toHex(expected!)} as without one, found ${toHex(found!)}`
    inline.flush()
    if (bytesOf(store) > comparedBytesMax) return undefined
    return rowDifference(inlineStore, store)
  }
}

function codeOf(fault: Fault): string {
  return fault === undefined ? 'accepted' : fault.code
}

/** Bytes of all rows. */
export function bytesOf(store: Store): number {
  return store.tableStats().reduce((sum, { bytes }) => sum + bytes, 0)
}

/** The first row that two stores do not share, or `undefined`. */
function rowDifference(expected: Store, found: Store): string | undefined {
  for (const table of TABLES) {
    const rows = found.range(table)[Symbol.iterator]()
    for (const { key, value } of expected.range(table)) {
      const { value: row, done } = rows.next()
      if (done === true || !bytesEqual(row.key, key) || !bytesEqual(row.value, value))
        return `pipeline: ${table}: expected the row of ${toHex(key)} as without one, found another or none`
    }
    const { value: row, done } = rows.next()
    if (done !== true) return `pipeline: ${table}: the row of ${toHex(row.key)} is too much`
  }
  return undefined
}

function randomDelay(prng: Prng): () => Promise<void> {
  return async () => {
    if (prng.oneIn(ONE_TIMER_IN)) {
      const milliseconds = prng.between(0, TIMER_MS_MAX)
      await new Promise((resume) => setTimeout(resume, milliseconds))
      return
    }
    for (let turns = prng.between(0, TURNS_MAX); turns > 0; turns--)
      await new Promise((resume) => setImmediate(resume))
  }
}

/** A seed of one test's own, so that its delays do not depend on the tests before it. FNV-1a. */
export function seedOf(seed: number, name: string): number {
  let hash = 0x811c9dc5 ^ seed
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}
