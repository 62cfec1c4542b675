/**
 * Aim: a real era1 file passes whole, and no changed bit does. Method: two published files; small files cut out of
 * them, of which every few bits, cuts and overwrites must be refused (`era1.fuzz.ts`); faults that only a careful
 * forger makes, by hand.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isVarveError, toHex } from '../base/index.ts'
import { fixturePath, fixturesMissing } from '../testing/index.ts'
import { decodeBody, encodeBody } from './block.ts'
import { cutEra1, type ForgedBlock, flipEra1Bits, forgeEra1, fuzzEra1 } from './era1.fuzz.ts'
import { Era1Reader } from './era1.ts'
import { verifyEra1 } from './era1Verify.ts'
import { decodeHeader, encodeHeader } from './header.ts'
import { encodeReceipts } from './receipt.ts'

const MAINNET = 'era1/mainnet-00000-5ec1ffb8.era1'
const SEPOLIA = 'era1/sepolia-00021-b8814b14.era1'
const skip = fixturesMissing(
  'era1 files',
  'era1.ethportal.net, or the tests of go-ethereum and ethereumjs',
)

test('published era1 files pass whole, and encode to the same bytes', { skip }, () => {
  const expected = {
    [MAINNET]: { start: 0, uncles: 1410, transactions: 0, root: '0x5ec1ffb8' },
    [SEPOLIA]: { start: 172_032, uncles: 1273, transactions: 93, root: '0xb8814b14' },
  }
  for (const [name, { start, uncles, transactions, root }] of Object.entries(expected)) {
    const reader = new Era1Reader(fixturePath(name))
    const count = { uncles: 0, transactions: 0 }
    const rawBlocks = reader.blocks()
    const summary = verifyEra1(reader, ({ header, body, receipts, offset }) => {
      count.uncles += body.uncles.length
      count.transactions += body.transactions.length
      const raw = rawBlocks.next().value!
      assert.equal(raw.offset, offset)
      assert.equal(toHex(encodeHeader(header)), toHex(raw.header))
      assert.equal(toHex(encodeBody(body)), toHex(raw.body))
      assert.equal(toHex(encodeReceipts(receipts)), toHex(raw.receipts))
    })
    reader.close()
    assert.deepEqual(count, { uncles, transactions })
    assert.equal(summary.startNumber, start)
    assert.equal(summary.count, 8192)
    assert.equal(summary.lastHeader.number, start + 8191)
    assert.equal(toHex(reader.accumulator).slice(0, 10), root)
    assert.ok(summary.isFromWriter)
  }
})

test('blocks can be read by place', { skip }, () => {
  const reader = new Era1Reader(fixturePath(SEPOLIA))
  const [first] = reader.blocks(8191)
  assert.deepEqual(first, reader.readBlock(8191))
  assert.equal(first?.number, 180_223)
  reader.close()
})

test('no changed bit passes', { skip }, () => {
  withFolder((folder) => {
    const path = join(folder, 'cut.era1')
    // The first blocks, blocks with uncles, and blocks with transactions and logs.
    const cuts: [string, number, number][] = [
      [MAINNET, 0, 2],
      [MAINNET, 4000, 2],
      [SEPOLIA, firstWithTransactions(), 1],
    ]
    for (const [name, from, count] of cuts) {
      const bytes = cutEra1(fixturePath(name), from, count)
      writeFileSync(path, bytes)
      const reader = new Era1Reader(path)
      assert.equal(verifyEra1(reader).count, count)
      reader.close()
      const unseen: number[] = []
      const tally = flipEra1Bits(bytes, path, 7, (bit) => unseen.push(bit))
      assert.deepEqual(unseen, [], `bits of ${name} from ${from}; codes ${[...tally]}`)
      fuzzEra1(from, 300, bytes, path)
    }
  })
})

test('bits whose change keeps the meaning are found by following the writer', { skip }, () => {
  withFolder((folder) => {
    const path = join(folder, 'cut.era1')
    const bytes = cutEra1(fixturePath(MAINNET), 0, 1)
    const tally = flipEra1Bits(bytes, path, 1, () => assert.fail('a changed bit passed'))
    // Without that check these would pass: the plain bytes and all their checksums are right.
    assert.ok((tally.get('ERA1_CHANGED') ?? 0) > 0, `${[...tally]}`)
  })
})

test('a careful forger, whose checksums and accumulator fit, is refused by what the blocks say', {
  skip,
}, () => {
  withFolder((folder) => {
    const reader = new Era1Reader(fixturePath(MAINNET))
    const from = firstWithUncles(reader)
    const a: ForgedBlock = reader.readBlock(from)
    const b: ForgedBlock = reader.readBlock(from + 1)
    const c: ForgedBlock = reader.readBlock(from + 2)
    reader.close()
    const path = join(folder, 'forged.era1')
    const read = (blocks: readonly ForgedBlock[], start = from) => {
      writeFileSync(path, forgeEra1(start, blocks))
      const forged = new Era1Reader(path)
      try {
        return verifyEra1(forged).count
      } finally {
        forged.close()
      }
    }
    assert.equal(read([a, b, c]), 3)
    const total = (block: ForgedBlock, by: bigint) => ({
      ...block,
      totalDifficulty: block.totalDifficulty + by,
    })
    const faults: [code: string, blocks: readonly ForgedBlock[], start?: number][] = [
      ['ERA1_TOTAL_DIFFICULTY', [a, total(b, 1n), c]],
      ['ERA1_TOTAL_DIFFICULTY', [a, b, total(c, -1n)]],
      ['ERA1_TOTAL_DIFFICULTY', [{ ...a, totalDifficulty: 1n }]],
      ['ERA1_CHAIN', [a, b, c], from + 1],
      ['ERA1_CHAIN', [a, c, b]],
      ['ERA1_CHAIN', [a, b, b]],
      // The parent's place is taken by a block of the right number and another hash.
      ['ERA1_CHAIN', [{ ...a, header: withOtherTime(a.header) }, b, c]],
      ['ERA1_CONTENT', [{ ...a, body: Uint8Array.from([0xc2, 0xc0, 0xc0]) }]],
      ['ERA1_CONTENT', [{ ...a, body: Uint8Array.from([...a.body, 0]) }]],
      ['ERA1_CONTENT', [{ ...a, receipts: Uint8Array.from([0xc1, 0xc0]) }]],
      ['ERA1_SNAPPY', [{ ...a, receipts: new Uint8Array(0) }]],
      ['ERA1_CONTENT', [{ ...a, header: a.header.slice(0, -1) }]],
      ['ERA1_CONTENT', [{ ...b, body: a.body }], from + 1],
    ]
    faults.forEach(([code, blocks, start], index) => {
      assert.throws(
        () => read(blocks, start),
        (error) => isVarveError(error, code),
        `fault ${index}: expected ${code}`,
      )
    })
  })
})

test('a file under the name of another epoch is refused', { skip }, () => {
  withFolder((folder) => {
    const bytes = cutEra1(fixturePath(MAINNET), 10, 3)
    const refuse = (name: string) => {
      const path = join(folder, name)
      writeFileSync(path, bytes)
      const reader = new Era1Reader(path)
      try {
        return verifyEra1(reader).count
      } finally {
        reader.close()
      }
    }
    assert.equal(refuse('copy.era1'), 3)
    assert.throws(
      () => refuse('mainnet-00000-5ec1ffb8.era1'),
      (error) => isVarveError(error, 'ERA1_ACCUMULATOR'),
    )
  })
})

test('messages name the file, the byte and the block', { skip }, () => {
  withFolder((folder) => {
    const path = join(folder, 'cut.era1')
    const bytes = cutEra1(fixturePath(MAINNET), 10, 3)
    bytes[600]! ^= 1
    writeFileSync(path, bytes)
    const reader = new Era1Reader(path)
    assert.throws(
      () => verifyEra1(reader),
      (error) => {
        assert.ok(isVarveError(error))
        assert.ok(error.message.startsWith(`${path}, byte `), error.message)
        assert.match(error.message, /block 1[012]: expected .*, got /)
        assert.equal(typeof error.data['offset'], 'number')
        return true
      },
    )
    reader.close()
  })
})

test('no file, no era1 file, and an empty one are refused', () => {
  withFolder((folder) => {
    assert.throws(
      () => new Era1Reader(folder),
      (error) => isVarveError(error, 'FILE_UNREADABLE'),
    )
    const path = join(folder, 'x.era1')
    assert.throws(
      () => new Era1Reader(path),
      (error) => isVarveError(error, 'FILE_UNREADABLE'),
    )
    for (const bytes of [[], [0x65], [0x65, 0x32, 0, 0, 0, 0, 0, 0], new Array(500).fill(0)]) {
      writeFileSync(path, Uint8Array.from(bytes))
      assert.throws(
        () => new Era1Reader(path),
        (error) => isVarveError(error),
      )
    }
  })
})

test('numbers of the index beyond 2^53 are refused and named exactly', { skip }, () => {
  withFolder((folder) => {
    const path = join(folder, 'x.era1')
    const sound = cutEra1(fixturePath(MAINNET), 10, 3)
    // From the end of the file: count, three offsets, first number.
    for (const [fromEnd, value, found] of [
      [8, 2n ** 64n - 1n, '18446744073709551615'],
      [16, 2n ** 63n - 2n ** 20n - 1n, `${2n ** 63n - 2n ** 20n - 1n + BigInt(sound.length - 48)}`],
      [40, 2n ** 64n - 1n, '18446744073709551615'],
    ] as const) {
      const bytes = sound.slice()
      new DataView(bytes.buffer).setBigUint64(bytes.length - fromEnd, value, true)
      writeFileSync(path, bytes)
      assert.throws(
        () => new Era1Reader(path),
        (error) => {
          assert.ok(isVarveError(error, 'ERA1_INDEX'))
          assert.ok(error.message.endsWith(`got ${found}`), error.message)
          return true
        },
      )
    }
  })
})

function firstWithUncles(reader: Era1Reader): number {
  for (let index = 0; index < reader.count; index++)
    if (decodeBody(reader.readBlock(index).body).uncles.length > 0) return index
  return -1
}

function withOtherTime(bytes: Uint8Array): Uint8Array {
  const { hash, ...fields } = decodeHeader(bytes)
  return encodeHeader({ ...fields, timestamp: fields.timestamp + 1n })
}

function firstWithTransactions(): number {
  const reader = new Era1Reader(fixturePath(SEPOLIA))
  let found = -1
  for (const block of reader.blocks())
    if (block.receipts.length > 1 && found < 0) found = block.number - reader.startNumber
  reader.close()
  return found
}

function withFolder(work: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'varve-era1-'))
  try {
    work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
