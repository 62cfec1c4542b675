/**
 * Aim: a stream unpacks only if it is framed, checksummed and, where asked, written as its writer writes. Method:
 * published checksums, streams made by hand, and a plain writer of seeded inputs whose blocks must
 * be recognized and of which no changed byte may be.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  bytesConcat,
  bytesEqual,
  crc32c,
  fromBareHex,
  isVarveError,
  maskCrc32c,
} from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { unpackSnappyStream } from './snappyFrame.ts'

const IDENTIFIER = fromBareHex('ff060000734e61507059')

test('CRC-32C: the vectors of RFC 3720, section B.4, and every length against one bit at a time', () => {
  const ascending = Uint8Array.from({ length: 32 }, (_, index) => index)
  assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa)
  assert.equal(crc32c(new Uint8Array(32).fill(0xff)), 0x62a8ab43)
  assert.equal(crc32c(ascending), 0x46dd794e)
  assert.equal(crc32c(ascending.slice().reverse()), 0x113fdb5c)
  assert.equal(crc32c(new TextEncoder().encode('123456789')), 0xe3069283)
  const bytes = new Prng(1).bytes(100)
  for (let start = 0; start < 9; start++)
    for (let end = start; end <= bytes.length; end++)
      assert.equal(crc32c(bytes, start, end), crcByBits(bytes.subarray(start, end)))
})

function crcByBits(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0)
  }
  return ~crc >>> 0
}

test('streams: plain chunks, packed chunks, several chunks, none', () => {
  const random = new Prng(2)
  const long = random.bytes(65_536)
  const tail = random.bytes(10)
  const unpack = (...chunks: Uint8Array[]) =>
    unpackSnappyStream(bytesConcat(IDENTIFIER, ...chunks)).bytes
  assert.equal(unpack().length, 0)
  assert.ok(bytesEqual(unpack(chunk(1, tail, tail)), tail))
  assert.ok(bytesEqual(unpack(chunk(1, long, long), chunk(1, tail, tail)), bytesConcat(long, tail)))
  // "aaaaaaaaaaaaaaaa": a literal of one byte and a copy of fifteen from one byte before.
  const packed = fromBareHex('1000613a0100')
  const plain = new TextEncoder().encode('a'.repeat(16))
  assert.ok(bytesEqual(unpack(chunk(0, packed, plain)), plain))
})

test('faults of framing are refused', () => {
  const data = new Prng(3).bytes(20)
  const good = chunk(1, data, data)
  const refused = (stream: Uint8Array, code = 'SNAPPY_FRAME') =>
    assert.throws(
      () => unpackSnappyStream(stream),
      (error) => isVarveError(error, code),
    )
  const stream = bytesConcat(IDENTIFIER, good)
  for (let length = 0; length < stream.length; length++)
    if (length !== IDENTIFIER.length) refused(stream.subarray(0, length))
  for (const type of [2, 0x7f, 0x80, 0xfd, 0xfe, 0xff])
    refused(bytesConcat(IDENTIFIER, chunk(type, data, data)))
  refused(bytesConcat(IDENTIFIER, IDENTIFIER, good))
  refused(bytesConcat(IDENTIFIER, chunk(1, new Uint8Array(0), new Uint8Array(0))))
  refused(bytesConcat(IDENTIFIER, good, good))
  const tooLong = new Uint8Array(65_537)
  refused(bytesConcat(IDENTIFIER, chunk(1, tooLong, tooLong)))
  refused(bytesConcat(IDENTIFIER, chunk(0, fromBareHex('818004'), data)))
  const wrong = stream.slice()
  wrong[wrong.length - 1]! ^= 1
  refused(wrong, 'SNAPPY_CHECKSUM')
})

test('the writer is recognized, and no changed byte of its blocks', () => {
  const random = new Prng(4)
  for (let round = 0; round < 30; round++) {
    const plain = compressible(random, random.pick([17, 18, 40, 300, 3000, 20_000, 65_536]))
    const packed = writeBlock(plain)
    if (packed.length >= plain.length - (plain.length >> 3)) continue
    const stream = bytesConcat(IDENTIFIER, chunk(0, packed, plain))
    const { bytes, isFromWriter } = unpackSnappyStream(stream, true)
    assert.ok(bytesEqual(bytes, plain))
    assert.ok(isFromWriter, `round ${round}, ${plain.length} bytes`)
    assert.equal(unpackSnappyStream(stream).isFromWriter, false)
    for (let change = 0; change < 50; change++) {
      const mutant = stream.slice()
      mutant[random.between(IDENTIFIER.length, stream.length - 1)]! ^= 1 << random.below(8)
      let found = true
      try {
        found = unpackSnappyStream(mutant, true).isFromWriter
      } catch (error) {
        if (!isVarveError(error)) throw error
        found = false
      }
      assert.equal(found, false, `round ${round}: a changed byte passes`)
    }
  }
})

/** Bytes with runs and repeats of many distances. */
function compressible(random: Prng, length: number): Uint8Array {
  const bytes: number[] = []
  while (bytes.length < length) {
    const runBytes = random.between(1, random.pick([4, 20, 100]))
    if (bytes.length === 0 || random.oneIn(3)) bytes.push(...random.bytes(runBytes))
    else if (random.oneIn(2)) bytes.push(...new Array<number>(runBytes).fill(0))
    else {
      const from = random.below(bytes.length)
      bytes.push(...bytes.slice(from, from + runBytes))
    }
  }
  return Uint8Array.from(bytes.slice(0, length))
}

function chunk(type: number, data: Uint8Array, plain: Uint8Array): Uint8Array {
  const length = data.length + 4
  const crc = maskCrc32c(crc32c(plain))
  return Uint8Array.from([
    ...[type, length & 255, (length >> 8) & 255, length >> 16],
    ...[crc & 255, (crc >>> 8) & 255, (crc >>> 16) & 255, crc >>> 24],
    ...data,
  ])
}

/**
 * The common writer once more, plainly and with output: the model of `snappyWriter.ts`. That both follow the writer
 * as it is in the world is shown by the published era1 files, where all 49,152 streams match.
 */
function writeBlock(plain: Uint8Array): Uint8Array {
  const out: number[] = []
  for (let rest = plain.length; ; rest = rest >>> 7) {
    if (rest < 128) {
      out.push(rest)
      break
    }
    out.push((rest & 127) | 128)
  }
  const view = new DataView(plain.buffer, plain.byteOffset, plain.length)
  const word = (at: number) => view.getUint32(at, true)
  let bits = 8
  while (bits < 14 && 1 << bits < plain.length) bits++
  const last = new Map<number, number>()
  const slot = (at: number) => Math.imul(word(at), 0x1e35a7bd) >>> (32 - bits)
  const literal = (from: number, to: number) => {
    const rest = to - from - 1
    if (rest < 0) return
    if (rest < 60) out.push(rest << 2)
    else if (rest < 256) out.push(240, rest)
    else out.push(244, rest & 255, rest >> 8)
    out.push(...plain.subarray(from, to))
  }
  const copy = (offset: number, length: number) => {
    const long = (count: number) => out.push(((count - 1) << 2) | 2, offset & 255, offset >> 8)
    let left = length
    for (; left >= 68; left -= 64) long(64)
    if (left > 64) {
      long(60)
      left -= 60
    }
    if (left >= 12 || offset >= 2048) long(left)
    else out.push(((offset >> 8) << 5) | ((left - 4) << 2) | 1, offset & 255)
  }
  const limit = plain.length - 15
  let emitted = 0
  let at = 1
  // Looks the place up and leaves the new one there, as both searches of the writer do.
  const exchange = (place: number) => {
    const before = last.get(slot(place)) ?? 0
    last.set(slot(place), place)
    return before
  }
  outer: while (plain.length >= 17) {
    let candidate = 0
    for (let skip = 32; ; ) {
      const next = at + (skip >> 5)
      if (next > limit) break outer
      skip += skip >> 5
      candidate = exchange(at)
      if (word(at) === word(candidate)) break
      at = next
    }
    literal(emitted, at)
    do {
      let length = 4
      while (at + length < plain.length && plain[at + length] === plain[candidate + length])
        length++
      copy(at - candidate, length)
      at += length
      emitted = at
      if (at >= limit) break outer
      last.set(slot(at - 1), at - 1)
      candidate = exchange(at)
    } while (word(at) === word(candidate))
    at++
  }
  literal(emitted, plain.length)
  return Uint8Array.from(out)
}
