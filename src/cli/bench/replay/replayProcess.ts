/** Entry of an arm's process: one database that grows segment by segment, and stands still in between. */
import { toHex } from '../../../base/index.ts'
import {
  type Engine,
  type EngineObserver,
  openEngine,
  type Pipeline,
  SenderPool,
  type SentBlock,
} from '../../../engine/index.ts'
import { genesisOf, openChainFile } from '../../chainFiles.ts'
import { BATCH_MS, openDatabase, type WritableDatabase } from '../../database.ts'
import { thisMachine } from '../machine.ts'
import type {
  BlockTimes,
  ReplayReply,
  ReplayRequest,
  SegmentTimes,
  WriteTimes,
} from './messages.ts'

class ReplayArm {
  private blockTimes: BlockTimes[] = []
  private writeTimes: WriteTimes[] = []
  private readonly database: WritableDatabase
  private readonly pool = new SenderPool()
  private engine!: Engine
  private pipeline: Pipeline | undefined
  private source!: AsyncIterator<SentBlock>

  private constructor(database: WritableDatabase) {
    this.database = database
  }

  static async open({
    files,
    genesis: name,
    folder,
    config,
  }: Extract<ReplayRequest, { kind: 'open' }>): Promise<ReplayArm> {
    const { sync, isPipelined, label: _, revision: __, ...options } = config
    const inputs = files.map(openChainFile)
    const genesis = await genesisOf(name, inputs, true)
    const database = openDatabase(folder, sync)
    const arm = new ReplayArm(database)
    const { store, journal } = database
    arm.engine = await openEngine({
      ...{ store, journal, batchMilliseconds: BATCH_MS, observer: arm.observer(), ...options },
      ...(genesis === undefined ? {} : { genesis }),
    })
    arm.pipeline = isPipelined ? arm.engine.pipeline() : undefined
    arm.source = arm.blocksOf(files)
    return arm
  }

  private get headNumber(): number {
    return this.engine.head.header.number
  }

  private observer(): EngineObserver {
    return {
      onBlock: ({ block, totalMs, phases: { execute, root } }) => {
        const { number } = block.header
        this.blockTimes.push({ number, totalMs, executeMs: execute, rootMs: root })
      },
      onWrite: ({ number, blockCount, accountCommitMs, storageCommitMs, storeMs }) => {
        this.writeTimes.push({ number, blockCount, accountCommitMs, storageCommitMs, storeMs })
      },
    }
  }

  /** Blocks of all files behind the head, with their senders. */
  private async *blocksOf(files: readonly string[]): AsyncGenerator<SentBlock, void> {
    for (const file of files) {
      const source = openChainFile(file).open()
      const from = Math.max(this.headNumber + 1, source.firstNumber)
      if (from <= source.lastNumber) yield* this.pool.withSenders(source.blocks(from))
      source.close()
    }
  }

  /** Every segment ends with its writes done: no arm works on while another one is timed. */
  async segment(blockCount: number): Promise<SegmentTimes> {
    this.blockTimes = []
    this.writeTimes = []
    const fromNumber = this.headNumber
    const start = performance.now()
    for (let index = 0; index < blockCount; index++) {
      const { done, value } = await this.source.next()
      if (done === true)
        throw new Error(`expected ${blockCount - index} blocks more, got the end of the files`)
      if (this.pipeline === undefined) this.engine.import(value.block, value.senders)
      else {
        const { accepted } = await this.pipeline.push(value.block, value.senders)
        // A block that is refused fails the next call.
        accepted.catch(() => undefined)
      }
    }
    if (this.pipeline === undefined) this.engine.flush()
    else await this.pipeline.flush()
    const seconds = (performance.now() - start) / 1000
    const { number, hash } = this.engine.head.header
    const { blockTimes: blocks, writeTimes: writes } = this
    return { seconds, fromNumber, head: { number, hash: toHex(hash) }, blocks, writes }
  }

  async close(): Promise<void> {
    await this.source.return?.(undefined)
    await this.pipeline?.close()
    await this.pool.close()
    this.database.close()
  }
}

let arm: ReplayArm | undefined

async function answer(request: ReplayRequest): Promise<ReplayReply> {
  switch (request.kind) {
    case 'open':
      arm = await ReplayArm.open(request)
      return { kind: 'opened', machine: thisMachine() }
    case 'segment':
      return { kind: 'segment', times: await arm!.segment(request.blockCount) }
    case 'close':
      await arm?.close()
      return { kind: 'closed' }
  }
}

// Whoever asked has gone; the folder is theirs.
process.once('disconnect', () => process.exit(1))

process.on('message', (message) => {
  const request = message as ReplayRequest
  void answer(request)
    .catch((error: unknown): ReplayReply => {
      const text = error instanceof Error ? error.message : String(error)
      return { kind: 'fault', text }
    })
    .then((reply) => {
      process.send!(reply, () => {
        if (reply.kind === 'closed' || reply.kind === 'fault') process.exit(0)
      })
    })
})
