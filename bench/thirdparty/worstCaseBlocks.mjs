// Worst-case blocks of execution-spec-tests, one of each file, in Mgas/s by folder, here and in @ethereumjs/vm, in one run
// taking turns. All blocks of Varve alone: `npm run bench -- worstCaseBlocks` at the root.
// Usage: node worstCaseBlocks.mjs [--fixtures DIR] [--part TEXT] [--rounds N] [--runs N] [--json]
//
// The clock holds senders, execution, receipts and root; Varve's also all checks of header and body, which the peer skips.
// State before, decoding and preparing blocks are outside. Both must find the header's state root.
import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { createBrotliDecompress } from 'node:zlib'
import {
  circumstances,
  count,
  cpuMs,
  nowMs,
  readOptions,
  runAsSubject,
  takeTurns,
  versionOf,
} from './harness.mjs'

const options = readOptions({
  fixtures: process.env.VARVE_FIXTURES ?? resolve(import.meta.dirname, '../../../shared/fixtures'),
  part: '',
  rounds: '1',
  runs: '2',
  'warm-up': '1',
  subject: undefined,
})
/** The peer comes without a KZG library, and fails there. */
const LEFT_OUT = 'point_evaluation'
const GAS_MIN = 900_000
const GAS_MAX = 10_100_000
const bytesOf = (text) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'))
const wordOf = (text) => bytesOf(`0x${text.slice(2).padStart(64, '0')}`)
const gasOf = ({ blocks }) => Number(blocks.at(-1).blockHeader.gasUsed)

/** `{ folder, name, test }`: of each file the smallest block that is long enough to time. */
async function* samples() {
  const folder = join(options.fixtures, 'suites', 'eest-benchmark-blockchain')
  for (const shard of readdirSync(folder).sort()) {
    const input = createReadStream(join(folder, shard)).pipe(createBrotliDecompress())
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      if (line === '') continue
      const { path, tests } = JSON.parse(line)
      if (!path.includes(options.part) || path.includes(LEFT_OUT)) continue
      const [found] = Object.entries(tests)
        .filter(([, test]) => gasOf(test) >= GAS_MIN && gasOf(test) <= GAS_MAX)
        .sort(([, a], [, b]) => gasOf(a) - gasOf(b))
      if (found === undefined) continue
      const [name, test] = found
      yield { folder: path.split('/').slice(4, -1).join('/'), name, test }
    }
  }
}

/** Each subject: `prepare({ name, test })` gives what runs and checks the last block on a state of its own. */
const subjects = {
  async varve() {
    const { Machine, preparePrecompiles } = await import('../../dist/evm/index.js')
    const { openEngine } = await import('../../dist/engine/index.js')
    const { memoryStore } = await import('../../dist/store/index.js')
    const { readBlockTest } = await import('../../dist/cli/blocktest/blockTest.js')
    await preparePrecompiles()
    const machine = new Machine()
    return async ({ name, test }) => {
      const { genesis, blocks: encoded } = readBlockTest(name, test, () => undefined)
      const engine = await openEngine({ store: memoryStore(), genesis, machine })
      const blocks = encoded.map(({ decode }) => decode())
      const last = blocks.pop()
      for (const block of blocks) engine.import(block)
      return () => engine.import(last)
    }
  },

  async 'vm best'() {
    const names = ['block', 'common', 'mpt', 'statemanager', 'util', 'vm']
    const modules = await Promise.all(names.map((name) => import(`@ethereumjs/${name}`)))
    const peer = Object.assign({}, ...modules)
    const { wasmCrypto, trieOptions } = await import('./ethereumjs.mjs')
    const cache = (size) => ({ type: peer.CacheType.LRU, size })
    return async ({ test }) => {
      const hardfork = test.network.toLowerCase()
      const common = new peer.Common({ chain: peer.Mainnet, hardfork, customCrypto: wasmCrypto })
      const trie = new peer.MerklePatriciaTrie({
        ...trieOptions('best'),
        useKeyHashing: true,
        common,
      })
      const sizes = { account: 400_000, storage: 200_000, code: 200_000 }
      const caches = new peer.Caches(
        Object.fromEntries(Object.entries(sizes).map(([kind, size]) => [kind, cache(size)])),
      )
      const stateManager = new peer.MerkleStateManager({
        common,
        trie,
        caches,
        prefixCodeHashes: false,
      })
      const blocks = test.blocks.map(({ rlp }) => peer.createBlockFromRLP(bytesOf(rlp), { common }))
      const hashes = [bytesOf(test.genesisBlockHeader.hash), ...blocks.map((block) => block.hash())]
      const blockchain = {
        getBlock: async (number) => ({ hash: () => hashes[Number(number)] }),
        putBlock: async () => {},
        shallowCopy: () => blockchain,
      }
      const vm = await peer.createVM({ common, stateManager, blockchain })
      for (const [text, { balance, nonce, code, storage }] of Object.entries(test.pre)) {
        const address = peer.createAddressFromString(text)
        const account = { balance: BigInt(balance), nonce: BigInt(nonce) }
        await stateManager.putAccount(address, peer.createAccount(account))
        if (code !== '0x') await stateManager.putCode(address, bytesOf(code))
        for (const [slot, value] of Object.entries(storage))
          await stateManager.putStorage(address, wordOf(slot), peer.unpadBytes(wordOf(value)))
      }
      await stateManager.flush()
      const run = (block) =>
        peer.runBlock(vm, {
          block,
          skipBlockValidation: true,
          skipHeaderValidation: true,
          skipHardForkValidation: true,
        })
      const last = blocks.pop()
      for (const block of blocks) await run(block)
      // It compares root, gas and receipts with the header itself.
      return () => run(last)
    }
  },
}

async function runSubject() {
  const prepare = await subjects[options.subject]()
  const chosen = await collected(samples())
  const run = async () => {
    const folders = new Map()
    for (const sample of chosen) {
      const work = await prepare(sample)
      const [cpuStart, start] = [cpuMs(), nowMs()]
      await work()
      const sums = folders.get(sample.folder) ?? { gas: 0, ms: 0, cpu: 0 }
      folders.set(sample.folder, sums)
      sums.ms += nowMs() - start
      sums.cpu += cpuMs() - cpuStart
      sums.gas += gasOf(sample.test)
    }
    const figures = {}
    for (const [folder, { gas, ms, cpu }] of folders) {
      figures[folder] = gas / 1000 / ms
      figures[`${folder} cpu`] = gas / 1000 / cpu
    }
    return { figures, result: `${chosen.length} blocks, each with its header's root` }
  }
  await runAsSubject({
    run,
    warmUpCount: Number(options['warm-up']),
    runCount: count(options.runs, 'runs'),
  })
}

async function collected(sequence) {
  const items = []
  for await (const item of sequence) items.push(item)
  return items
}

function main() {
  if (!existsSync(join(options.fixtures, 'index.json')))
    throw new Error(`${options.fixtures}: no conformance data, name their folder with --fixtures`)
  const { subjects: rows, result } = takeTurns({
    script: import.meta.filename,
    subjects: Object.keys(subjects).map((name) => ({
      name,
      warmUpCount: Number(options['warm-up']),
      runCount: count(options.runs, 'runs'),
      roundCount: count(options.rounds, 'rounds'),
    })),
    childOptions: { fixtures: options.fixtures, part: options.part },
  })
  const [own, peer] = rows.map(({ figures }) => figures)
  const ratio = (figure) => own[figure].median / peer[figure].median
  const folders = Object.keys(own).filter((figure) => !figure.endsWith(' cpu'))
  const ratios = Object.fromEntries(
    folders.map((folder) => [folder, { wall: ratio(folder), cpu: ratio(`${folder} cpu`) }]),
  )
  const about = {
    bench: 'worst-case blocks',
    peer: `@ethereumjs/vm ${versionOf('@ethereumjs/vm')}, best`,
    ...circumstances(),
    result,
  }
  if (options.json) {
    console.log(JSON.stringify({ ...about, subjects: rows, ratios }))
    return
  }
  console.log(`${result}; Mgas/s in CPU time, ${about.peer}, ratio in wall time and in CPU time`)
  for (const folder of folders) {
    const [a, b] = [own, peer].map((figures) => figures[`${folder} cpu`].median.toFixed(1))
    const { wall, cpu } = ratios[folder]
    const numbers = [a, b, `${wall.toFixed(1)}x`, `${cpu.toFixed(1)}x`]
    console.log(folder.padEnd(34), ...numbers.map((text) => text.padStart(10)))
  }
}

if (options.subject === undefined) main()
else await runSubject()
