/**
 * What both implementations of keccak-256 must do, stamped out for the kernel and for its twin. Published vectors
 * come first, since two implementations of ours could share a fault; `@noble/hashes` is the oracle for the rest.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import {
  EMPTY_CODE_HASH,
  EMPTY_LIST_HASH,
  EMPTY_TRIE_ROOT,
  fromBareHex,
  toBareHex,
} from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import {
  createKeccakHasher,
  createKeccakKernel,
  KECCAK_RECORD_BYTES,
  KECCAK_SCRATCH_BYTES,
  type KeccakImplementation,
} from './keccak.ts'
import { createKernelMemory, PAGE_BYTES } from './wasm.ts'

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

/** Name, input, hash. The first group is from the Keccak team's known-answer tests (KeccakKAT-3, ShortMsgKAT_256). */
const vectors: readonly (readonly [string, Uint8Array, string])[] = [
  ['KAT 0', text(''), 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
  ['KAT 1', fromBareHex('cc'), 'eead6dbfc7340a56caedc044696a168870549a6a7f6f56961e84a54bd9970b8a'],
  [
    'KAT 33',
    fromBareHex('de8f1b3faa4b7040ed4563c3b8e598253178e87e4d0df75e4ff2f2dedd5a0be046'),
    'e78c421e6213aff8de1f025759a4f2c943db62bbde359c8737e19b3776ed2dd2',
  ],
  [
    'KAT 115',
    fromBareHex(
      'b55c10eae0ec684c16d13463f29291bf26c82e2fa0422a99c71db4af14dd9c7f33eda52fd73d017cc0f2dbe734d831f0d820d06d5f89dacc485739144f8cfd4799223b1aff9031a105cb6a029ba71e6e5867d85a554991c38df3c9ef8c1e1e9a7630be61caabca69280c399c1fb7a12d12aefc',
    ),
    '0347901965d3635005e75a1095695cca050bc9ed2d440c0372a31b348514a889',
  ],
  [
    'KAT 136',
    fromBareHex(
      'b32d95b0b9aad2a8816de6d06d1f86008505bd8c14124f6e9a163b5a2ade55f835d0ec3880ef50700d3b25e42cc0af050ccd1be5e555b23087e04d7bf9813622780c7313a1954f8740b6ee2d3f71f768dd417f520482bd3a08d4f222b4ee9dbd015447b33507dd50f3ab4247c5de9a8abd62a8decea01e3b87c8b927f5b08beb37674c6f8e380c04',
    ),
    'e717a7769448abbe5fef8187954a88ac56ded1d22e63940ab80d029585a21921',
  ],
  [
    'KAT 244',
    fromBareHex(
      '2edc282ffb90b97118dd03aaa03b145f363905e3cbd2d50ecd692b37bf000185c651d3e9726c690d3773ec1e48510e42b17742b0b0377e7de6b8f55e00a8a4db4740cee6db0830529dd19617501dc1e9359aa3bcf147e0a76b3ab70c4984c13e339e6806bb35e683af8527093670859f3d8a0fc7d493bcba6bb12b5f65e71e705ca5d6c948d66ed3d730b26db395b3447737c26fad089aa0ad0e306cb28bf0acf106f89af3745f0ec72d534968cca543cd2ca50c94b1456743254e358c1317c07a07bf2b0eca438a709367fafc89a57239028fc5fecfd53b8ef958ef10ee0608b7f5cb9923ad97058ec067700cc746c127a61ee3',
    ),
    'dd1d2a92b3f3f3902f064365838e1f5f3468730c343e2974e7a9ecfcd84aa6db',
  ],
  ['abc', text('abc'), '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'],
  [
    '896 bits',
    text(
      'abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu',
    ),
    'f519747ed599024f3882238e5ab43960132572b7345fbeb9a90769dafd21ad67',
  ],
  [
    'a million a',
    text('a'.repeat(1_000_000)),
    'fadae6b49f129bbb812be8407b7b2894f34aecf6dbd1f9b0f0c7e9853098fc96',
  ],
  ['empty code', new Uint8Array(0), toBareHex(EMPTY_CODE_HASH)],
  ['empty trie', fromBareHex('80'), toBareHex(EMPTY_TRIE_ROOT)],
  ['empty list', fromBareHex('c0'), toBareHex(EMPTY_LIST_HASH)],
  [
    'ERC-20 transfer',
    text('Transfer(address,address,uint256)'),
    'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  ],
]

/** Where faults live: around words, around blocks, and around the hasher's chunk of 617 blocks and its area. */
export const edgeLengths: readonly number[] = [
  ...[0, 1, 7, 8, 9, 31, 32, 33, 55, 56, 127, 128, 129],
  ...[1, 2, 3, 4, 5].flatMap((blocks) => [-9, -8, -1, 0, 1, 8].map((by) => 136 * blocks + by)),
  ...[83_911, 83_912, 83_913, 83_967, 83_968, 83_969, 84_048, 167_824, 167_825],
]

export function keccakSuite(implementation: KeccakImplementation): void {
  const hasher = createKeccakHasher({ implementation })
  const name = `keccak (${implementation})`

  test(`${name}: serves the implementation asked for`, () => {
    assert.equal(hasher.implementation, implementation)
  })

  test(`${name}: ${vectors.length} published vectors`, () => {
    for (const [label, input, expected] of vectors)
      assert.equal(toBareHex(hasher.keccak256(input)), expected, label)
    const batch = hasher.keccak256Batch(vectors.map(([, input]) => input))
    assert.deepEqual(
      batch.map(toBareHex),
      vectors.map(([, , expected]) => expected),
    )
  })

  test(`${name}: every length from 0 to 600, and the edges`, () => {
    const random = new Prng(1)
    const lengths = [...Array(601).keys(), ...edgeLengths]
    for (const length of lengths) {
      const input = random.bytes(length)
      assert.equal(toBareHex(hasher.keccak256(input)), toBareHex(keccak_256(input)), `${length}`)
    }
  })

  test(`${name}: results are fresh, inputs are untouched, views are honoured`, () => {
    const padded = new Prng(2).bytes(300)
    const input = padded.subarray(13, 213)
    const before = padded.slice()
    const first = hasher.keccak256(input)
    const second = hasher.keccak256(input)
    assert.deepEqual(padded, before)
    assert.notEqual(first.buffer, second.buffer)
    assert.equal(first.buffer.byteLength, 32)
    assert.deepEqual(first, keccak_256(input.slice()))
    const [one, other] = hasher.keccak256Batch([input, input])
    assert.notEqual(one!.buffer, other!.buffer)
    assert.deepEqual(one, first)
  })

  test(`${name}: keccak256Into writes 32 bytes at the offset, also over its input`, () => {
    const input = new Prng(3).bytes(100)
    const expected = keccak_256(input)
    const target = new Uint8Array(50).fill(7)
    hasher.keccak256Into(input, target, 9)
    assert.deepEqual(target.subarray(9, 41), expected)
    assert.deepEqual([...target.subarray(0, 9), ...target.subarray(41)], Array(18).fill(7))
    hasher.keccak256Into(input, input, 5)
    assert.deepEqual(input.subarray(5, 37), expected)
    for (const offset of [-1, 19, 1e9, Number.NaN])
      assert.throws(() => hasher.keccak256Into(input, target, offset), { name: 'AssertionFault' })
  })

  test(`${name}: batches of any size, with inputs that fill or exceed the memory`, () => {
    assert.deepEqual(hasher.keccak256Batch([]), [])
    const random = new Prng(4)
    const check = (inputs: readonly Uint8Array[]): void =>
      assert.deepEqual(
        hasher.keccak256Batch(inputs).map(toBareHex),
        inputs.map((input) => toBareHex(keccak_256(input))),
      )
    check(Array.from({ length: 1025 }, (_, index) => random.bytes(index % 3)))
    check([83_968, 0, 83_967, 1, 83_969, 5, 5, 200_000].map((length) => random.bytes(length)))
  })

  test(`${name}: in the caller's memory, at any offset, up to its last byte`, () => {
    const memory = createKernelMemory(1, 1)
    const bytes = new Uint8Array(memory.buffer)
    const scratch = 4096
    const kernel = createKeccakKernel(memory, scratch, { implementation })
    const random = new Prng(5)
    for (let step = 0; step < 200; step++) {
      const input = random.bytes(random.below(300))
      const inputOffset = step % 2 === 0 ? PAGE_BYTES - input.length : 8192 + random.below(64)
      const outputOffset = random.below(scratch - 32)
      bytes.set(input, inputOffset)
      kernel.hash(inputOffset, input.length, outputOffset)
      assert.deepEqual(bytes.slice(outputOffset, outputOffset + 32), keccak_256(input))
    }
    assert.deepEqual(bytes.slice(scratch + KECCAK_SCRATCH_BYTES, 8192), new Uint8Array(8192 - 5376))
  })

  test(`${name}: hashMany of no, one, equal and unequal inputs, in the order of the records`, () => {
    const random = new Prng(6)
    const batch = new MemoryBatch(implementation)
    for (const lengths of [
      [],
      [0],
      [500],
      [0, 0],
      [32, 32, 32],
      [1000, 1],
      [1, 1000],
      [135, 136],
      [136, 135],
      [1, 1, 1000],
      [1, 1000, 1],
      [1000, 1, 1, 1, 1, 1, 1, 1, 1, 1],
      [272, 136, 136, 136, 5, 700],
    ])
      batch.check(lengths.map((length) => random.bytes(length)))
  })

  test(`${name}: refuses a scratch that is not aligned or not inside the memory`, () => {
    const memory = createKernelMemory(1, 1)
    for (const offset of [8, -16, 0.5, PAGE_BYTES, PAGE_BYTES - KECCAK_SCRATCH_BYTES + 16])
      assert.throws(() => createKeccakKernel(memory, offset, { implementation }), {
        name: 'AssertionFault',
      })
    createKeccakKernel(memory, PAGE_BYTES - KECCAK_SCRATCH_BYTES, { implementation })
  })
}

/** Lays inputs out in a memory back to back, hashes them by one `hashMany`, and compares with the oracle. */
export class MemoryBatch {
  private readonly memory = createKernelMemory(4, 4)
  private readonly kernel

  constructor(implementation: KeccakImplementation) {
    this.kernel = createKeccakKernel(this.memory, 0, { implementation })
  }

  check(inputs: readonly Uint8Array[]): void {
    const recordOffset = 2048
    const outputOffset = recordOffset + inputs.length * KECCAK_RECORD_BYTES
    const bytes = new Uint8Array(this.memory.buffer)
    const records = new Uint32Array(this.memory.buffer, recordOffset, 3 * inputs.length)
    const place = (index: number): number => outputOffset + 33 * index
    let offset = place(inputs.length)
    inputs.forEach((input, index) => {
      records.set([offset, input.length, place(index)], 3 * index)
      bytes.set(input, offset)
      offset += input.length
    })
    this.kernel.hashMany(recordOffset, inputs.length)
    inputs.forEach((input, index) => {
      const hash = bytes.slice(place(index), place(index) + 32)
      const label = `input ${index} of ${inputs.map(({ length }) => length).join(' ')}`
      assert.equal(toBareHex(hash), toBareHex(keccak_256(input)), label)
    })
  }
}
