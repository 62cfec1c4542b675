/**
 * Aim: what others wrote decodes, hashes to what they say, and encodes to the same bytes. Method: real blocks of all
 * eras, two published chains with every transaction type, JSON-RPC answers, and seeded mutations.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { bytesEqual, fromHex, isVarveError, toHex } from '../base/index.ts'
import {
  fixtureFile,
  fixturePath,
  fixtureRecords,
  fixturesFolder,
  fixturesMissing,
} from '../testing/index.ts'
import { fuzzBlocks } from './block.fuzz.ts'
import {
  type Block,
  decodeBlock,
  decodeBody,
  encodeBlock,
  encodeBody,
  uncleHashOf,
} from './block.ts'
import { ChainFileReader } from './chainFile.ts'
import { decodeHeader, encodeHeader, type HeaderFields, sealHeader } from './header.ts'
import {
  decodeReceipts,
  decodeSlimReceipts,
  encodeReceipts,
  encodeSlimReceipts,
  mergeBloom,
} from './receipt.ts'
import { decodeRlp, encodeRlp, type RlpInput } from './rlp.ts'
import { SenderRecovery } from './sender.ts'
import { decodeTransaction, encodeTransaction } from './transaction.ts'

test('real mainnet headers, bodies and receipts', {
  skip: fixturesMissing('block_data', 'github.com/ethereum/portal-spec-tests'),
}, async () => {
  let count = 0
  for await (const record of fixtureRecords<Record<'header' | 'body' | 'receipts', string>>(
    'real-block-receipt-rlp',
  )) {
    count++
    const header = decodeHeader(fromHex(record.header))
    const body = decodeBody(fromHex(record.body))
    const receipts = decodeSlimReceipts(fromHex(record.receipts))
    assert.equal(toHex(encodeHeader(header)), record.header)
    assert.equal(toHex(encodeBody(body)), record.body)
    assert.equal(toHex(encodeSlimReceipts(receipts)), record.receipts)
    assert.deepEqual(decodeReceipts(encodeReceipts(receipts)), receipts)
    assert.equal(toHex(uncleHashOf(body.uncles)), toHex(header.uncleHash))
    for (const transaction of body.transactions)
      assert.equal(toHex(encodeTransaction(transaction)), toHex(transaction.raw))
    assert.equal(receipts.length, body.transactions.length)
    const bloom = new Uint8Array(256)
    for (const receipt of receipts) {
      mergeBloom(bloom, receipt.logsBloom)
    }
    assert.equal(toHex(bloom), toHex(header.logsBloom))
    assert.equal(receipts.at(-1)?.cumulativeGasUsed, header.gasUsed)
  }
  assert.equal(count, 7)
})

test('published chains decode, link, and encode to the same bytes', {
  skip: fixturesMissing('chain.rlp', 'github.com/ethereum/execution-apis, go-ethereum'),
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-chain-'))
  try {
    const path = join(folder, 'chain.rlp')
    writeFileSync(path, fixtureFile('chain-geth-ethtest/chain.rlp'))
    const seen = [readChain(fixturePath('execution-apis/chain.rlp')), readChain(path)]
    assert.deepEqual(
      seen.map((chain) => chain.length),
      [seen[0]!.at(-1)!.header.number, seen[1]!.at(-1)!.header.number],
    )
    const types = new Set(
      seen.flat().flatMap((block) => block.transactions.map(({ type }) => type)),
    )
    assert.deepEqual([...types].sort(), [0, 1, 2, 3, 4])
    assert.ok(seen.flat().some((block) => (block.withdrawals?.length ?? 0) > 0))
    const head = JSON.parse(new TextDecoder().decode(fixtureFile('execution-apis/headfcu.json')))
    assert.equal(toHex(seen[0]!.at(-1)!.header.hash), head.params[0].headBlockHash)
    await checkSenders(seen[1]!)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

/** The test chain's transactions come with their senders in another file. */
async function checkSenders(chain: readonly Block[]): Promise<void> {
  const accounts = JSON.parse(
    new TextDecoder().decode(fixtureFile('chain-geth-ethtest/accounts.json')),
  ) as Record<string, unknown>
  const known = new Set(Object.keys(accounts).map((address) => address.toLowerCase()))
  const recovery = await SenderRecovery.open()
  const transactions = chain.flatMap((block) => block.transactions).slice(0, 300)
  for (const sender of recovery.recoverSenders(transactions)) assert.ok(known.has(toHex(sender)))
}

function readChain(path: string): Block[] {
  const reader = new ChainFileReader(path)
  const blocks: Block[] = []
  let byteCount = 0
  for (const { index, offset, bytes, block } of reader.blocks()) {
    assert.equal(index, blocks.length)
    assert.equal(offset, byteCount)
    assert.equal(toHex(encodeBlock(block)), toHex(bytes))
    const before = blocks.at(-1)
    if (before !== undefined) assert.ok(bytesEqual(block.header.parentHash, before.header.hash))
    blocks.push(block)
    byteCount += bytes.length
  }
  assert.equal(byteCount, reader.byteCount)
  reader.close()
  return blocks
}

test('header hashes of JSON-RPC answers', {
  skip: fixturesMissing(
    'real-rpc-blocks',
    'github.com/ethereumjs/ethereumjs-monorepo, status-im/nimbus-eth1',
  ),
}, async () => {
  let count = 0
  for await (const { block } of fixtureRecords<{ block: Record<string, string> }>(
    'real-rpc-blocks',
  )) {
    count++
    const header = sealHeader(headerOfJson(block))
    assert.equal(toHex(header.hash), block['hash'])
    assert.deepEqual(decodeHeader(encodeHeader(header)), header)
  }
  assert.equal(count, 21)
})

function headerOfJson(json: Record<string, string>): HeaderFields {
  const bytes = (name: string) => fromHex(json[name]!)
  const later = <Name extends string, Value>(name: Name, read: (text: string) => Value) =>
    json[name] === undefined ? {} : ({ [name]: read(json[name]) } as Record<Name, Value>)
  return {
    parentHash: bytes('parentHash'),
    uncleHash: bytes('sha3Uncles'),
    coinbase: bytes('miner'),
    stateRoot: bytes('stateRoot'),
    transactionsRoot: bytes('transactionsRoot'),
    receiptsRoot: bytes('receiptsRoot'),
    logsBloom: bytes('logsBloom'),
    difficulty: BigInt(json['difficulty']!),
    number: Number(json['number']),
    gasLimit: BigInt(json['gasLimit']!),
    gasUsed: BigInt(json['gasUsed']!),
    timestamp: BigInt(json['timestamp']!),
    extraData: bytes('extraData'),
    mixHash: bytes('mixHash'),
    nonce: bytes('nonce'),
    ...later('baseFeePerGas', BigInt),
    ...later('withdrawalsRoot', fromHex),
    ...later('blobGasUsed', BigInt),
    ...later('excessBlobGas', BigInt),
    ...later('parentBeaconBlockRoot', fromHex),
    ...later('requestsHash', fromHex),
  }
}

/** A header with every field, for what follows. */
const FULL: HeaderFields = {
  parentHash: new Uint8Array(32).fill(1),
  uncleHash: new Uint8Array(32).fill(2),
  coinbase: new Uint8Array(20).fill(3),
  stateRoot: new Uint8Array(32).fill(4),
  transactionsRoot: new Uint8Array(32).fill(5),
  receiptsRoot: new Uint8Array(32).fill(6),
  logsBloom: new Uint8Array(256).fill(7),
  difficulty: 2n ** 256n - 1n,
  number: 2 ** 53 - 1,
  gasLimit: 2n ** 63n - 1n,
  gasUsed: 2n ** 64n - 1n,
  timestamp: 2n ** 64n - 2n,
  extraData: new Uint8Array(33).fill(8),
  mixHash: new Uint8Array(32).fill(9),
  nonce: new Uint8Array(8).fill(10),
  baseFeePerGas: 0n,
  withdrawalsRoot: new Uint8Array(32).fill(11),
  blobGasUsed: 2n ** 64n - 1n,
  excessBlobGas: 0n,
  parentBeaconBlockRoot: new Uint8Array(32).fill(12),
  requestsHash: new Uint8Array(32).fill(13),
  blockAccessListHash: new Uint8Array(32).fill(14),
  slotNumber: 7n,
}

test('header field counts: those of a fork pass, all others are refused', () => {
  const names = Object.keys(FULL)
  assert.equal(names.length, 23)
  for (let count = 14; count <= 23; count++) {
    const fields = Object.fromEntries(Object.entries(FULL).slice(0, count)) as HeaderFields
    if ([15, 16, 17, 20, 21, 22, 23].includes(count)) {
      const { hash, raw, ...decoded } = decodeHeader(encodeHeader(fields))
      assert.equal(toHex(raw), toHex(encodeHeader(fields)))
      assert.deepEqual(decoded, fields)
      assert.equal(toHex(hash), toHex(sealHeader(fields).hash))
    } else if (count > 15)
      assert.throws(() => encodeHeader(fields), isFault('HEADER_FIELD_COUNT'), `${count}`)
  }
  // The same counts in bytes that another encoder made.
  const all = decodeRlp(encodeHeader(FULL)) as readonly RlpInput[]
  const decode = (list: readonly RlpInput[]) => () => decodeHeader(encodeRlp(list))
  for (const count of [18, 19])
    assert.throws(decode(all.slice(0, count)), isFault('HEADER_FIELD_COUNT'), `${count}`)
  for (let count = 0; count < 15; count++)
    assert.throws(decode(all.slice(0, count)), isFault('RLP_ITEM_MISSING'), `${count}`)
  assert.throws(decode([...all, 1]), isFault('RLP_LIST_LONG'))
  const { withdrawalsRoot: _, ...gap } = FULL
  assert.throws(() => encodeHeader(gap), isFault('HEADER_FIELD_COUNT'))
})

test('header values: what is out of range is refused, never rounded', () => {
  const withField = (field: object) => encodeHeader({ ...FULL, ...field })
  assert.throws(() => decodeHeader(withField({ gasLimit: 2n ** 64n })), isFault('RLP_RANGE'))
  assert.throws(() => decodeHeader(withField({ timestamp: 2n ** 64n })), isFault('RLP_RANGE'))
  assert.throws(() => decodeHeader(withField({ difficulty: 2n ** 256n })), isFault('RLP_RANGE'))
  assert.throws(() => decodeHeader(withField({ nonce: new Uint8Array(7) })), isFault('RLP_LENGTH'))
  assert.throws(
    () => decodeHeader(withField({ coinbase: new Uint8Array(0) })),
    isFault('RLP_LENGTH'),
  )
  assert.throws(
    () => decodeHeader(withField({ extraData: new Uint8Array(102_401) })),
    isFault('HEADER_EXTRA_DATA_LONG'),
  )
})

test('chain files: cut off, packed, too long, not a chain, absent', () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-chain-'))
  const path = join(folder, 'chain.rlp')
  const read = (bytes: Uint8Array) => () => {
    writeFileSync(path, bytes)
    const reader = new ChainFileReader(path)
    try {
      return [...reader.blocks()].length
    } finally {
      reader.close()
    }
  }
  try {
    const block = encodeBlock({ header: FULL, transactions: [], uncles: [], withdrawals: [] })
    const two = Uint8Array.from([...block, ...block])
    assert.equal(read(two)(), 2)
    assert.equal(read(new Uint8Array(0))(), 0)
    for (let length = 1; length < two.length; length++)
      if (length !== block.length)
        assert.throws(read(two.slice(0, length)), isFault('CHAIN_FILE_BLOCK'), `${length} bytes`)
    assert.throws(read(Uint8Array.from([0x1f, 0x8b, 8])), isFault('CHAIN_FILE_GZIP'))
    for (const [head, length] of [
      [[0xff, 1, 0, 0, 0, 0, 0, 0, 0], '72057594037927945'],
      [new Array(9).fill(0xff), '18446744073709551624'],
    ] as const)
      assert.throws(read(Uint8Array.from(head)), (error) => {
        assert.ok(isVarveError(error, 'CHAIN_FILE_BLOCK'))
        assert.ok(error.message.endsWith(`got ${length} bytes`), error.message)
        return true
      })
    assert.throws(read(Uint8Array.from([0xfb, 0x7f, 0, 0, 0])), isFault('CHAIN_FILE_BLOCK'))
    assert.throws(read(Uint8Array.from([0x80])), isFault('CHAIN_FILE_BLOCK'))
    assert.throws(() => new ChainFileReader(join(folder, 'none')), isFault('FILE_UNREADABLE'))
    assert.throws(() => new ChainFileReader(folder), isFault('FILE_UNREADABLE'))
    const third = Uint8Array.from([...two, 0xc0])
    assert.throws(read(third), (error) => {
      assert.ok(isVarveError(error))
      assert.equal(error.data['index'], 2)
      assert.equal(error.data['offset'], two.length)
      return true
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a pipe is refused at once, as opening it would wait for a writer', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-pipe-'))
  try {
    const path = join(folder, 'pipe.rlp')
    if (spawnSync('mkfifo', [path]).status !== 0) return context.skip('no mkfifo')
    assert.throws(
      () => new ChainFileReader(path),
      (error) => {
        assert.ok(isVarveError(error, 'FILE_UNREADABLE'))
        assert.match(error.message, /it is no regular file/)
        return true
      },
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('mutated blocks are refused or survive a round trip (short run)', {
  skip: fixturesMissing('chain.rlp', 'github.com/ethereum/execution-apis'),
}, () => {
  const path = fixturePath('execution-apis/chain.rlp')
  assert.ok(fixturesFolder !== undefined)
  const reader = new ChainFileReader(path)
  const seeds = [...reader.blocks()].map(({ bytes }) => bytes)
  reader.close()
  fuzzBlocks(1, 5000, seeds)
})

test('a transaction stands in a body in one form only', () => {
  const legacy =
    'f85f800182520894095e7baea6a6c7c4c2dfeb977efac326af552d870a801ba048b55bfa915ac795c431978d8a6a992b628d557da5ff759b307d495a36649353a0efffd310ac743f371de3b9f7f9cb56c0b28ad43601b4ab949f53faa07bd2c804'
  const raw = fromHex(`0x${legacy}`)
  assert.equal(decodeTransaction(raw).type, 0)
  const header = encodeHeader(FULL)
  const wrapped = Uint8Array.from([0xb8, raw.length, ...raw])
  const body = (transaction: Uint8Array) => {
    const payload = [...header, 0xf8, transaction.length, ...transaction, 0xc0]
    return Uint8Array.from([0xf9, payload.length >> 8, payload.length & 255, ...payload])
  }
  assert.equal(decodeBlock(body(raw)).transactions.length, 1)
  assert.throws(() => decodeBlock(body(wrapped)), isFault('TRANSACTION_TYPE_UNKNOWN'))
})

function isFault(code: string) {
  return (error: unknown) => isVarveError(error, code)
}
