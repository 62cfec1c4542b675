// Aim: blocks come back in their order with the right senders, whatever the threads do; faults of a source come after
// the blocks before them. Method: blocks of copies of one published transaction (EIP-155's example).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_TRIE_ROOT, fromBareHex, toBareHex, ZERO_HASH } from '../../base/index.ts'
import { type Block, decodeTransaction, SenderRecovery, sealHeader } from '../../codec/index.ts'
import { packTransactions, recoverPacked, unpackSenders } from './senderBatch.ts'
import { SenderPool, type SentBlock } from './senderPool.ts'

const R = '28ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276'
const RAW =
  'f86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025' +
  `a0${R}` +
  'a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83'
const SENDER = '9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f'
/** An abscissa below the curve's order that no point has. */
const R_OF_NOBODY = `80${'0'.repeat(61)}5`
const transaction = decodeTransaction(fromBareHex(RAW))
const senderless = decodeTransaction(fromBareHex(RAW.replace(R, R_OF_NOBODY)))

function blockOf(number: number, transactions: Block['transactions']): Block {
  const header = sealHeader({
    parentHash: ZERO_HASH,
    uncleHash: ZERO_HASH,
    coinbase: new Uint8Array(20),
    stateRoot: EMPTY_TRIE_ROOT,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: 1n,
    number,
    gasLimit: 5000n,
    gasUsed: 0n,
    timestamp: 1n,
    extraData: new Uint8Array(0),
    mixHash: ZERO_HASH,
    nonce: new Uint8Array(8),
  })
  return { header, transactions, uncles: [] }
}

const copies = (count: number) => Array.from({ length: count }, () => transaction)

async function collect(pool: SenderPool, source: Iterable<Block>): Promise<SentBlock[]> {
  const blocks: SentBlock[] = []
  for await (const block of pool.withSenders(source)) blocks.push(block)
  return blocks
}

test('a packed batch has a sender for each transaction', async () => {
  const recovery = await SenderRecovery.open()
  const senders = unpackSenders(recoverPacked(recovery, packTransactions(copies(3))))
  assert.deepEqual(senders?.map(toBareHex), [SENDER, SENDER, SENDER])
  assert.deepEqual(unpackSenders(recoverPacked(recovery, packTransactions([]))), [])
})

test('blocks keep their order and get their senders; small ones are left to the executor', async () => {
  const pool = new SenderPool(2)
  try {
    const counts = [0, 1, 200, 4, 0, 65, 64, 3]
    const found = await collect(
      pool,
      counts.map((count, number) => blockOf(number, copies(count))),
    )
    assert.deepEqual(
      found.map(({ block }) => block.header.number),
      [0, 1, 2, 3, 4, 5, 6, 7],
    )
    for (const { block, senders } of found) {
      const expected = block.transactions.length < 4 ? undefined : block.transactions.length
      assert.equal(senders?.length, expected)
      for (const sender of senders ?? []) assert.equal(toBareHex(sender), SENDER)
    }
  } finally {
    await pool.close()
  }
})

test('a signature of nobody leaves the whole block to the executor, and no other', async () => {
  const pool = new SenderPool(1)
  try {
    const [bad, good] = await collect(pool, [
      blockOf(1, [...copies(70), senderless]),
      blockOf(2, copies(70)),
    ])
    assert.equal(bad?.senders, undefined)
    assert.equal(good?.senders?.length, 70)
  } finally {
    await pool.close()
  }
})

test('what the source throws comes after the blocks before it', async () => {
  const pool = new SenderPool(1)
  const found: number[] = []
  function* source() {
    yield blockOf(1, copies(5))
    yield blockOf(2, [])
    throw new Error('torn')
  }
  try {
    await assert.rejects(async () => {
      for await (const { block } of pool.withSenders(source())) found.push(block.header.number)
    }, /torn/)
    assert.deepEqual(found, [1, 2])
  } finally {
    await pool.close()
  }
})

test('an iteration that is left early closes the source; a closed pool leaves senders to the executor', async () => {
  const pool = new SenderPool(1)
  let isClosed = false
  function* source() {
    try {
      for (let number = 0; ; number++) yield blockOf(number, copies(8))
    } finally {
      isClosed = true
    }
  }
  for await (const { block } of pool.withSenders(source())) if (block.header.number === 3) break
  assert.ok(isClosed)
  await pool.close()
  const [block] = await collect(pool, [blockOf(9, copies(8))])
  assert.equal(block?.senders, undefined)
})
