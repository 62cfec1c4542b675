/**
 * A small chain made with the project's own encoders: a genesis, and blocks with rewards and uncles across the forks of
 * proof of work. Deterministic, so the demonstration prints the same head everywhere.
 */
import { FORK_NAMES, Fork, toHex } from '../base/index.ts'
import { type Genesis, headerAfter, parseGenesisJson } from '../chain/index.ts'
import { type Block, type Header, sealHeader } from '../codec/index.ts'
import { openEngine } from '../engine/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { memoryStore } from '../store/index.ts'

/** Blocks of the demonstration, genesis not counted. */
export const DEMO_BLOCK_COUNT = 2000
const MINER_COUNT = 40
const GENESIS_ACCOUNT_COUNT = 500
const SECONDS_PER_BLOCK = 13n
/** Every so many blocks an uncle is named. */
const UNCLE_PERIOD = 5

/** The chain's genesis as a geth genesis.json. */
export function demoGenesisText(): string {
  const alloc = Object.fromEntries(
    Array.from({ length: GENESIS_ACCOUNT_COUNT }, (_, index) => [
      toHex(demoAddress(`account ${index}`)),
      { balance: `${BigInt(index + 1) * 10n ** 18n}` },
    ]),
  )
  const config = {
    chainId: 1337,
    homesteadBlock: 200,
    eip150Block: 400,
    eip155Block: 600,
    eip158Block: 600,
    byzantiumBlock: 800,
    constantinopleBlock: 1200,
    petersburgBlock: 1200,
    istanbulBlock: 1400,
    berlinBlock: 1600,
    londonBlock: 1800,
  }
  return JSON.stringify({
    config,
    difficulty: '0x20000',
    gasLimit: '0x1c9c380',
    timestamp: '0x0',
    alloc,
  })
}

/** An address that nobody has the key of. */
export function demoAddress(name: string): Uint8Array {
  return keccak256(new TextEncoder().encode(`varve demo ${name}`)).slice(12)
}

/** Makes the chain in memory. Yields each block, genesis first. */
export async function* demoBlocks(genesis: Genesis): AsyncGenerator<Block> {
  const engine = await openEngine({ store: memoryStore(), genesis })
  yield { header: engine.head.header, transactions: [], uncles: [] }
  let grandparent: Header | undefined
  for (let number = 1; number <= DEMO_BLOCK_COUNT; number++) {
    const parent = engine.head.header
    const uncles =
      grandparent !== undefined && number % UNCLE_PERIOD === 0
        ? [demoUncle(grandparent, genesis)]
        : []
    yield engine.produce({
      coinbase: demoAddress(`miner ${number % MINER_COUNT}`),
      timestamp: parent.timestamp + SECONDS_PER_BLOCK,
      extraData: new TextEncoder().encode('varve'),
      uncles,
    })
    grandparent = parent
  }
}

/** A block beside the parent's that lost the race. */
function demoUncle(grandparent: Header, genesis: Genesis): Header {
  return sealHeader(
    headerAfter(grandparent, genesis.spec, {
      coinbase: demoAddress(`late miner ${grandparent.number % MINER_COUNT}`),
      timestamp: grandparent.timestamp + SECONDS_PER_BLOCK + 1n,
      extraData: new TextEncoder().encode('late'),
    }),
  )
}

/** The demonstration's genesis. */
export function demoGenesis(): Genesis {
  return parseGenesisJson(demoGenesisText())
}

/** Names of the forks that the chain goes through, for the report. */
export const DEMO_FORKS = `${FORK_NAMES[Fork.Frontier]} to ${FORK_NAMES[Fork.London]}`
