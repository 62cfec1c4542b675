// Varve's side of the block comparison: makes the blocks, and imports them.
import { Buffer } from 'node:buffer'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseGenesisJson } from '../../dist/chain/index.js'
import {
  decodeBlock,
  decodeTransaction,
  encodeBlock,
  SenderRecovery,
} from '../../dist/codec/index.js'
import { openEngine, SenderPool } from '../../dist/engine/index.js'
import { preparePrecompiles } from '../../dist/evm/index.js'
import { memoryStore, openLmdbStore } from '../../dist/store/index.js'
import { COINBASE, GENESIS_SECONDS, SECONDS_A_BLOCK } from './blocksWorkload.mjs'
import { cpuMs, hex, nowMs } from './harness.mjs'

const bytesOf = (text) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'))

/** Blocks of the given transactions on a genesis: `{ rlp, gasUsed }`, the former in hex text. */
export async function makeBlocks(genesisText, lists) {
  const engine = await openEngine({ store: memoryStore(), genesis: parseGenesisJson(genesisText) })
  return lists.map((list, index) => {
    const block = engine.produce({
      coinbase: bytesOf(COINBASE),
      timestamp: GENESIS_SECONDS + SECONDS_A_BLOCK * BigInt(index + 1),
      parentBeaconBlockRoot: new Uint8Array(32),
      transactions: list.map((raw) => decodeTransaction(bytesOf(raw))),
    })
    return { rlp: `0x${hex(encodeBlock(block))}`, gasUsed: Number(block.header.gasUsed) }
  })
}

/**
 * Imports made blocks. Clocks start after the warm blocks.
 * @param how `{ isDurable, isRecoveryTimed }`
 * @returns figures, phases in microseconds a transaction among them, and the last state root
 */
export async function importBlocks(genesisText, made, { isDurable, isRecoveryTimed }, warmCount) {
  const folder = isDurable ? mkdtempSync(join(tmpdir(), 'varve-blocks-')) : undefined
  if (folder !== undefined)
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const store = isDurable ? openLmdbStore(join(folder, 'db'), { sync: 'always' }) : memoryStore()
  await preparePrecompiles()
  const engine = await openEngine({ store, genesis: parseGenesisJson(genesisText) })
  engine.flush()
  const decodeStart = nowMs()
  const blocks = made.map(({ rlp }) => decodeBlock(bytesOf(rlp)))
  const decodeMs = (nowMs() - decodeStart) * (1 - warmCount / blocks.length)
  const counted = blocks.slice(warmCount)
  const pool = new SenderPool()
  const importAll = async (list) => {
    if (isRecoveryTimed)
      for await (const { block, senders } of pool.withSenders(list)) engine.import(block, senders)
    else for (const block of list) engine.import(block, known.get(block))
    if (isDurable) engine.flush()
  }
  const recovery = await SenderRecovery.open()
  const known = new Map(
    isRecoveryTimed
      ? []
      : blocks.map((block) => [block, recovery.recoverSenders(block.transactions)]),
  )
  await importAll(blocks.slice(0, warmCount))
  const phasesBefore = engine.phases
  const cpuStart = cpuMs()
  const start = nowMs()
  await importAll(counted)
  const ms = nowMs() - start
  const cpu = cpuMs() - cpuStart
  await pool.close()
  const sum = (of) => counted.reduce((total, block) => total + of(block), 0)
  const transactionCount = sum(({ transactions }) => transactions.length)
  const phases = { ...engine.phases }
  for (const [phase, seconds] of Object.entries(phases))
    phases[phase] = ((seconds - phasesBefore[phase]) * 1e6) / transactionCount
  const { stateRoot } = engine.head.header
  store.close()
  return {
    figures: {
      transactionsPerSecond: (transactionCount / ms) * 1000,
      transactionsPerCpuSecond: (transactionCount / cpu) * 1000,
      mgasPerSecond: sum(({ header }) => Number(header.gasUsed)) / ms / 1000,
      'us a transaction: decode': (decodeMs * 1000) / transactionCount,
      ...Object.fromEntries(
        Object.entries(phases)
          .filter(([phase]) => phase !== 'decode')
          .map(([phase, value]) => [`us a transaction: ${phase}`, value]),
      ),
    },
    result: hex(stateRoot),
  }
}
