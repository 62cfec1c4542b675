// Blocks of plain and of ERC-20 transfers, state root of each block included, here, in @ethereumjs/vm and in EDR.
// Usage: node blocks.mjs [--kinds eth,erc20] [--transactions N] [--blocks N] [--receivers N] [--rounds N] [--subjects a,b] [--json]
//
//   varve             engine.import of decoded blocks into the store in memory, senders known before the clock starts
//   varve recovered   the same with senders recovered within the clock, on worker threads ahead of execution
//   varve lmdb        as `varve`, into a durable database, the write within the clock
//   vm best           runBlock with the caches and the keccak of the peer's own client, senders known
//   vm recovered      the same with senders recovered within the clock
//   EDR mine          evm_mine of transactions that were submitted before, so checked and recovered already
//
// Varve makes the blocks; every subject must end at the last one's state root. Each turn is a fresh process; its first
// blocks warm it up and do not count (`--warm-blocks`).
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CHAIN_ID,
  COINBASE,
  GAS_LIMIT,
  GENESIS_SECONDS,
  genesisOf,
  makeWorkload,
  peerCommon,
  SECONDS_A_BLOCK,
  TOKEN,
} from './blocksWorkload.mjs'
import { edrMissing, openEdr } from './edrProvider.mjs'
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

/** Ratios of transactions a second that are asked of the first subject over the second. */
const GOALS = [
  ['varve', 'vm best', 30],
  ['varve recovered', 'vm recovered', 30],
  ['varve', 'EDR mine', 3],
]

const options = readOptions({
  kinds: 'eth,erc20',
  transactions: '1000',
  blocks: '12',
  'warm-blocks': '4',
  receivers: '10000',
  rounds: '3',
  subjects: 'varve,varve recovered,varve lmdb,vm best,vm recovered,EDR mine',
  subject: undefined,
  workload: undefined,
  'warm-up': '0',
  runs: '1',
})
const bytesOf = (text) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'))

const warmCount = () => Number(options['warm-blocks'])

/** Makes the workload, and its blocks by Varve's own maker. */
async function prepare(kind) {
  const { makeBlocks } = await import('./blocksVarve.mjs')
  const workload = await makeWorkload({
    kind,
    transactionCount: count(options.transactions, 'transactions'),
    blockCount: count(options.blocks, 'blocks') + Number(options['warm-blocks']),
    receiverCount: count(options.receivers, 'receivers'),
  })
  const genesis = genesisOf(workload)
  return { ...workload, genesis, made: await makeBlocks(genesis, workload.blocks) }
}

const readWorkload = () => JSON.parse(readFileSync(options.workload, 'utf8'))

/** Times one step a block, and sums those that count. */
class BlockClock {
  #warmCount = warmCount()
  #samples = []
  async measure(gasUsed, transactionCount, work) {
    const cpuStart = cpuMs()
    const start = nowMs()
    await work()
    this.#samples.push({ ms: nowMs() - start, cpu: cpuMs() - cpuStart, gasUsed, transactionCount })
  }
  figures() {
    const counted = this.#samples.slice(this.#warmCount)
    const sum = (field) => counted.reduce((total, sample) => total + sample[field], 0)
    return {
      transactionsPerSecond: (sum('transactionCount') / sum('ms')) * 1000,
      transactionsPerCpuSecond: (sum('transactionCount') / sum('cpu')) * 1000,
      mgasPerSecond: sum('gasUsed') / sum('ms') / 1000,
    }
  }
}

async function runVarve(how) {
  const { importBlocks } = await import('./blocksVarve.mjs')
  const { genesis, made } = readWorkload()
  return importBlocks(genesis, made, how, warmCount())
}

async function runPeer({ isRecoveryTimed }) {
  const [{ wasmCrypto, trieOptions }, ...packages] = await Promise.all([
    import('./ethereumjs.mjs'),
    import('@ethereumjs/vm'),
    import('@ethereumjs/statemanager'),
    import('@ethereumjs/mpt'),
    import('@ethereumjs/block'),
    import('@ethereumjs/util'),
    import('@ethereumjs/rlp'),
  ])
  const [vmPackage, states, { MerklePatriciaTrie }, { createBlockFromBytesArray }, util, { RLP }] =
    packages
  const { accounts, made } = readWorkload()
  const common = peerCommon(wasmCrypto)
  const trie = new MerklePatriciaTrie({ ...trieOptions('best'), useKeyHashing: true, common })
  const cache = (size) => ({ type: states.CacheType.LRU, size })
  const caches = new states.Caches({
    account: cache(400_000),
    storage: cache(200_000),
    code: cache(200_000),
  })
  const stateManager = new states.MerkleStateManager({ common, trie, caches })
  const vm = await vmPackage.createVM({ common, stateManager })
  await fillPeerState(stateManager, accounts, util)
  const clock = new BlockClock()
  let root
  for (const { rlp } of made) {
    const block = createBlockFromBytesArray(RLP.decode(bytesOf(rlp)), { common })
    if (!isRecoveryTimed)
      for (const transaction of block.transactions) transaction.getSenderAddress()
    await clock.measure(Number(block.header.gasUsed), block.transactions.length, async () => {
      await vmPackage.runBlock(vm, {
        block,
        skipBlockValidation: true,
        skipHardForkValidation: true,
      })
    })
    root = hex(block.header.stateRoot)
  }
  if (hex(await stateManager.getStateRoot()) !== root) throw new Error('wrong last root')
  return { figures: clock.figures(), result: root }
}

async function fillPeerState(
  stateManager,
  accounts,
  { createAccount, createAddressFromString, setLengthLeft, unpadBytes },
) {
  await stateManager.checkpoint()
  for (const [text, { balance, nonce = '0x0', code, storage = {} }] of Object.entries(accounts)) {
    const address = createAddressFromString(text)
    await stateManager.putAccount(
      address,
      createAccount({ balance: BigInt(balance), nonce: BigInt(nonce) }),
    )
    if (code !== undefined) await stateManager.putCode(address, bytesOf(code))
    for (const [slot, value] of Object.entries(storage))
      await stateManager.putStorage(
        address,
        setLengthLeft(bytesOf(slot), 32),
        unpadBytes(bytesOf(value)),
      )
  }
  await stateManager.commit()
}

async function runEdr() {
  const { accounts, blocks, made } = readWorkload()
  const request = await openEdrAt(accounts)
  for (const [slot, value] of Object.entries(accounts[TOKEN]?.storage ?? {}))
    await request('hardhat_setStorageAt', [TOKEN, `0x${BigInt(slot).toString(16)}`, value])
  const clock = new BlockClock()
  let root
  for (const [index, transactions] of blocks.entries()) {
    for (const raw of transactions) await request('eth_sendRawTransaction', [raw])
    const seconds = GENESIS_SECONDS + SECONDS_A_BLOCK * BigInt(index + 1)
    await request('evm_setNextBlockTimestamp', [`0x${seconds.toString(16)}`])
    const gas = made[index].gasUsed
    await clock.measure(gas, transactions.length, () => request('evm_mine', []))
    const block = await request('eth_getBlockByNumber', ['latest', false])
    if (Number(block.gasUsed) !== gas)
      throw new Error(`EDR used ${Number(block.gasUsed)} gas, not ${gas}`)
    root = block.stateRoot.slice(2)
  }
  return { figures: clock.figures(), result: root }
}

const openEdrAt = (accounts) =>
  openEdr({
    hardfork: 'cancun',
    hasSystemContracts: false,
    chainId: CHAIN_ID,
    coinbase: bytesOf(COINBASE),
    blockGasLimit: GAS_LIMIT,
    genesisSeconds: GENESIS_SECONDS,
    genesisState: Object.entries(accounts).map(([address, { balance, nonce = '0x0', code }]) => ({
      address: bytesOf(address),
      balance: BigInt(balance),
      nonce: BigInt(nonce),
      ...(code === undefined ? {} : { code: bytesOf(code) }),
    })),
    baseFee: 7n,
    hasAutoMining: false,
    ownedKeys: [],
  })

/** Each in a process of its own. */
const subjects = {
  varve: () => runVarve({ isDurable: false, isRecoveryTimed: false }),
  'varve recovered': () => runVarve({ isDurable: false, isRecoveryTimed: true }),
  'varve lmdb': () => runVarve({ isDurable: true, isRecoveryTimed: false }),
  'vm best': () => runPeer({ isRecoveryTimed: false }),
  'vm recovered': () => runPeer({ isRecoveryTimed: true }),
  'EDR mine': runEdr,
}

function ratiosOf(rows) {
  const figuresOf = (name) => rows.find((row) => row.name === name)?.figures
  return GOALS.flatMap(([name, peer, goal]) => {
    const [own, other] = [figuresOf(name), figuresOf(peer)]
    if (own === undefined || other === undefined) return []
    const ratio = (figure) => own[figure].median / other[figure].median
    const wall = ratio('transactionsPerSecond')
    return [{ name, peer, goal, wall, cpu: ratio('transactionsPerCpuSecond'), isMet: wall >= goal }]
  })
}

async function compare(kind, names, folder) {
  const path = join(folder, `${kind}.json`)
  writeFileSync(path, JSON.stringify(await prepare(kind)))
  const { subjects: rows, result } = takeTurns({
    script: import.meta.filename,
    subjects: names.map((name) => ({
      name,
      warmUpCount: 0,
      runCount: 1,
      roundCount: count(options.rounds, 'rounds'),
    })),
    childOptions: { workload: path, 'warm-blocks': options['warm-blocks'] },
  })
  return { kind, root: result, subjects: rows, ratios: ratiosOf(rows) }
}

function show({ kind, root, subjects: rows, ratios }) {
  const title = `${options.transactions} ${kind} transfers a block, root ${root.slice(0, 12)}…`
  console.log(`${title.padEnd(56)}    median       min       max`)
  for (const { name, figures } of rows)
    for (const [figure, summary] of Object.entries(figures))
      console.log(`  ${name.padEnd(18)}${figure.padEnd(36)}${shown(summary, 1)}`)
  for (const { name, peer, goal, wall, cpu, isMet } of ratios)
    console.log(
      `  ${name} against ${peer}: ${wall.toFixed(1)}x, CPU time ${cpu.toFixed(1)}x (goal ${goal}x: ${isMet ? 'met' : 'missed'})`,
    )
}

async function compareAll() {
  const missing = edrMissing()
  const names = options.subjects
    .split(',')
    .filter((name) => name !== 'EDR mine' || missing === undefined)
  for (const name of names) if (!(name in subjects)) throw new Error(`no subject ${name}`)
  if (missing !== undefined) console.error(missing)
  const folder = mkdtempSync(join(tmpdir(), 'varve-blocks-'))
  try {
    const results = []
    for (const kind of options.kinds.split(',')) {
      const result = await compare(kind, names, folder)
      results.push(result)
      if (!options.json) show(result)
    }
    const versions = Object.fromEntries(
      ['@ethereumjs/vm', '@nomicfoundation/edr'].map((name) => [name, versionOf(name)]),
    )
    const about = { bench: 'blocks', versions, ...circumstances() }
    console.log(options.json ? JSON.stringify({ ...about, results }) : about)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (options.subject === undefined) await compareAll()
else
  await runAsSubject({
    run: subjects[options.subject],
    warmUpCount: Number(options['warm-up']),
    runCount: count(options.runs, 'runs'),
  })
// EDR keeps its threads.
process.exit()
