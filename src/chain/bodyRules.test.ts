/** Bodies and receipts of real mainnet blocks against their headers, and each list damaged in turn. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_TRIE_ROOT, Fork, fromHex, ZERO_HASH } from '../base/index.ts'
import {
  type Body,
  decodeBody,
  decodeHeader,
  decodeSlimReceipts,
  type Header,
  type Receipt,
  sealHeader,
} from '../codec/index.ts'
import { fixtureRecords, fixturesMissing } from '../testing/index.ts'
import { BLOCK_BYTES_MAX, validateBody, validateReceipts } from './bodyRules.ts'
import { makeChild, makeFirst } from './headerMaker.suite.ts'
import { mainnet } from './networks.ts'
import { rulesAt, singleForkSpec } from './spec.ts'
import { orderedRootModel } from './stateRootModel.suite.ts'

const skip = fixturesMissing('mainnet bodies', 'github.com/ethereum/portal-spec-tests')

const EXTRA = { index: 1n, validatorIndex: 2n, address: new Uint8Array(20), amount: 3n }

type RealBlock = { header: Header; body: Body; receipts: Receipt[]; fork: Fork; bodyBytes: number }

async function* realBlocks(): AsyncGenerator<RealBlock> {
  type Record = { number: number; header: string; body: string; receipts: string }
  for await (const record of fixtureRecords<Record>('real-block-receipt-rlp')) {
    const header = decodeHeader(fromHex(record.header))
    assert.equal(header.number, record.number)
    const bodyBytes = fromHex(record.body)
    yield {
      header,
      body: decodeBody(bodyBytes),
      receipts: decodeSlimReceipts(fromHex(record.receipts)),
      fork: rulesAt(mainnet, header.number, header.timestamp).fork,
      bodyBytes: bodyBytes.length,
    }
  }
}

/** Mainnet's hashes of the blocks in the suite, as explorers show them. */
const HASHES: Readonly<Record<number, string>> = {
  15537394: '0x56a9bb0302da44b8c0b3df540781424684c3af04d0b7a38d72842b762076a664',
}

test('real bodies and receipts fit their headers', { skip }, async () => {
  const numbers: number[] = []
  let withdrawalCount = 0
  for await (const { header, body, receipts, fork, bodyBytes } of realBlocks()) {
    validateBody(header, body, fork, bodyBytes)
    validateReceipts(header, receipts)
    assert.equal(receipts.length, body.transactions.length)
    assert.deepEqual(
      orderedRootModel(body.transactions.map(({ raw }) => raw)),
      header.transactionsRoot,
    )
    withdrawalCount += body.withdrawals?.length ?? 0
    numbers.push(header.number)
    const known = HASHES[header.number]
    if (known !== undefined) assert.deepEqual(header.hash, fromHex(known))
  }
  assert.deepEqual(
    numbers,
    [14_764_013, 15_537_394, 17_034_870, 19_426_586, 22_162_263, 22_431_084, 22_869_878],
  )
  assert.equal(withdrawalCount, 16 * 4)
})

test('each damaged part is named', { skip }, async () => {
  for await (const { header, body, receipts, fork } of realBlocks()) {
    const { transactions, uncles, withdrawals } = body
    const refuses = (code: string, damaged: Body) =>
      assert.throws(() => validateBody(header, damaged, fork), { code }, `${header.number} ${code}`)
    refuses('BLOCK_TRANSACTIONS_ROOT_INVALID', { ...body, transactions: transactions.slice(1) })
    const [first, second, ...rest] = transactions
    if (first !== undefined && second !== undefined)
      refuses('BLOCK_TRANSACTIONS_ROOT_INVALID', {
        ...body,
        transactions: [second, first, ...rest],
      })
    refuses('BLOCK_UNCLE_HASH_INVALID', { ...body, uncles: [...uncles, header] })
    if (withdrawals === undefined)
      refuses('BLOCK_WITHDRAWALS_PRESENCE', { ...body, withdrawals: [] })
    else {
      refuses('BLOCK_WITHDRAWALS_PRESENCE', { transactions, uncles })
      refuses('BLOCK_WITHDRAWALS_ROOT_INVALID', { ...body, withdrawals: [...withdrawals, EXTRA] })
    }
    damageReceipts(header, receipts)
  }
})

function damageReceipts(header: Header, receipts: readonly Receipt[]): void {
  const refuses = (code: string, damaged: readonly Receipt[]) =>
    assert.throws(() => validateReceipts(header, damaged), { code }, `${header.number} ${code}`)
  const last = receipts.at(-1)!
  const others = receipts.slice(0, -1)
  const { cumulativeGasUsed } = last
  refuses('BLOCK_GAS_USED_INVALID', [
    ...others,
    { ...last, cumulativeGasUsed: cumulativeGasUsed + 1n },
  ])
  refuses('BLOCK_RECEIPTS_ROOT_INVALID', [
    ...others,
    { ...last, outcome: last.outcome === 1 ? 0 : 1 },
  ])
  const cleared = receipts.map((receipt) => ({ ...receipt, logsBloom: new Uint8Array(256) }))
  refuses('BLOCK_LOGS_BLOOM_INVALID', cleared)
}

test('an empty body', () => {
  const spec = singleForkSpec(Fork.Osaka)
  const header = makeChild(makeFirst(Fork.Osaka), spec)
  validateBody(header, { transactions: [], uncles: [], withdrawals: [] }, Fork.Osaka)
  validateReceipts(header, [])
  assert.deepEqual(header.transactionsRoot, EMPTY_TRIE_ROOT)
  const wrong = sealHeader({ ...header, transactionsRoot: ZERO_HASH })
  assert.throws(
    () => validateBody(wrong, { transactions: [], uncles: [], withdrawals: [] }, Fork.Osaka),
    { code: 'BLOCK_TRANSACTIONS_ROOT_INVALID' },
  )
  assert.throws(() => validateReceipts(sealHeader({ ...header, receiptsRoot: ZERO_HASH }), []), {
    code: 'BLOCK_RECEIPTS_ROOT_INVALID',
  })
})

test('the size of a block is bounded from Osaka on', () => {
  const check = (fork: Fork, blockBytes: number) => {
    const header = makeChild(makeFirst(fork), singleForkSpec(fork))
    validateBody(header, { transactions: [], uncles: [], withdrawals: [] }, fork, blockBytes)
  }
  assert.equal(BLOCK_BYTES_MAX, 8_388_608)
  check(Fork.Osaka, BLOCK_BYTES_MAX)
  check(Fork.Prague, BLOCK_BYTES_MAX + 1)
  assert.throws(() => check(Fork.Osaka, BLOCK_BYTES_MAX + 1), {
    code: 'BLOCK_SIZE_OVER_LIMIT',
    message: /at most 8388608 bytes, found 8388609/,
  })
})
