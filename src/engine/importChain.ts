/**
 * Imports a file into an engine: checks it whole, ties it to the chain, and hands its blocks over one by one. Stops
 * cleanly when asked to; a later call goes on where the store stands.
 */
import { bytesEqual, toHex, VarveError } from '../base/index.ts'
import type { Block } from '../codec/index.ts'
import type { BlockSource } from './blockSource.ts'
import type { Engine } from './engine.ts'
import { Pacer } from './pacer.ts'
import type { Pipeline, Pushed } from './pipeline/pipeline.ts'
import { SenderPool } from './senders/senderPool.ts'

/** Milliseconds of work between two looks at the event loop, so that signals and timers are served. */
const SLICE_MS = 40

export type ImportOptions = {
  /** Last block to import; without it the file's last. */
  readonly to?: number
  /** Told about every block; keep it cheap. */
  readonly onProgress?: (progress: ImportProgress) => void
  /** Stops after the block at hand; what was accepted is written. */
  readonly signal?: AbortSignal
  /** Whether roots and writes are made beside the execution (`Engine.pipeline`). */
  readonly isPipelined?: boolean
}

/** Where an import is. `done` of `total` blocks of this stage. */
export type ImportProgress = {
  readonly stage: 'check' | 'import'
  readonly done: number
  readonly total: number
  /** Number of the block just done. */
  readonly number: number
  /** Gas of the blocks imported so far; 0 during the check. */
  readonly gasUsed: bigint
}

export type ImportResult = {
  /** Blocks that this call imported. */
  readonly blockCount: number
  /** Gas of these blocks. */
  readonly gasUsed: bigint
  /** Whether the signal ended it early. */
  readonly isStopped: boolean
}

/**
 * Imports what the engine does not have yet of a file. Everything accepted is in the store when it returns.
 * @throws VarveError IMPORT_* where file and chain do not meet, and whatever the source or a block's rules throw:
 *   blocks before the refused one are then in the store
 */
export async function importChain(
  engine: Engine,
  source: BlockSource,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const last = Math.min(source.lastNumber, options.to ?? source.lastNumber)
  checkOverlap(engine, source)
  const from = engine.head.header.number + 1
  if (from > last) {
    engine.flush()
    return { blockCount: 0, gasUsed: 0n, isStopped: false }
  }
  const pacer = new Pacer(SLICE_MS)
  const isStopped = () => options.signal?.aborted === true
  const checkStart = performance.now()
  await checkSource(source, pacer, options)
  engine.clock.book('decode', performance.now() - checkStart)
  if (isStopped()) return { blockCount: 0, gasUsed: 0n, isStopped: true }
  const run = new ImportRun(engine, options, last - from + 1)
  const senderPool = new SenderPool()
  try {
    for await (const { block, senders } of senderPool.withSenders(source.blocks(from))) {
      if (block.header.number > last || isStopped()) break
      await run.add(block, senders)
      if (pacer.isDue) await pacer.rest()
    }
    await run.finish()
  } finally {
    await senderPool.close()
    await run.close()
  }
  const { blockCount, gasUsed } = run
  return { blockCount, gasUsed, isStopped: isStopped() }
}

/** Hands blocks to the engine, or to a pipeline over it, and counts what was accepted. */
class ImportRun {
  blockCount = 0
  gasUsed = 0n
  private readonly engine: Engine
  private readonly pipeline: Pipeline | undefined
  private readonly onProgress: ImportOptions['onProgress']
  private readonly total: number
  private refusal: unknown

  constructor(engine: Engine, { onProgress, isPipelined }: ImportOptions, total: number) {
    this.engine = engine
    this.onProgress = onProgress
    this.total = total
    this.pipeline = isPipelined === true ? engine.pipeline() : undefined
  }

  /** @throws VarveError of a rule that this block breaks, or one before it whose root came late */
  async add(block: Block, senders: readonly Uint8Array[] | undefined): Promise<void> {
    if (this.pipeline === undefined) {
      this.engine.import(block, senders)
      this.count(block)
      return
    }
    let pushed: Pushed
    try {
      pushed = await this.pipeline.push(block, senders)
    } catch (error) {
      // Where a block before was refused, that is the reason.
      throw this.refusal ?? error
    }
    pushed.accepted.then(
      () => this.count(block),
      (error: unknown) => {
        this.refusal ??= error
      },
    )
    if (this.refusal !== undefined) throw this.refusal
  }

  /** Waits for the last word on every block. @throws as `add` */
  async finish(): Promise<void> {
    await this.pipeline?.drain()
    if (this.refusal !== undefined) throw this.refusal
  }

  /** Writes what was accepted. */
  async close(): Promise<void> {
    if (!this.engine.isUsable) return
    if (this.pipeline === undefined) this.engine.flush()
    else await this.pipeline.close()
  }

  private count({ header: { number, gasUsed } }: Block): void {
    this.blockCount++
    this.gasUsed += gasUsed
    const { blockCount: done, total } = this
    this.onProgress?.({ stage: 'import', done, total, number, gasUsed: this.gasUsed })
  }
}

/** Runs the source's check to its end, or until the signal. */
async function checkSource(
  source: BlockSource,
  pacer: Pacer,
  options: ImportOptions,
): Promise<void> {
  const total = source.lastNumber - source.firstNumber + 1
  let done = 0
  for (const number of source.check()) {
    done++
    options.onProgress?.({ stage: 'check', done, total, number, gasUsed: 0n })
    if (pacer.isDue) await pacer.rest()
    if (options.signal?.aborted === true) return
  }
}

/** The file must hold the engine's head, or start right behind it, and be of the same chain. */
function checkOverlap(engine: Engine, source: BlockSource): void {
  const { header } = engine.head
  const { path, firstNumber, lastNumber } = source
  if (firstNumber > header.number + 1)
    throw new VarveError(
      'IMPORT_GAP',
      `${path}: expected blocks from ${header.number + 1} on, as the head is at ${header.number}; got the first ${firstNumber}`,
      { path, expected: header.number + 1, found: firstNumber },
    )
  // The newest block that both know: the head, or the file's last one where the database is ahead of it.
  const number = Math.min(header.number, lastNumber)
  const [file, chain] =
    firstNumber > header.number
      ? [source.headerAt(firstNumber).parentHash, header.hash]
      : [source.headerAt(number).hash, engine.canonicalHash(number)]
  if (chain !== undefined && bytesEqual(file, chain)) return
  throw new VarveError(
    'IMPORT_CHAIN_MISMATCH',
    `${path}: block ${number}: expected hash ${chain === undefined ? 'none' : toHex(chain)}, ${number === 0 ? 'as the genesis makes it' : 'as in the database'}, got ${toHex(file)}`,
    { path, number, expected: chain === undefined ? undefined : toHex(chain), found: toHex(file) },
  )
}

/** Error codes of this module. */
export type ImportErrorCode =
  /** The file starts behind the block after the head. */
  | 'IMPORT_GAP'
  /** The file and the database hold different blocks at the same height. */
  | 'IMPORT_CHAIN_MISMATCH'
