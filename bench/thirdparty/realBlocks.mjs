// Real blocks of mainnet and its test networks, in Mgas/s, here and in @ethereumjs/vm, in one run taking turns.
// Usage: node realBlocks.mjs [--fixtures DIR] [--witness N] [--prestate N] [--rounds N] [--json]
//
//   witness    blocks with the trie nodes and codes that they need: executed to the header's state root
//   prestate   blocks with the values that they read: executed to the header's gas and receipts root; the peer computes a
//              root of the accounts it was given, which it cannot do without, and which is none of the chain's
//
// The clock holds senders, execution, receipts and root, and for a witness the opening of its tries; decoding is outside.
// FIXTURES is the folder of the conformance data (`VARVE_FIXTURES`, or ../../../shared/fixtures).
import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { constants, createBrotliDecompress } from 'node:zlib'
import {
  circumstances,
  cpuMs,
  nowMs,
  readOptions,
  runAsSubject,
  shown,
  takeTurns,
  versionOf,
} from './harness.mjs'

const options = readOptions({
  fixtures: process.env.VARVE_FIXTURES ?? resolve(import.meta.dirname, '../../../shared/fixtures'),
  // Of later ones the peer's tries, changed step by step, ask for nodes that no witness has.
  witness: '3',
  prestate: '12',
  rounds: '3',
  subject: undefined,
  kind: undefined,
  'warm-up': '0',
  runs: '1',
})
const SUITES = { witness: 'real-witness-blocks', prestate: 'real-prestate-blocks' }
const CODES = 'real-prestate-codes'
const bytesOf = (text) => Uint8Array.from(Buffer.from(text.replace(/^0x/, ''), 'hex'))
const hexOf = (bytes) => `0x${Buffer.from(bytes).toString('hex')}`
const wordOf = (text) => bytesOf(text.replace(/^0x/, '').padStart(64, '0'))

async function* recordsOf(suite) {
  const folder = join(options.fixtures, 'suites', suite)
  for (const name of readdirSync(folder).sort()) {
    const params = { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 }
    const input = createReadStream(join(folder, name)).pipe(createBrotliDecompress({ params }))
    for await (const line of createInterface({ input, crlfDelay: Infinity }))
      if (line !== '') yield JSON.parse(line)
  }
}

/** Before Byzantium receipts hold state roots, which values alone do not make. */
const BYZANTIUM = 4_370_000
const isOld = ({ id }) => Number(/\d+$/.exec(id)?.[0]) < BYZANTIUM

/** The records that both sides can execute, the first `count` of them. */
async function chosen(kind) {
  const count = Number(options[kind])
  const records = []
  for await (const record of recordsOf(SUITES[kind])) {
    if (kind === 'prestate' && (record.missingCodes > 0 || isOld(record))) continue
    if (kind === 'witness' && record.witness.headers.length === 0) continue
    records.push(record)
    if (records.length === count) break
  }
  const codes = new Map()
  if (kind === 'prestate') {
    const wanted = new Set(
      records.flatMap(({ preState }) =>
        Object.values(preState).map((account) => account.code_hash),
      ),
    )
    for await (const { path, code } of recordsOf(CODES)) if (wanted.has(path)) codes.set(path, code)
  }
  return { records, codes }
}

/** Executes all blocks of a kind; each `prepare` is outside the clock. */
async function runAll(records, prepare) {
  let gas = 0
  let ms = 0
  let cpu = 0
  const seen = []
  for (const record of records) {
    const work = await prepare(record)
    const cpuStart = cpuMs()
    const start = nowMs()
    const { gasUsed, check } = await work()
    ms += nowMs() - start
    cpu += cpuMs() - cpuStart
    gas += Number(gasUsed)
    seen.push(`${record.id ?? ''} ${gasUsed} ${check}`)
  }
  return {
    figures: { mgasPerSecond: gas / ms / 1000, mgasPerCpuSecond: gas / cpu / 1000 },
    result: seen.join('; '),
  }
}

const headersOf = ({ witness }, decode) =>
  witness.headers.map((text) => ({ text, header: decode(bytesOf(text)) }))

async function runVarve(kind) {
  const chain = await import('../../dist/chain/index.js')
  const codec = await import('../../dist/codec/index.js')
  const evm = await import('../../dist/evm/index.js')
  await evm.preparePrecompiles()
  const { records, codes } = await chosen(kind)
  const prepare =
    kind === 'witness' ? await varveWitness(chain, codec) : await varvePrestate(chain, codec, codes)
  return runAll(records, prepare)
}

async function varveWitness(chain, codec) {
  const { StatelessExecutor } = await import('../../dist/engine/stateless/index.js')
  const specs = [chain.mainnet, chain.sepolia, chain.holesky, chain.hoodi]
  const executors = new Map()
  return async (record) => {
    const spec = specs.find(({ chainId }) => Number(chainId) === record.chainId)
    if (!executors.has(spec))
      executors.set(spec, await StatelessExecutor.open({ spec, unproven: 'absent' }))
    const block = codec.decodeBlock(bytesOf(record.block))
    const headers = headersOf(record, codec.decodeHeader)
      .sort((a, b) => a.header.number - b.header.number)
      .map(({ text }) => bytesOf(text))
    const witness = {
      state: record.witness.state.map(bytesOf),
      codes: record.witness.codes.map(bytesOf),
      headers,
    }
    return () => {
      const { gasUsed } = executors.get(spec).execute(block, witness)
      return { gasUsed, check: hexOf(block.header.stateRoot) }
    }
  }
}

async function varvePrestate({ mainnet, rulesAt }, codec, codes) {
  const { Machine } = await import('../../dist/evm/index.js')
  const { executeBlock } = await import('../../dist/execute/index.js')
  const { keccak256 } = await import('../../dist/kernels/index.js')
  const { orderedRoot } = await import('../../dist/trie/index.js')
  const recovery = await codec.SenderRecovery.open()
  const machine = new Machine()
  const keyOf = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).latin1Slice()
  const emptyHash = keccak256(new Uint8Array(0))
  const pool = new Map([...codes].map(([hash, code]) => [keyOf(bytesOf(hash)), bytesOf(code)]))
  pool.set(keyOf(emptyHash), new Uint8Array(0))
  const viewOf = (preState) => {
    const accounts = new Map()
    for (const [address, { balance, nonce, code_hash: hash, storage }] of Object.entries(preState))
      accounts.set(keyOf(keccak256(bytesOf(address))), {
        account: {
          balance: BigInt(balance),
          nonce: BigInt(nonce),
          codeHash: hash === undefined ? emptyHash : bytesOf(hash),
        },
        slots: new Map(
          Object.entries(storage)
            .filter(([, value]) => BigInt(value) !== 0n)
            .map(([slot, value]) => [keyOf(keccak256(wordOf(slot))), wordOf(value)]),
        ),
      })
    return {
      account: (address) => accounts.get(keyOf(address))?.account,
      storage: (address, slot) => accounts.get(keyOf(address))?.slots.get(keyOf(slot)),
      hasStorage: (address) => (accounts.get(keyOf(address))?.slots.size ?? 0) > 0,
      code: (hash) => pool.get(keyOf(hash)),
    }
  }
  return ({ block: raw, preState, blockHashes }) => {
    const block = codec.decodeBlock(bytesOf(raw))
    const { header } = block
    const view = viewOf(preState)
    const rules = rulesAt(mainnet, header.number, header.timestamp)
    const blockHash = (number) => bytesOf(blockHashes[number.toString()])
    return () => {
      const context = { spec: mainnet, rules, view, blockHash, machine, recovery }
      const { gasUsed, receipts } = executeBlock(block, context)
      return { gasUsed, check: hexOf(orderedRoot(codec.encodeEnvelopes(receipts))) }
    }
  }
}

async function runPeer(kind) {
  const peer = await peerPackages()
  const { records, codes } = await chosen(kind)
  return runAll(records, kind === 'witness' ? peerWitness(peer) : peerPrestate(peer, codes))
}

async function peerPackages() {
  const names = ['block', 'common', 'mpt', 'statemanager', 'util', 'vm']
  const modules = await Promise.all(names.map((name) => import(`@ethereumjs/${name}`)))
  const { wasmCrypto, trieOptions } = await import('./ethereumjs.mjs')
  return Object.assign({ wasmCrypto, trieOptions }, ...modules)
}

/**
 * A machine over a trie, with the given ancestors for BLOCKHASH. Its caches write back in an order of their own, which may
 * ask for nodes that a witness has no need of, so by witness it goes without.
 */
async function peerMachine(peer, common, trie, hashOf, hasCaches) {
  const cache = (size) => ({ type: peer.CacheType.LRU, size })
  const caches = new peer.Caches({
    account: cache(400_000),
    storage: cache(200_000),
    code: cache(200_000),
  })
  const stateManager = new peer.MerkleStateManager({
    common,
    trie,
    ...(hasCaches ? { caches } : {}),
    prefixCodeHashes: false,
  })
  const blockchain = {
    getBlock: async (number) => ({ hash: () => hashOf(BigInt(number)) }),
    putBlock: async () => {},
    shallowCopy: () => blockchain,
  }
  const vm = await peer.createVM({ common, stateManager, blockchain, setHardfork: true })
  return { vm, stateManager }
}

const peerBlock = (peer, text, common) =>
  peer.createBlockFromRLP(bytesOf(text), { common, setHardfork: true })

const RUN = { skipBlockValidation: true, skipHeaderValidation: true, skipHardForkValidation: true }

function peerWitness(peer) {
  const chains = [peer.Mainnet, peer.Sepolia, peer.Holesky, peer.Hoodi]
  return async (record) => {
    const chain = chains.find(({ chainId }) => Number(chainId) === record.chainId)
    const common = new peer.Common({ chain, customCrypto: peer.wasmCrypto })
    const block = peerBlock(peer, record.block, common)
    const headers = record.witness.headers.map((text) =>
      peer.createBlockHeaderFromRLP(bytesOf(text), { common, setHardfork: true }),
    )
    const parent = headers.find(({ number }) => number === block.header.number - 1n)
    const hashes = new Map(headers.map((header) => [header.number, header.hash()]))
    const database = new peer.MapDB()
    const { keccak256 } = peer.wasmCrypto
    for (const text of [...record.witness.state, ...record.witness.codes]) {
      const bytes = bytesOf(text)
      await database.put(hexOf(keccak256(bytes)).slice(2), bytes)
    }
    return async () => {
      const trie = new peer.MerklePatriciaTrie({
        ...peer.trieOptions('best'),
        db: database,
        root: parent.stateRoot,
        useKeyHashing: true,
        useRootPersistence: false,
        common,
      })
      const { vm } = await peerMachine(peer, common, trie, (number) => hashes.get(number), false)
      const { gasUsed } = await peer.runBlock(vm, { block, ...RUN })
      return { gasUsed, check: hexOf(block.header.stateRoot) }
    }
  }
}

function peerPrestate(peer, codes) {
  return async ({ block: raw, preState, blockHashes }) => {
    const common = new peer.Common({ chain: peer.Mainnet, customCrypto: peer.wasmCrypto })
    const block = peerBlock(peer, raw, common)
    const trie = new peer.MerklePatriciaTrie({
      ...peer.trieOptions('best'),
      useKeyHashing: true,
      common,
    })
    const hashOf = (number) => bytesOf(blockHashes[number.toString()])
    const { vm, stateManager } = await peerMachine(peer, common, trie, hashOf, true)
    for (const [text, { balance, nonce, code_hash: hash, storage }] of Object.entries(preState)) {
      const address = peer.createAddressFromString(text)
      const account = peer.createAccount({ balance: BigInt(balance), nonce: BigInt(nonce) })
      await stateManager.putAccount(address, account)
      if (hash !== undefined) await stateManager.putCode(address, bytesOf(codes.get(hash)))
      for (const [slot, value] of Object.entries(storage))
        if (BigInt(value) !== 0n)
          await stateManager.putStorage(address, wordOf(slot), peer.unpadBytes(wordOf(value)))
    }
    await stateManager.flush()
    return async () => {
      const { gasUsed, receiptsRoot } = await peer.runBlock(vm, { block, generate: true, ...RUN })
      return { gasUsed, check: hexOf(receiptsRoot) }
    }
  }
}

const subjects = { varve: runVarve, 'vm best': runPeer }

function compare(kind) {
  const { subjects: rows, result } = takeTurns({
    script: import.meta.filename,
    subjects: Object.keys(subjects).map((name) => ({
      name,
      warmUpCount: 0,
      runCount: 1,
      roundCount: Number(options.rounds),
    })),
    childOptions: { kind, fixtures: options.fixtures, [kind]: options[kind] },
  })
  const [own, peer] = rows.map(({ figures }) => figures)
  const ratio = (figure) => own[figure].median / peer[figure].median
  const ratios = { wall: ratio('mgasPerSecond'), cpu: ratio('mgasPerCpuSecond') }
  return { kind, blockCount: result.split('; ').length, subjects: rows, ratios }
}

function compareAll() {
  if (!existsSync(join(options.fixtures, 'index.json')))
    throw new Error(`${options.fixtures}: no conformance data, name their folder with --fixtures`)
  const results = Object.keys(SUITES).map(compare)
  const about = {
    bench: 'real blocks',
    peer: `@ethereumjs/vm ${versionOf('@ethereumjs/vm')}`,
    ...circumstances(),
  }
  if (options.json) {
    console.log(JSON.stringify({ ...about, results }))
    return
  }
  for (const { kind, blockCount, subjects: rows, ratios } of results) {
    console.log(
      `${`${blockCount} real blocks by ${kind}`.padEnd(38)}    median       min       max`,
    )
    for (const { name, figures } of rows)
      for (const [figure, summary] of Object.entries(figures))
        console.log(`  ${name.padEnd(12)}${figure.padEnd(24)}${shown(summary, 1)}`)
    console.log(`  ${ratios.wall.toFixed(1)}x, CPU time ${ratios.cpu.toFixed(1)}x`)
  }
  console.log(about)
}

if (options.subject === undefined) compareAll()
else
  await runAsSubject({
    run: () => subjects[options.subject](options.kind),
    warmUpCount: Number(options['warm-up']),
    runCount: Number(options.runs),
  })
