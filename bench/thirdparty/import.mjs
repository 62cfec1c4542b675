// The first 8,191 blocks of mainnet, every state root checked, here and in @ethereumjs/vm, in one run taking turns.
// Usage: node import.mjs [--era FILE] [--blocks N] [--rounds N] [--warm-up N] [--subjects a,b] [--json]
//   FILE is mainnet-00000-5ec1ffb8.era1 (public: https://era1.ethportal.net); VARVE_FIXTURES or ../../../shared/fixtures
//   serve where it is not given.
//
//   varve lmdb      checked import into a new durable database, with headers, bodies, receipts, indexes, as the command does
//   varve memory    the same into the store in memory
//   vm lmdb         runBlock over a state trie on LMDB, a durable transaction a block
//   vm best         the same in memory with the caches and the keccak of its own client
//   vm as it comes  the same in memory, no caches
//
// `blocksPerSecond` times the blocks: Varve from the opened file to the last write, with the file's own check; the peers
// their `runBlock` alone, on blocks decoded before and not validated, without storing headers. `wholePerSecond` adds the
// peers' decoding and `putBlock`, both in memory. Genesis is apart (`genesisMs`) and must end at mainnet's root; so must
// the last block at its header's. Runs are cold, as a command is, unless `--warm-up 1` asks for one before in each process.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createBlockFromBytesArray } from '@ethereumjs/block'
import { createBlockchain } from '@ethereumjs/blockchain'
import { Common, Mainnet } from '@ethereumjs/common'
import { getGenesis } from '@ethereumjs/genesis'
import { MerklePatriciaTrie } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { Caches, CacheType, MerkleStateManager } from '@ethereumjs/statemanager'
import { createVM, runBlock } from '@ethereumjs/vm'
import { namedGenesis } from '../../dist/chain/index.js'
import { Era1Reader } from '../../dist/codec/index.js'
import { importChain, openBlockSource, openEngine } from '../../dist/engine/index.js'
import { memoryStore, openLmdbStore } from '../../dist/store/index.js'
import { LmdbAdapter, trieOptions, wasmCrypto } from './ethereumjs.mjs'
import {
  circumstances,
  count,
  cpuMs,
  hex,
  nowMs,
  readOptions,
  runAsSubject,
  shown,
  takeTurns,
  versionOf,
} from './harness.mjs'

const NAME = 'mainnet-00000-5ec1ffb8.era1'
const GENESIS_ROOT = 'd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544'
/** Ratios of blocks a second that are asked of Varve on LMDB. */
const GOALS = { 'vm lmdb': 20, 'vm best': 6 }

const options = readOptions({
  era: undefined,
  blocks: '8191',
  rounds: '3',
  subject: undefined,
  'warm-up': '0',
  runs: '1',
  subjects: 'varve lmdb,varve memory,vm lmdb,vm best,vm as it comes',
})
const blockCount = count(options.blocks, 'blocks')
const eraPath = [
  options.era,
  process.env.VARVE_FIXTURES && join(process.env.VARVE_FIXTURES, 'files/era1', NAME),
  resolve(import.meta.dirname, '../../../shared/fixtures/files/era1', NAME),
].find((path) => path !== undefined && existsSync(path))
if (eraPath === undefined) throw new Error(`${NAME}: not found, give it with --era`)

const folder = mkdtempSync(join(tmpdir(), 'varve-import-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
let folderCount = 0
const newFolder = () => join(folder, `db${folderCount++}`)

const figures = ({ blocksMs, wholeMs, cpu, genesisMs }) => ({
  blocksPerSecond: blockCount / (blocksMs / 1000),
  wholePerSecond: blockCount / (wholeMs / 1000),
  blocksPerCpuSecond: blockCount / (cpu / 1000),
  genesisMs,
})

/** The engine's own way, as `varve import` goes it. */
async function runVarve(store) {
  const genesis = await namedGenesis('mainnet')
  let start = nowMs()
  const engine = await openEngine({ store, genesis })
  engine.flush()
  const genesisMs = nowMs() - start
  const cpuStart = cpuMs()
  start = nowMs()
  const source = openBlockSource(eraPath)
  await importChain(engine, source, { to: blockCount })
  source.close()
  const blocksMs = nowMs() - start
  const cpu = cpuMs() - cpuStart
  const { number, stateRoot } = engine.head.header
  if (number !== blockCount) throw new Error(`varve stopped at block ${number}`)
  store.close()
  return {
    figures: figures({ blocksMs, wholeMs: blocksMs, cpu, genesisMs }),
    result: hex(stateRoot),
  }
}

/** Blocks as the peer wants them. */
function peerBlocks(common) {
  const era = new Era1Reader(eraPath)
  const blocks = []
  for (let number = 0; number <= blockCount; number++) {
    const { header, body } = era.readBlock(number)
    blocks.push(
      createBlockFromBytesArray([RLP.decode(header), ...RLP.decode(body)], {
        common,
        setHardfork: true,
      }),
    )
  }
  era.close()
  return blocks
}

const clientCaches = () => {
  const cache = (size) => ({ type: CacheType.LRU, size })
  return new Caches({ account: cache(400_000), storage: cache(200_000), code: cache(200_000) })
}

async function runPeer(configuration, database) {
  const isBest = configuration === 'best'
  const customCrypto = isBest ? wasmCrypto : {}
  const common = new Common({ chain: Mainnet, hardfork: 'chainstart', customCrypto })
  let start = nowMs()
  const blocks = peerBlocks(common)
  const decodeMs = nowMs() - start
  const trie = new MerklePatriciaTrie({
    ...trieOptions(configuration, database),
    useKeyHashing: true,
    common,
  })
  const caches = isBest ? { caches: clientCaches() } : {}
  const stateManager = new MerkleStateManager({ common, trie, ...caches })
  start = nowMs()
  await stateManager.generateCanonicalGenesis(getGenesis(1))
  const genesisMs = nowMs() - start
  if (hex(await stateManager.getStateRoot()) !== GENESIS_ROOT) throw new Error('wrong genesis root')
  const blockchain = await createBlockchain({
    common,
    genesisBlock: blocks[0],
    validateBlocks: false,
    validateConsensus: false,
    genesisState: {},
    genesisStateRoot: blocks[0].header.stateRoot,
  })
  start = nowMs()
  for (const block of blocks.slice(1)) await blockchain.putBlock(block)
  const keepMs = nowMs() - start
  const vm = await createVM({ common, stateManager, blockchain, setHardfork: false })
  const cpuStart = cpuMs()
  start = nowMs()
  for (let number = 1; number <= blockCount; number++)
    await runBlock(vm, { block: blocks[number], skipBlockValidation: true })
  const blocksMs = nowMs() - start
  const cpu = cpuMs() - cpuStart
  const root = hex(await stateManager.getStateRoot())
  if (root !== hex(blocks[blockCount].header.stateRoot)) throw new Error('wrong last root')
  await database?.close?.()
  return {
    figures: figures({ blocksMs, wholeMs: blocksMs + decodeMs + keepMs, cpu, genesisMs }),
    result: root,
  }
}

/** Each in a process of its own. */
const subjects = {
  'varve lmdb': () => runVarve(openLmdbStore(newFolder(), { sync: 'always' })),
  'varve memory': () => runVarve(memoryStore()),
  'vm lmdb': () => runPeer('asItComes', new LmdbAdapter(newFolder())),
  'vm best': () => runPeer('best'),
  'vm as it comes': () => runPeer('asItComes'),
}

function compareAll() {
  const names = options.subjects.split(',')
  for (const name of names) if (!(name in subjects)) throw new Error(`--subjects: no ${name}`)
  const roundCount = count(options.rounds, 'rounds')
  const comparison = takeTurns({
    script: import.meta.filename,
    subjects: names.map((name) => ({
      name,
      warmUpCount: Number(options['warm-up']),
      runCount: 1,
      roundCount,
    })),
    childOptions: { blocks: blockCount, era: eraPath },
  })
  const own = comparison.subjects.find(({ name }) => name === 'varve lmdb')
  const ratios = {}
  for (const { name, figures } of comparison.subjects) {
    if (own === undefined || name === own.name) continue
    const ratio = (figure) => own.figures[figure].median / figures[figure].median
    ratios[name] = {
      wall: ratio('blocksPerSecond'),
      whole: ratio('wholePerSecond'),
      cpu: ratio('blocksPerCpuSecond'),
    }
    if (name in GOALS)
      Object.assign(ratios[name], { goal: GOALS[name], goalMet: ratios[name].wall >= GOALS[name] })
  }

  if (options.json) {
    const peer = `@ethereumjs/vm ${versionOf('@ethereumjs/vm')}`
    const { result: root, subjects: rows } = comparison
    console.log(
      JSON.stringify({
        bench: 'import',
        peer,
        blockCount,
        root,
        ...circumstances(),
        subjects: rows,
        ratios,
      }),
    )
  } else {
    console.log(
      `mainnet 1 to ${blockCount}, root ${comparison.result.slice(0, 12)}…         median       min       max`,
    )
    for (const { name, figures } of comparison.subjects)
      for (const [figure, summary] of Object.entries(figures))
        console.log(`  ${name.padEnd(16)}${figure.padEnd(20)}${shown(summary, 0)}`)
    for (const [name, { wall, whole, cpu, goal, goalMet }] of Object.entries(ratios)) {
      const verdict = goal === undefined ? '' : ` (goal ${goal}x: ${goalMet ? 'met' : 'missed'})`
      console.log(
        `  varve lmdb against ${name.padEnd(15)} ${wall.toFixed(1)}x${verdict}, whole work ${whole.toFixed(1)}x, CPU time ${cpu.toFixed(1)}x`,
      )
    }
    console.log(circumstances())
  }
}

if (options.subject === undefined) compareAll()
else
  await runAsSubject({
    run: subjects[options.subject],
    warmUpCount: Number(options['warm-up']),
    runCount: count(options.runs, 'runs'),
  })
