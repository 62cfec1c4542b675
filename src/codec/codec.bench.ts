/** Speed of the ways in: RLP, headers, bodies with transactions, era1 files, senders. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bigintFromBytes, toHex } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import {
  type BenchMode,
  bench,
  fixturePath,
  fixturesFolder,
  Prng,
  report,
  timeNs,
} from '../testing/index.ts'
import { decodeBlock, encodeBlock } from './block.ts'
import { Era1Reader } from './era1.ts'
import { verifyEra1 } from './era1Verify.ts'
import { decodeHeader, encodeHeader, type HeaderFields } from './header.ts'
import { decodeRlp, encodeRlp, type RlpInput } from './rlp.ts'
import { openSecp256k1 } from './secp256k1.ts'
import { SenderRecovery } from './sender.ts'
import { LEGACY, randomSigned } from './transaction.fuzz.ts'
import { sealTransaction, signingHash, type Transaction } from './transaction.ts'

const RUN_COUNT = 7

/** Runs `work` several times and reports the time of one of `itemCount` items. */
function measure(
  mode: BenchMode,
  name: string,
  unit: string,
  itemCount: number,
  work: () => string,
) {
  let check = ''
  const samples: number[] = []
  const scale = unit.startsWith('ms') ? 1e6 : unit.startsWith('us') ? 1e3 : 1
  for (let run = 0; run < (mode === 'full' ? RUN_COUNT : 1); run++)
    samples.push(
      timeNs(() => {
        check = work()
      }) /
        scale /
        itemCount,
    )
  report({ name, unit, samples, check })
}

bench('codec: RLP tree of 1,000 transfers', (mode) => {
  const random = new Prng(1)
  const rows: RlpInput = Array.from({ length: mode === 'full' ? 1000 : 10 }, () => [
    ...[random.below(1000), random.bytes(5), 21_000, random.bytes(20), random.bytes(8)],
    ...[new Uint8Array(0), 37, random.bytes(32), random.bytes(32)],
  ])
  const bytes = encodeRlp(rows)
  const repeatCount = mode === 'full' ? 50 : 1
  const itemCount = rows.length * repeatCount
  measure(mode, 'RLP encode, transfer of 9 fields', 'ns', itemCount, () => {
    let length = 0
    for (let repeat = 0; repeat < repeatCount; repeat++) length += encodeRlp(rows).length
    return `${length}`
  })
  measure(mode, 'RLP decode to a tree, transfer of 9 fields', 'ns', itemCount, () => {
    let length = 0
    for (let repeat = 0; repeat < repeatCount; repeat++)
      length += (decodeRlp(bytes) as readonly unknown[]).length
    return `${length}`
  })
})

bench('codec: headers and blocks', (mode) => {
  const random = new Prng(2)
  const header = benchHeader(random)
  const bytes = encodeHeader(header)
  const repeatCount = mode === 'full' ? 20_000 : 20
  measure(mode, 'header decode with hash', 'us', repeatCount, () => {
    let sum = 0
    for (let repeat = 0; repeat < repeatCount; repeat++) sum += decodeHeader(bytes).hash[0]!
    return `${sum}`
  })
  measure(mode, 'header encode', 'us', repeatCount, () => {
    let sum = 0
    for (let repeat = 0; repeat < repeatCount; repeat++) sum += encodeHeader(header).length
    return `${sum}`
  })
  const transactions = Array.from({ length: 200 }, () => sealTransaction(randomSigned(random)))
  const block = encodeBlock({ header, transactions, uncles: [], withdrawals: [] })
  const blockCount = mode === 'full' ? 50 : 1
  measure(mode, 'transaction decode with hash, of all types', 'us', blockCount * 200, () => {
    let sum = 0
    for (let repeat = 0; repeat < blockCount; repeat++)
      sum += decodeBlock(block).transactions.at(-1)!.hash[0]!
    return `${sum}`
  })
})

bench('codec: era1 file of 8,192 blocks', (mode) => {
  if (fixturesFolder === undefined) return
  const path = fixturePath('era1/mainnet-00000-5ec1ffb8.era1')
  const count = mode === 'full' ? 8192 : 16
  measure(mode, 'era1 read and unpack, whole file', 'ms', 1, () => {
    const reader = new Era1Reader(path)
    let byteCount = 0
    for (let index = 0; index < count; index++) byteCount += reader.readBlock(index).header.length
    reader.close()
    return `${byteCount}`
  })
  if (mode === 'smoke') return
  measure(mode, 'era1 verify, whole file', 'ms', 1, () => {
    const reader = new Era1Reader(path)
    const { lastHeader } = verifyEra1(reader)
    reader.close()
    return toHex(lastHeader.hash)
  })
})

bench('codec: senders', async (mode) => {
  const random = new Prng(3)
  const transactions = Array.from({ length: mode === 'full' ? 200 : 2 }, () =>
    signedTransfer(random),
  )
  const kinds =
    (await openSecp256k1()).kind === 'native' ? (['native', 'wasm'] as const) : (['wasm'] as const)
  for (const kind of kinds) {
    const recovery = await SenderRecovery.open(kind)
    measure(mode, `sender recovery, ${kind}`, 'us', transactions.length, () =>
      toHex(keccak256(Buffer.concat(recovery.recoverSenders(transactions)))),
    )
  }
})

function signedTransfer(random: Prng): Transaction {
  const fields = { ...LEGACY, nonce: BigInt(random.below(1000)), to: random.bytes(20) }
  const key = random.bytes(32)
  const bytes = secp256k1.sign(signingHash(fields), key, { prehash: false, format: 'recovered' })
  return sealTransaction({
    ...fields,
    yParity: bytes[0] === 0 ? 0 : 1,
    r: bigintFromBytes(bytes.subarray(1, 33)),
    s: bigintFromBytes(bytes.subarray(33)),
  })
}

function benchHeader(random: Prng): HeaderFields {
  return {
    parentHash: random.bytes(32),
    uncleHash: random.bytes(32),
    coinbase: random.bytes(20),
    stateRoot: random.bytes(32),
    transactionsRoot: random.bytes(32),
    receiptsRoot: random.bytes(32),
    logsBloom: random.bytes(256),
    difficulty: 12_000_000_000_000n,
    number: 15_000_000,
    gasLimit: 30_000_000n,
    gasUsed: 12_345_678n,
    timestamp: 1_655_778_535n,
    extraData: random.bytes(20),
    mixHash: random.bytes(32),
    nonce: random.bytes(8),
    baseFeePerGas: 60_000_000_000n,
  }
}
