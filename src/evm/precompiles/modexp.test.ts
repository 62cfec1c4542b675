/**
 * Aim: modexp is right at every edge of its operands, in each way of computing, and its price is exact where lengths
 * are absurd. Method: a bitwise model of the power and the pseudo-code of the three price EIPs, written out again.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigintFromBytes, bigintToBytes, bytesConcat, Fork, fromBareHex } from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import { fuzzModPow, modPowNaive } from './modPow.fuzz.ts'
import { modPow } from './modPow.ts'
import { modPowNative } from './modPowNative.ts'
import { modPowSmall } from './modPowSmall.ts'
import { precompileAt } from './registry.ts'

const word = (value: bigint | number): Uint8Array => bigintToBytes(BigInt(value), 32)
const AMPLE_GAS = 1n << 62n

function header(
  base: bigint,
  exponent: bigint,
  modulus: bigint,
  ...data: Uint8Array[]
): Uint8Array {
  return bytesConcat(word(base), word(exponent), word(modulus), ...data)
}

test('modPow agrees with the model on random and edge operands', (context) => {
  const seed = Number(process.env['VARVE_SEED'] ?? 20_260_101)
  context.diagnostic(`seed ${seed}`)
  fuzzModPow(seed, 1500)
})

test('modPow: 0 ** 0 is 1, modulus 0 and 1 give 0, leading zeros count for nothing', () => {
  const none = new Uint8Array(0)
  assert.equal(modPow(0n, none, 7n), 1n)
  assert.equal(modPow(0n, new Uint8Array(40), 8n), 1n)
  assert.equal(modPow(5n, none, 1n), 0n)
  assert.equal(modPow(5n, Uint8Array.of(3), 0n), 0n)
  assert.equal(modPow(0n, Uint8Array.of(0, 1), 1n << 600n), 0n)
  assert.equal(modPow(3n, bytesConcat(new Uint8Array(100), Uint8Array.of(5)), 1000n), 243n)
})

test('modPowSmall is exact at the top of its range', () => {
  const random = new Prng(7)
  for (let step = 0; step < 3000; step++) {
    const modulus = (1 << 26) - 1 - random.below(1000)
    const base = modulus - 1 - random.below(1000)
    const exponent = random.bytes(3)
    assert.equal(
      BigInt(modPowSmall(base, exponent, modulus)),
      modPowNaive(BigInt(base), bigintFromBytes(exponent), BigInt(modulus)),
    )
  }
})

test('modPowSmall is exact where products are multiples: 49 * (1 / 49) is below 1 in doubles', () => {
  for (let modulus = 1; modulus < 130; modulus++)
    for (let base = 0; base < modulus; base++)
      for (const exponent of [0, 1, 2, 3, 5, 8])
        assert.equal(
          BigInt(modPowSmall(base, Uint8Array.of(exponent), modulus)),
          modPowNaive(BigInt(base), BigInt(exponent), BigInt(modulus)),
          `${base} ** ${exponent} % ${modulus}`,
        )
})

test('OpenSSL serves odd moduli, small ones too, and powers of 0, 1 and -1', () => {
  const exponent = fromBareHex('f123456789abcdef0123')
  const big = bigintFromBytes(exponent)
  const cases: [bigint, bigint][] = [
    [2n, 3n],
    [5n, 2n ** 61n - 1n],
    [3n, 3n ** 400n],
    [6n, 3n ** 400n],
    [2n ** 600n, 2n ** 1200n - 1n],
    [2n ** 600n, 2n ** 600n + 1n],
    [2n ** 521n - 2n, 2n ** 521n - 1n],
    [2n, 2n ** 8192n - 1n],
  ]
  for (const [base, modulus] of cases)
    assert.equal(
      modPowNative(base % modulus, exponent, modulus),
      modPowNaive(base, big, modulus),
      `${base} modulo ${modulus}`,
    )
  // Above OpenSSL's size the caller is told to fall back.
  assert.equal(modPowNative(2n, exponent, 2n ** 9999n + 1n), undefined)
  // An exponent that every check prime's order divides cannot be told apart from a fault.
  const order = [67_108_187, 67_107_983, 67_107_539].reduce((a, p) => a * BigInt(p - 1), 1n)
  assert.equal(modPowNative(2n, bigintToBytes(order, 12), 2n ** 521n - 1n), undefined)
  assert.equal(
    modPow(2n, bigintToBytes(order, 12), 2n ** 521n - 1n),
    modPowNaive(2n, order, 2n ** 521n - 1n),
  )
})

test('operands that the input does not hold are zeros', () => {
  const modexp = precompileAt(5, Fork.Berlin)!
  const output = (input: Uint8Array) => {
    const result = modexp.run(input, AMPLE_GAS)
    assert.ok(result.kind === 'success')
    return [...result.output]
  }
  assert.deepEqual(output(new Uint8Array(0)), [])
  assert.deepEqual(output(header(0n, 0n, 3n)), [0, 0, 0])
  // base 3, exponent 0x0200, modulus 0x0700: only their first bytes are there.
  assert.deepEqual(output(header(1n, 1n, 2n, Uint8Array.of(3, 2, 7))), [0, 9])
  assert.deepEqual(output(header(1n, 2n, 1n, Uint8Array.of(3, 1))), [0])
  assert.deepEqual(output(header(0n, 0n, 1n, Uint8Array.of(1))), [0])
  assert.deepEqual(output(header(0n, 0n, 1n, Uint8Array.of(2))), [1])
  // Half of a header.
  assert.deepEqual(output(Uint8Array.of(...word(0), 0)), [])
})

test('absurd lengths cost what the formula says and allocate nothing', () => {
  const huge = (1n << 256n) - 1n
  const absurd: [bigint, bigint, bigint][] = [
    [huge, huge, huge],
    [huge, 0n, 0n],
    [0n, huge, 1n],
    [1n, 1n, huge],
    [1n << 64n, 0n, 0n],
  ]
  for (const fork of [Fork.Byzantium, Fork.Berlin, Fork.Osaka]) {
    const modexp = precompileAt(5, fork)!
    for (const lengths of absurd) {
      const input = header(...lengths)
      assert.equal(modexp.gas(input), gasModel(fork, input))
      assert.deepEqual(modexp.run(input, AMPLE_GAS), { kind: 'outOfGas' })
      // Even with all gas paid nothing is allocated.
      assert.equal(modexp.run(input, 1n << 1100n).kind, 'failure')
    }
  }
  // No base and no modulus: before Osaka nothing is computed, whatever the exponent; its price is its own.
  const empty = header(0n, huge, 0n)
  for (const fork of [Fork.Byzantium, Fork.Berlin]) {
    const result = precompileAt(5, fork)!.run(empty, 1n << 1100n)
    assert.ok(result.kind === 'success' && result.output.length === 0)
  }
  assert.equal(precompileAt(5, Fork.Byzantium)!.gas(empty), 0n)
})

test('EIP-7823: 1024 bytes are the most from Osaka on', () => {
  const at = (fork: Fork, input: Uint8Array) => precompileAt(5, fork)!.run(input, AMPLE_GAS).kind
  for (const place of [0, 1, 2]) {
    const lengths = [1n, 1n, 1n] as [bigint, bigint, bigint]
    lengths[place] = 1024n
    assert.equal(at(Fork.Osaka, header(...lengths)), 'success')
    lengths[place] = 1025n
    assert.equal(at(Fork.Osaka, header(...lengths)), 'failure')
    assert.equal(at(Fork.Prague, header(...lengths)), 'success')
  }
  assert.equal(at(Fork.Osaka, header(0n, 1025n, 0n)), 'failure')
})

test('prices agree with the EIPs on random headers', () => {
  const random = new Prng(5)
  for (let step = 0; step < 3000; step++) {
    const [base, exponent, modulus] = [0, 0, 0].map(() =>
      BigInt(random.below(random.pick([2, 34, 70, 1030, 5000]))),
    )
    const data = random.oneIn(3) ? random.bytes(random.below(200)) : new Uint8Array(200)
    if (random.oneIn(2)) data.fill(0, 0, random.below(80))
    const input = header(base!, exponent!, modulus!, data)
    const cut = random.oneIn(4) ? input.subarray(0, random.below(input.length)) : input
    for (const fork of [Fork.Byzantium, Fork.Berlin, Fork.Osaka])
      assert.equal(precompileAt(5, fork)!.gas(cut), gasModel(fork, cut), `step ${step}`)
  }
})

/** The pseudo-code of EIP-198, EIP-2565 and EIP-7883 over a padded copy, with the exponent's head as a number. */
function gasModel(fork: Fork, input: Uint8Array): bigint {
  const padded = bytesConcat(input, new Uint8Array(6000))
  const [base, exponent, modulus] = [0, 32, 64].map((at) =>
    bigintFromBytes(padded.subarray(at, at + 32)),
  ) as [bigint, bigint, bigint]
  const atLeast = (least: bigint, value: bigint) => (value < least ? least : value)
  const length = atLeast(base, modulus)
  const headLength = exponent < 32n ? Number(exponent) : 32
  const start = base < BigInt(input.length) ? 96 + Number(base) : padded.length - 32
  const head = bigintFromBytes(padded.subarray(start, start + headLength))
  const headBits = head === 0n ? 0n : BigInt(head.toString(2).length - 1)
  const factor = fork === Fork.Osaka ? 16n : 8n
  let iterations = exponent <= 32n ? headBits : factor * (exponent - 32n) + headBits
  if (iterations < 1n) iterations = 1n
  const words = (length + 7n) / 8n
  if (fork === Fork.Byzantium) {
    const x = length
    if (x <= 64n) return (x ** 2n * iterations) / 20n
    if (x <= 1024n) return ((x ** 2n / 4n + 96n * x - 3072n) * iterations) / 20n
    return ((x ** 2n / 16n + 480n * x - 199680n) * iterations) / 20n
  }
  if (fork === Fork.Berlin) return atLeast(200n, (words ** 2n * iterations) / 3n)
  return atLeast(500n, (length > 32n ? 2n * words ** 2n : 16n) * iterations)
}
