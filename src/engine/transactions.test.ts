/**
 * Aim: blocks with transactions pass from one engine to another in the eras of receipts, and a fault in what they claim is refused
 * without a trace. Method: one engine makes them, another imports them, as they are and with one thing changed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FORK_NAMES, Fork, isVarveError, toHex } from '../base/index.ts'
import { type Genesis, parseGenesisJson, singleForkSpec } from '../chain/index.ts'
import {
  type Block,
  decodeBlock,
  encodeBlock,
  SenderRecovery,
  sealHeader,
  sealTransaction,
  type Transaction,
} from '../codec/index.ts'
import { CONSOLIDATION_REQUESTS_ADDRESS, WITHDRAWAL_REQUESTS_ADDRESS } from '../execute/index.ts'
import { memoryStore } from '../store/index.ts'
import { openEngine } from './engine.ts'
import { addressOf, dumpStore } from './testChain.suite.ts'
import { verifyStore } from './verify/verifyStore.ts'

const recovery = await SenderRecovery.open()
/** Abscissa of the curve's generator: with it any s and hash make a signature of somebody. */
const R = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n
/** Counts up slot 0 and logs. */
const CONTRACT = addressOf(0xcc)
/** Queues without requests. */
const STOP_CODE = '0x00'
const CONTRACT_CODE = '0x60005460010160005560aa60206000a1'

function transfer(mark: bigint, to: Uint8Array): Transaction {
  return sealTransaction({
    ...{ type: 0, chainId: undefined, nonce: 0n, gasPrice: 2_000_000_000n, gasLimit: 100_000n },
    ...{ to, value: mark, data: new Uint8Array(0), yParity: 0, r: R, s: 1n + mark },
  })
}

const transactions = [1n, 2n, 3n, 4n].map((mark) =>
  transfer(mark, mark % 2n === 0n ? CONTRACT : addressOf(0x70)),
)

/** Each transaction's sender is rich. */
function genesisOf(fork: Fork): Genesis {
  const alloc: Record<string, unknown> = {
    [toHex(CONTRACT)]: { balance: '0x0', code: CONTRACT_CODE },
  }
  if (fork >= Fork.Prague)
    for (const address of [WITHDRAWAL_REQUESTS_ADDRESS, CONSOLIDATION_REQUESTS_ADDRESS])
      alloc[toHex(address)] = { balance: '0x0', code: STOP_CODE }
  for (const transaction of transactions)
    alloc[toHex(recovery.recoverSender(transaction))] = { balance: '0xde0b6b3a7640000' }
  const file = { config: { chainId: 1 }, difficulty: '0x20000', gasLimit: '0x1c9c380', alloc }
  const genesis = parseGenesisJson(JSON.stringify(file))
  return { ...genesis, spec: singleForkSpec(fork) }
}

async function made(genesis: Genesis): Promise<Block> {
  const engine = await openEngine({ store: memoryStore(), genesis })
  return engine.produce({ coinbase: addressOf(9), timestamp: 10n, transactions })
}

const eras = [
  ...[Fork.Frontier, Fork.SpuriousDragon, Fork.Byzantium, Fork.London, Fork.Cancun],
  ...[Fork.Osaka, Fork.Amsterdam],
]
for (const fork of eras)
  test(`${FORK_NAMES[fork]}: what one engine makes, another accepts`, async () => {
    const genesis = genesisOf(fork)
    const block = await made(genesis)
    const store = memoryStore()
    const engine = await openEngine({ store, genesis })
    engine.import(decodeBlock(encodeBlock(block)))
    engine.flush()
    assert.deepEqual([...verifyStore(store)], [])
    const view = engine.at('latest')
    assert.equal(view.account(addressOf(0x70))?.balance, 4n)
    assert.equal(view.account(CONTRACT)?.balance, 6n)
    assert.equal(BigInt(toHex(view.storage(CONTRACT, new Uint8Array(32)))), 2n)
  })

const faults: [name: string, code: string, make: (block: Block) => Block][] = [
  [
    'a wrong receipts root',
    'BLOCK_RECEIPTS_ROOT_INVALID',
    (block) => withHeader(block, { receiptsRoot: new Uint8Array(32) }),
  ],
  [
    'a wrong sum of gas',
    'BLOCK_GAS_USED_INVALID',
    (block) => withHeader(block, { gasUsed: block.header.gasUsed + 1n }),
  ],
  [
    'a wrong bloom',
    'BLOCK_LOGS_BLOOM_INVALID',
    (block) => withHeader(block, { logsBloom: new Uint8Array(256) }),
  ],
  [
    'a wrong state root',
    'BLOCK_STATE_ROOT_MISMATCH',
    (block) => withHeader(block, { stateRoot: new Uint8Array(32) }),
  ],
]

function withHeader(block: Block, changes: Partial<Block['header']>): Block {
  return { ...block, header: sealHeader({ ...block.header, ...changes }) }
}

const accessListFault: (typeof faults)[number] = [
  'a wrong access list',
  'BLOCK_ACCESS_LIST_HASH_INVALID',
  (block) => withHeader(block, { blockAccessListHash: new Uint8Array(32) }),
]

for (const fork of [Fork.Frontier, Fork.London, Fork.Amsterdam])
  for (const [name, code, make] of fork < Fork.Amsterdam ? faults : [...faults, accessListFault])
    test(`${FORK_NAMES[fork]}: ${name} is refused and leaves no trace`, async () => {
      const genesis = genesisOf(fork)
      const block = await made(genesis)
      const store = memoryStore()
      const engine = await openEngine({ store, genesis })
      engine.flush()
      const before = dumpStore(store)
      assert.throws(
        () => engine.import(make(block)),
        (error) => isVarveError(error, code),
      )
      engine.flush()
      assert.equal(dumpStore(store), before)
      engine.import(block)
    })

test('a transaction that may not be there makes the block invalid, and the message says which', async () => {
  const genesis = genesisOf(Fork.Frontier)
  const engine = await openEngine({ store: memoryStore(), genesis })
  const twice = [transactions[0]!, transactions[0]!]
  const choices = { coinbase: addressOf(9), timestamp: 10n }
  assert.throws(
    () => engine.produce({ ...choices, transactions: twice }),
    (error) =>
      isVarveError(error, 'TX_NONCE_TOO_LOW') &&
      error.message.startsWith('block 1, transaction 1: ') &&
      error.data['transactionIndex'] === 1,
  )
  assert.equal(engine.head.header.number, 0)
  engine.produce({ ...choices, transactions })
})
