/**
 * The rules on whole published chains: every header, every uncle, and the total difficulty. Each chain must pass as
 * it is; a sample of its headers, each with one field moved, must not.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { FORK_NAMES, Fork, toHex } from '../base/index.ts'
import {
  type Block,
  ChainFileReader,
  decodeBody,
  decodeHeader,
  Era1Reader,
  type Header,
  sealHeader,
} from '../codec/index.ts'
import { fixtureFile, fixturePath, fixturesMissing } from '../testing/index.ts'
import { isMergedAfter, totalDifficulty } from './forkChoice.ts'
import { checkGenesisHash, genesisHeader, namedGenesis, namedStateRoot } from './genesis.ts'
import { type Genesis, parseGenesisJson } from './genesisJson.ts'
import { validateHeader } from './headerRules.ts'
import { mainnet, NETWORK_NAMES, sepolia } from './networks.ts'
import type { ChainSpec } from './spec.ts'
import { stateRootModel } from './stateRootModel.suite.ts'
import { AncestorWindow, validateUncles } from './uncleRules.ts'

const skip = fixturesMissing(
  'published chains',
  'era1 files and github.com/ethereum/execution-apis',
)

/** Follows one chain: checks each block against the one before and keeps what the next check needs. */
class Follower {
  readonly spec: ChainSpec
  readonly window = new AncestorWindow()
  readonly forks = new Set<string>()
  parent: Header
  total: bigint
  headerCount = 0
  uncleCount = 0

  constructor(spec: ChainSpec, first: Header, total: bigint) {
    this.spec = spec
    this.parent = first
    this.total = total
    this.window.push({ header: first, uncleHashes: [] })
  }

  /** @param checksUncles false while the window of a chain's middle part is not filled */
  follow(header: Header, uncles: readonly Header[], checksUncles = true): void {
    const isMerged = isMergedAfter(this.spec.schedule, this.total)
    const context = isMerged === undefined ? {} : { isMerged }
    const { fork } = validateHeader(header, this.parent, this.spec, context)
    this.forks.add(FORK_NAMES[fork]!)
    if (checksUncles) validateUncles(header, uncles, this.spec, this.window, context)
    this.window.push({ header, uncleHashes: uncles.map(({ hash }) => hash) })
    this.total = totalDifficulty(this.total, header.difficulty)
    this.parent = header
    this.headerCount++
    this.uncleCount += uncles.length
  }
}

/** Follows an era1 file from its first block on. */
function followEra1(name: string, spec: ChainSpec): Follower {
  const reader = new Era1Reader(fixturePath(name))
  try {
    const { header, totalDifficulty: total } = reader.readBlock(0)
    const follower = new Follower(spec, decodeHeader(header), total)
    for (const block of reader.blocks(1)) {
      const { uncles } = decodeBody(block.body)
      // The first blocks' uncles may stem from before the file, unless it starts at genesis.
      const isFilled = reader.startNumber === 0 || block.number >= reader.startNumber + 7
      follower.follow(decodeHeader(block.header), uncles, isFilled)
      assert.equal(follower.total, block.totalDifficulty, `block ${block.number}`)
    }
    return follower
  } finally {
    reader.close()
  }
}

test('mainnet’s first 8,192 blocks', { skip }, () => {
  const reader = new Era1Reader(fixturePath('era1/mainnet-00000-5ec1ffb8.era1'))
  checkGenesisHash(decodeHeader(reader.readBlock(0).header), mainnet.genesisHash)
  reader.close()
  const follower = followEra1('era1/mainnet-00000-5ec1ffb8.era1', mainnet)
  assert.equal(follower.headerCount, 8191)
  assert.equal(follower.uncleCount, 1410)
  assert.deepEqual([...follower.forks], ['Frontier'])
})

test('sepolia’s blocks 172,032 to 180,223', { skip }, () => {
  const follower = followEra1('era1/sepolia-00021-b8814b14.era1', sepolia)
  assert.equal(follower.headerCount, 8191)
  assert.ok(follower.uncleCount > 1200 && follower.uncleCount <= 1273, `${follower.uncleCount}`)
  assert.deepEqual([...follower.forks], ['London'])
})

/** Moves one field of a header as a forger might. */
const FORGERIES: readonly ((header: Header) => Partial<Header>)[] = [
  ({ number }) => ({ number: number + 1 }),
  ({ difficulty }) => ({ difficulty: difficulty + 1n }),
  ({ gasLimit }) => ({ gasLimit: gasLimit * 2n }),
  ({ gasLimit }) => ({ gasUsed: gasLimit + 1n }),
  ({ baseFeePerGas }) =>
    baseFeePerGas === undefined ? { baseFeePerGas: 7n } : { baseFeePerGas: 0n },
  ({ parentHash }) => ({ parentHash: parentHash.map((byte) => byte ^ 1) }),
  () => ({ extraData: new Uint8Array(40) }),
  () => ({ timestamp: 0n }),
]

test('forged headers of mainnet and sepolia are refused', { skip }, () => {
  for (const [name, spec] of [
    ['era1/mainnet-00000-5ec1ffb8.era1', mainnet],
    ['era1/sepolia-00021-b8814b14.era1', sepolia],
  ] as const) {
    const reader = new Era1Reader(fixturePath(name))
    for (let index = 1; index < reader.count; index += 1000) {
      const parent = decodeHeader(reader.readBlock(index - 1).header)
      const header = decodeHeader(reader.readBlock(index).header)
      validateHeader(header, parent, spec)
      for (const forge of FORGERIES) {
        const forged = sealHeader({ ...header, ...forge(header) })
        assert.throws(() => validateHeader(forged, parent, spec), { code: /^BLOCK_/ })
      }
    }
    reader.close()
  }
})

async function readChainFile(name: string): Promise<Block[]> {
  const folder = await mkdtemp(join(tmpdir(), 'varve-chain-'))
  try {
    const path = join(folder, 'chain.rlp')
    writeFileSync(path, fixtureFile(name))
    const reader = new ChainFileReader(path)
    const blocks = [...reader.blocks()].map(({ block }) => block)
    reader.close()
    return blocks
  } finally {
    await rm(folder, { recursive: true })
  }
}

function readGenesisFixture(name: string): Genesis {
  return parseGenesisJson(new TextDecoder().decode(fixtureFile(name)))
}

async function followChainFile(folder: string): Promise<{ follower: Follower; genesis: Genesis }> {
  const genesis = readGenesisFixture(`${folder}/genesis.json`)
  const first = genesisHeader(genesis, stateRootModel(genesis.accounts))
  const blocks = await readChainFile(`${folder}/chain.rlp`)
  assert.equal(toHex(first.hash), toHex(blocks[0]!.header.parentHash), 'genesis hash')
  const follower = new Follower(genesis.spec, first, first.difficulty)
  for (const { header, uncles } of blocks) follower.follow(header, uncles)
  return { follower, genesis }
}

test('the chain of execution-apis, through every fork to BPO2', { skip }, async () => {
  const { follower, genesis } = await followChainFile('execution-apis')
  assert.equal(follower.parent.number, 54)
  const forks = FORK_NAMES.slice(Fork.Homestead, Fork.Osaka + 1)
  assert.deepEqual([...follower.forks], forks)
  const environment = JSON.parse(
    new TextDecoder().decode(fixtureFile('execution-apis/forkenv.json')),
  ) as Record<string, string>
  assert.equal(genesis.spec.chainId, BigInt(environment['HIVE_CHAIN_ID']!))
  const { blobs } = genesis.spec.schedule
  assert.deepEqual(
    blobs.map(({ name, at, blob }) => [
      name,
      at,
      blob.target,
      blob.max,
      blob.baseFeeUpdateFraction,
    ]),
    ['CANCUN', 'PRAGUE', 'OSAKA', 'BPO1', 'BPO2'].map((name) => [
      name.toLowerCase(),
      Number(environment[`HIVE_${name}_TIMESTAMP`]),
      Number(environment[`HIVE_${name}_BLOB_TARGET`]),
      Number(environment[`HIVE_${name}_BLOB_MAX`]),
      BigInt(environment[`HIVE_${name}_BLOB_BASE_FEE_UPDATE_FRACTION`]!),
    ]),
  )
})

test('the chain of geth’s protocol tests, to Prague', { skip }, async () => {
  const { follower } = await followChainFile('chain-geth-ethtest')
  assert.equal(follower.headerCount, 600)
  assert.deepEqual([...follower.forks], ['Shanghai', 'Cancun', 'Prague'])
})

test('genesis states of the public networks have their roots', async () => {
  for (const name of NETWORK_NAMES) {
    const { accounts } = await namedGenesis(name)
    assert.equal(toHex(stateRootModel(accounts)), toHex(namedStateRoot(name)), name)
  }
})
