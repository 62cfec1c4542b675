// What older states and moves of the head cost. A chain whose blocks change 200 accounts each, by withdrawals, so that
// no execution is in the figures; the whole window goes back and forth, and its oldest state is asked.
import { Fork, toHex } from '../../base/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import { memoryStore } from '../../store/index.ts'
import { bench, report, timeNs } from '../../testing/index.ts'
import { type Engine, openEngine } from '../engine.ts'
import { addressOf } from '../testChain.suite.ts'
import { treeGenesis } from './treeChain.suite.ts'

const ACCOUNTS_PER_BLOCK = 200
const ACCOUNT_COUNT = 20_000

function addressAt(index: number): Uint8Array {
  return keccak256(new TextEncoder().encode(`account ${index}`)).slice(12)
}

async function longChain(blockCount: number): Promise<Engine> {
  const genesis = treeGenesis(Fork.Shanghai)
  const engine = await openEngine({ store: memoryStore(), genesis, historyBlocks: blockCount })
  for (let number = 1; number <= blockCount; number++) {
    const withdrawals = Array.from({ length: ACCOUNTS_PER_BLOCK }, (_, index) => {
      const place = number * ACCOUNTS_PER_BLOCK + index
      const account = (place * 7919) % ACCOUNT_COUNT
      const [at, validatorIndex] = [BigInt(place), BigInt(account)]
      return { index: at, validatorIndex, address: addressAt(account), amount: 1n }
    })
    engine.produce({ coinbase: addressOf(1), timestamp: BigInt(number) * 12n, withdrawals })
  }
  engine.flush()
  return engine
}

bench('branches', async (mode) => {
  const blockCount = mode === 'full' ? 128 : 4
  const roundCount = mode === 'full' ? 9 : 1
  const engine = await longChain(blockCount)
  const tip = engine.head.header.hash
  const base = engine.canonicalHash(0)!
  const check = toHex(tip)
  const moves: number[] = []
  const reads: number[] = []
  const proofs: number[] = []
  const near: number[] = []
  const addresses = Array.from({ length: 200 }, (_, index) => addressAt(index))
  for (let round = 0; round < roundCount; round++) {
    const ns = timeNs(() => {
      engine.setHead(base)
      engine.setHead(tip)
    })
    moves.push((2 * blockCount * 1e9) / ns)
    const oldest = engine.at(0)
    oldest.account(addresses[0]!)
    reads.push(timeNs(() => addresses.map((address) => oldest.account(address))) / 200)
    proofs.push(timeNs(() => oldest.proof(addresses[round % 200]!)) / 1000)
    // Two states next to each other, in turns.
    const pair = [engine.at(blockCount - 1), engine.at(blockCount - 2)]
    const ask = () =>
      addresses.slice(0, 10).map((address, index) => pair[index % 2]!.proof(address))
    ask()
    near.push(timeNs(ask) / 10_000)
  }
  const shape = `${blockCount} blocks of ${ACCOUNTS_PER_BLOCK} accounts`
  report({ name: `head back and forth over ${shape}`, unit: 'blocks/s', samples: moves, check })
  report({ name: `account, ${blockCount} blocks back`, unit: 'ns', samples: reads, check })
  report({ name: `first proof, ${blockCount} blocks back`, unit: 'us', samples: proofs, check })
  report({ name: 'proofs of two neighbouring states in turns', unit: 'us', samples: near, check })
})
