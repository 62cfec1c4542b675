/**
 * Fuzzing of the era1 check: small files are cut out of a real one, and each changed bit, cut and shift must be
 * refused with a code. Nothing is known about which check finds it; that something does is the point.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { bigintToBytes, crc32c, isVarveError, maskCrc32c } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { Prng } from '../testing/index.ts'
import { ENTRY_HEADER_BYTES, type Era1Block, Era1EntryType, Era1Reader } from './era1.ts'
import { Era1Accumulator } from './era1Accumulator.ts'
import { verifyEra1 } from './era1Verify.ts'
import { decodeHeader } from './header.ts'

/** Cuts blocks out of an era1 file, entry by entry, and closes them with their own accumulator and index. */
export function cutEra1(sourcePath: string, fromIndex: number, count: number): Uint8Array {
  const reader = new Era1Reader(sourcePath)
  const accumulator = new Era1Accumulator()
  const offsets: number[] = []
  const start = reader.offsetOf(fromIndex)
  let end = start
  for (let index = fromIndex; index < fromIndex + count; index++) {
    const block = reader.readBlock(index)
    accumulator.add(decodeHeader(block.header).hash, block.totalDifficulty)
    offsets.push(block.offset - start + ENTRY_HEADER_BYTES)
    end = block.endOffset
  }
  const startNumber = reader.startNumber + fromIndex
  reader.close()
  const blocks = readFileSync(sourcePath).subarray(start, end)
  return closeEra1(startNumber, blocks, offsets, accumulator.root())
}

/** A block whose parts may be false. */
export type ForgedBlock = Pick<Era1Block, 'header' | 'body' | 'receipts' | 'totalDifficulty'>

/** Writes blocks as a careful forger would: index, checksums and accumulator fit whatever the blocks say. */
export function forgeEra1(startNumber: number, blocks: readonly ForgedBlock[]): Uint8Array {
  const accumulator = new Era1Accumulator()
  const offsets: number[] = []
  const bytes: number[] = []
  for (const { header, body, receipts, totalDifficulty } of blocks) {
    offsets.push(ENTRY_HEADER_BYTES + bytes.length)
    bytes.push(...entry(Era1EntryType.Header, plainStream(header)))
    bytes.push(...entry(Era1EntryType.Body, plainStream(body)))
    bytes.push(...entry(Era1EntryType.Receipts, plainStream(receipts)))
    const total = bigintToBytes(totalDifficulty, 32).reverse()
    bytes.push(...entry(Era1EntryType.TotalDifficulty, [...total]))
    accumulator.add(keccak256(header), totalDifficulty)
  }
  return closeEra1(startNumber, Uint8Array.from(bytes), offsets, accumulator.root())
}

function closeEra1(
  startNumber: number,
  blocks: Uint8Array,
  offsets: readonly number[],
  root: Uint8Array,
): Uint8Array {
  const indexOffset = ENTRY_HEADER_BYTES + blocks.length + ENTRY_HEADER_BYTES + 32
  return Uint8Array.from([
    ...entry(Era1EntryType.Version, []),
    ...blocks,
    ...entry(Era1EntryType.Accumulator, [...root]),
    ...entry(Era1EntryType.BlockIndex, [
      ...uint64LE(startNumber),
      ...offsets.flatMap((offset) => uint64LE(offset - indexOffset)),
      ...uint64LE(offsets.length),
    ]),
  ])
}

/** A snappy stream of one chunk that is not packed. */
function plainStream(data: Uint8Array): number[] {
  const length = data.length + 4
  const crc = maskCrc32c(crc32c(data))
  return [
    ...[0xff, 6, 0, 0, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59],
    ...[1, length & 255, (length >> 8) & 255, length >> 16],
    ...[crc & 255, (crc >>> 8) & 255, (crc >>> 16) & 255, crc >>> 24],
    ...data,
  ]
}

/** How the changes of a run were found: error codes and how often. `undefined` stands for not at all. */
export type Era1FuzzTally = Map<string | undefined, number>

/**
 * Changes every `stride`-th bit in turn and checks the file.
 * @param path a file that this writes over; its folder must exist
 * @param visit told the bit of each change that was not refused
 */
export function flipEra1Bits(
  bytes: Uint8Array,
  path: string,
  stride: number,
  visit: (bit: number) => void,
): Era1FuzzTally {
  const tally: Era1FuzzTally = new Map()
  const copy = bytes.slice()
  for (let bit = 0; bit < copy.length * 8; bit += stride) {
    copy[bit >> 3]! ^= 1 << (bit & 7)
    const code = codeOf(copy, path)
    tally.set(code, (tally.get(code) ?? 0) + 1)
    if (code === undefined) visit(bit)
    copy[bit >> 3]! ^= 1 << (bit & 7)
  }
  return tally
}

/** Cuts, doubles, removes, swaps and overwrites stretches of a file. @param seed printed with any failure */
export function fuzzEra1(seed: number, stepCount: number, bytes: Uint8Array, path: string): void {
  const random = new Prng(seed)
  for (let step = 0; step < stepCount; step++) {
    const at = random.below(bytes.length)
    const length = random.between(1, Math.min(bytes.length - at, random.pick([1, 8, 64, 4096])))
    const part = bytes.subarray(at, at + length)
    const before = bytes.subarray(0, at)
    const after = bytes.subarray(at + length)
    const replaced: readonly Uint8Array[] = random.pick([
      [before],
      [before, after],
      [before, part, part, after],
      [before, random.bytes(length), after],
      [before, new Uint8Array(length), after],
      [before, part, random.bytes(length), after],
    ])
    const mutant = Buffer.concat(replaced)
    if (mutant.equals(bytes)) continue
    const code = codeOf(mutant, path)
    assert.ok(code !== undefined, `seed ${seed} step ${step}: not refused`)
  }
}

/** The code a file is refused with. Any other error than a `VarveError` is thrown on. */
function codeOf(bytes: Uint8Array, path: string): string | undefined {
  writeFileSync(path, bytes)
  let reader: Era1Reader | undefined
  try {
    reader = new Era1Reader(path)
    verifyEra1(reader)
    return undefined
  } catch (error) {
    if (!isVarveError(error)) throw error
    return error.code
  } finally {
    reader?.close()
  }
}

function entry(type: number, data: readonly number[]): number[] {
  const length = data.length
  return [type & 255, type >> 8, length & 255, (length >> 8) & 255, length >> 16, 0, 0, 0, ...data]
}

/** Eight little-endian bytes, a negative number as its two's complement. */
function uint64LE(value: number): number[] {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, BigInt(value)), true)
  return [...bytes]
}
