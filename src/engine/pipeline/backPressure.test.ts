/**
 * Aim (A19): behind a store, or a summary, that is slow nothing grows without limit: blocks without roots, blocks and
 * bytes that wait for a write, layers. Method: a stage that answers only once the pipeline has come to a stand, so that
 * every limit is really met; the most that was ever seen is held against it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork } from '../../base/index.ts'
import { parseGenesisJson, singleForkSpec } from '../../chain/index.ts'
import type { StateLayers } from '../../state/index.ts'
import { memoryStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { type EngineOptions, openEngine } from '../engine.ts'
import { addressOf, dumpStore } from '../testChain.suite.ts'
import type { KeptChain } from '../tree/keptChain.ts'
import { verifyStore } from '../verify/verifyStore.ts'
import type { Stages } from './stages.ts'

/** Of the pipeline: blocks that may wait for their roots. */
const ROOTLESS_BLOCKS_MAX = 8
const SLOW_MS = 120

const file = { config: { chainId: 1 }, difficulty: '0x0', gasLimit: '0x1c9c380', alloc: {} }
const genesis = { ...parseGenesisJson(JSON.stringify(file)), spec: singleForkSpec(Fork.Shanghai) }

/** What was seen, at most. */
type Seen = {
  rootless: number
  unwritten: number
  writes: number
  layerBytes: number
  stands: number
}

/** Answers once the pipeline has not moved for `SLOW_MS`. */
class Gate {
  private movedMs = 0
  stands = 0

  move(): void {
    this.movedMs = performance.now()
  }

  async stand(): Promise<void> {
    this.move()
    while (performance.now() - this.movedMs < SLOW_MS)
      await new Promise((resume) => setTimeout(resume, 10))
    this.stands++
  }
}

/**
 * Makes blocks of so many payments to new accounts through a pipeline, and tells what was seen of it.
 * @param slow which stages answer late
 */
async function seenOf(
  blockCount: number,
  paymentCount: number,
  options: Partial<EngineOptions> & { readonly layerBytesMax?: number },
  slow: (stages: Stages, gate: Gate) => Stages,
): Promise<{ seen: Seen; dump: string }> {
  const store = memoryStore()
  const engine = await openEngine({ store, genesis, historyBlocks: 2, ...options })
  const chain = engine['chain'] as KeptChain
  const states = chain['states'] as unknown as { layers: StateLayers; layerBytesMax: number }
  // Less than an engine takes, so that a few blocks fill it.
  states.layerBytesMax = options.layerBytesMax ?? states.layerBytesMax
  const gate = new Gate()
  const seen: Seen = { rootless: 0, unwritten: 0, writes: 0, layerBytes: 0, stands: 0 }
  const at = { executed: 0, rooted: 0, written: 0 }
  let writesUnderWay = 0
  const pipeline = engine.pipeline({
    through: (stages) => {
      const { summary, commit } = slow(stages, gate)
      return {
        summary,
        commit: {
          write: async (work) => {
            seen.writes = Math.max(seen.writes, ++writesUnderWay)
            try {
              return await commit.write(work)
            } finally {
              writesUnderWay--
            }
          },
          close: () => commit.close(),
        },
      }
    },
    onStep: (step, number) => {
      gate.move()
      if (step === 'executed' || step === 'rooted' || step === 'written') at[step] = number
      seen.rootless = Math.max(seen.rootless, at.executed - at.rooted)
      seen.unwritten = Math.max(seen.unwritten, at.executed - at.written)
      seen.layerBytes = Math.max(seen.layerBytes, states.layers.status.usedBytes)
    },
  })
  const prng = new Prng(5)
  for (let number = 1; number <= blockCount; number++) {
    const withdrawals = Array.from({ length: paymentCount }, () => ({
      ...{ index: 0n, validatorIndex: 0n, address: prng.bytes(20), amount: 1n },
    }))
    await pipeline.produce({ coinbase: addressOf(1), timestamp: BigInt(number), withdrawals })
  }
  await pipeline.close()
  seen.stands = gate.stands
  assert.deepEqual([...verifyStore(store)], [])
  assert.equal(engine.head.header.number, blockCount)
  return { seen, dump: dumpStore(store) }
}

const slowCommit = ({ summary, commit }: Stages, gate: Gate): Stages => ({
  summary,
  commit: {
    write: async (work) => {
      await gate.stand()
      return await commit.write(work)
    },
    close: () => commit.close(),
  },
})

test('A19: behind a slow store blocks wait: as many as a write holds, and those without roots', async () => {
  const batchBlockCount = 10
  const { seen, dump } = await seenOf(60, 3, { batchBlockCount }, slowCommit)
  assert.equal(seen.writes, 1, 'one write at a time')
  assert(seen.stands >= 2, `the pipeline stood still ${seen.stands} times`)
  // One batch is being written, one waits, and what was executed when that became full.
  const limit = 2 * (batchBlockCount + ROOTLESS_BLOCKS_MAX)
  assert(seen.unwritten <= limit, `${seen.unwritten} blocks wait, at most ${limit}`)
  assert(seen.unwritten > batchBlockCount, 'blocks went on while the store was busy')
  const quick = await seenOf(60, 3, {}, (stages) => stages)
  assert.equal(dump, quick.dump, 'the same rows as behind a quick one')
})

test('A19: behind a slow store layers stay within their share of the memory', async () => {
  const layerBytesMax = 2 ** 22
  const options = { batchMilliseconds: 1e9, layerBytesMax }
  const { seen } = await seenOf(24, 1000, options, slowCommit)
  assert(seen.stands >= 2, 'the pipeline stood still')
  assert(seen.layerBytes <= layerBytesMax, `${seen.layerBytes} of ${layerBytesMax} bytes`)
  assert(seen.layerBytes > 0.7 * layerBytesMax, `the limit was met: ${seen.layerBytes} bytes`)
  assert(seen.unwritten < 24, 'writes came in between')
})

test('A19: behind a slow summary few blocks wait for their roots', async () => {
  let last: Promise<unknown> = Promise.resolve()
  const { seen } = await seenOf(30, 3, {}, ({ summary, commit }, gate) => ({
    summary: {
      advance: (source) => {
        // Answers come in their order.
        const root = last.then(async () => {
          if (gate.stands < 3) await gate.stand()
          return await summary.advance(source)
        })
        last = root
        return root
      },
      retreat: (source) => summary.retreat(source),
      prefetch: (block, senders) => summary.prefetch(block, senders),
      collect: () => summary.collect(),
      markPersisted: () => summary.markPersisted(),
      close: () => summary.close(),
    },
    commit,
  }))
  assert.equal(seen.rootless, ROOTLESS_BLOCKS_MAX)
})
