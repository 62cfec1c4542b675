/**
 * Every precompile on valid input, costly and cheap shapes: microseconds a call, and Mgas/s at the price of the
 * newest fork (or of the fork named). Mgas/s is what decides how long a hostile block takes.
 */
import { p256 } from '@noble/curves/nist.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import {
  bigintToBytes,
  bytesConcat,
  FORK_NAMES,
  Fork,
  fromBareHex,
  toBareHex,
} from '../../base/index.ts'
import { bench, Prng, report, timeNs } from '../../testing/index.ts'
import { BLS_CASE, BN254_CASE } from './curves/testCurves.suite.ts'
import { preparePrecompiles } from './engines.ts'
import { precompileAt } from './registry.ts'

type Case = {
  readonly name: string
  readonly address: number
  readonly fork?: Fork
  readonly input: Uint8Array
}

const random = new Prng(1)
const word = (value: bigint | number): Uint8Array => bigintToBytes(BigInt(value), 32)
const repeat = (count: number, ...parts: Uint8Array[]): Uint8Array =>
  bytesConcat(...Array.from({ length: count }, () => parts).flat())

function modexpInput(baseBytes: number, exponentBytes: number, modulus: Uint8Array): Uint8Array {
  const exponent = random.bytes(exponentBytes)
  exponent[0]! |= 128
  return bytesConcat(
    word(baseBytes),
    word(exponentBytes),
    word(modulus.length),
    random.bytes(baseBytes),
    exponent,
    modulus,
  )
}

function modulus(length: number, isOdd: boolean): Uint8Array {
  const bytes = random.bytes(length)
  bytes[0]! |= 128
  bytes[length - 1] = isOdd ? bytes[length - 1]! | 1 : bytes[length - 1]! & 0xfe
  return bytes
}

function ecrecoverInput(): Uint8Array {
  const hash = random.bytes(32)
  const signature = secp256k1.sign(hash, random.bytes(32), { prehash: false })
  return bytesConcat(hash, word(27), signature)
}

function p256Input(): Uint8Array {
  const [hash, secret] = [random.bytes(32), random.bytes(32)]
  const signature = p256.sign(hash, secret, { prehash: false })
  return bytesConcat(hash, signature, p256.getPublicKey(secret, false).subarray(1))
}

function blake2fInput(rounds: number): Uint8Array {
  const input = bytesConcat(word(rounds).subarray(28), random.bytes(208), Uint8Array.of(1))
  return input
}

/** Distinct points, so that sums meet no special case: multiples of the generator by the engine itself. */
function msmInput(address: number, group: 1 | 2, count: number): Uint8Array {
  const parts: Uint8Array[] = []
  for (let index = 0; index < count; index++) {
    const one = bytesConcat(BLS_CASE.generators[group], word(index + 2))
    const result = precompileAt(address, Fork.Osaka)!.run(one, 1n << 40n)
    parts.push(result.kind === 'success' ? result.output : one, random.bytes(32))
  }
  return bytesConcat(...parts)
}

const KZG_INPUT = fromBareHex(
  '01e798154708fe7789429634053cbf9f99b619f9f084048927333fce637f549b564c0a11a0f704f4fc3e8acfe0f8245f0ad1347b378fbf96e206da11a5d3630624d25032e67a7e6a4910df5834b8fe70e6bcfeeac0352434196bdf4b2485d5a18f59a8d2a1a625a17f3fea0fe5eb8c896db3764f3185481bc22f91b4aaffcca25f26936857bc3a7c2539ea8ec3a952b7873033e038326e87ed3e1276fd140253fa08e9fc25fb2d9a98527fc22a2c9612fbeafdad446cbc7bcdbdcd780af2c16a',
)

function cases(mode: 'smoke' | 'full'): Case[] {
  const large = mode === 'full'
  const [bn1, bn2] = [BN254_CASE.generators[1], BN254_CASE.generators[2]]
  const [bls1, bls2] = [BLS_CASE.generators[1], BLS_CASE.generators[2]]
  const mulTop = new Uint8Array(32).fill(255)
  const field = random.bytes(128)
  field.fill(0, 0, 17)
  field.fill(0, 64, 81)
  const list: Case[] = [
    { name: 'ecrecover', address: 1, input: ecrecoverInput() },
    { name: 'sha256 of 128 B', address: 2, input: random.bytes(128) },
    { name: 'sha256 of 16 KiB', address: 2, input: random.bytes(16384) },
    { name: 'ripemd160 of 128 B', address: 3, input: random.bytes(128) },
    { name: 'identity of 128 B', address: 4, input: random.bytes(128) },
    { name: 'identity of 16 KiB', address: 4, input: random.bytes(16384) },
    { name: 'bn254 add', address: 6, input: bytesConcat(bn1, bn1) },
    { name: 'bn254 mul', address: 7, input: bytesConcat(bn1, mulTop) },
    { name: 'bn254 pairing of 1', address: 8, input: bytesConcat(bn1, bn2) },
    { name: 'bn254 pairing of 2', address: 8, input: repeat(2, bn1, bn2) },
    { name: 'bn254 pairing of 8', address: 8, input: repeat(8, bn1, bn2) },
    { name: 'blake2f, 12 rounds', address: 9, input: blake2fInput(12) },
    { name: 'blake2f, 200,000 rounds', address: 9, input: blake2fInput(200_000) },
    { name: 'kzg point evaluation', address: 0x0a, input: KZG_INPUT },
    { name: 'bls G1 add', address: 0x0b, input: bytesConcat(bls1, bls1) },
    { name: 'bls G2 add', address: 0x0d, input: bytesConcat(bls2, bls2) },
    { name: 'bls pairing of 1', address: 0x0f, input: bytesConcat(bls1, bls2) },
    { name: 'bls pairing of 2', address: 0x0f, input: repeat(2, bls1, bls2) },
    { name: 'bls pairing of 8', address: 0x0f, input: repeat(8, bls1, bls2) },
    { name: 'bls map fp', address: 0x10, input: field.subarray(0, 64) },
    { name: 'bls map fp2', address: 0x11, input: field },
    { name: 'p256verify', address: 0x100, input: p256Input() },
  ]
  for (const count of large ? [1, 2, 16, 128, 1024] : [1, 2]) {
    list.push({ name: `bls G1 msm of ${count}`, address: 0x0c, input: msmInput(0x0c, 1, count) })
    list.push({ name: `bls G2 msm of ${count}`, address: 0x0e, input: msmInput(0x0e, 2, count) })
  }
  for (const fork of [Fork.Byzantium, Fork.Berlin, Fork.Osaka])
    for (const [size, exponentBytes, isOdd] of [
      [2, 1000, true],
      [8, 1000, true],
      [8, 1000, false],
      [32, 32, true],
      [32, 32, false],
      [32, 1000, true],
      [64, 64, true],
      [64, 512, false],
      [256, 3, true],
      [256, 256, true],
      [256, 256, false],
      [1024, 1, true],
      [1024, 1024, true],
    ] as const)
      list.push({
        name: `modexp ${size} B ${isOdd ? 'odd' : 'even'}, exponent ${exponentBytes} B, ${FORK_NAMES[fork]}`,
        address: 5,
        fork,
        input: modexpInput(size, exponentBytes, modulus(size, isOdd)),
      })
  return list
}

bench('precompiles', async (mode) => {
  await preparePrecompiles()
  for (const { name, address, fork = Fork.Osaka, input } of cases(mode)) {
    const precompile = precompileAt(address, fork)!
    const gas = Number(precompile.gas(input))
    let output = new Uint8Array(0)
    const once = (): void => {
      const result = precompile.run(input, 1n << 60n)
      if (result.kind !== 'success') throw new Error(`${name}: ${result.kind}`)
      output = result.output as Uint8Array<ArrayBuffer>
    }
    once()
    if (mode === 'smoke') continue
    const samples: number[] = []
    const callCount = Math.max(1, Math.min(20_000, Math.floor(20e6 / timeNs(once))))
    for (let round = 0; round < 12; round++) {
      const taken = timeNs(() => {
        for (let call = 0; call < callCount; call++) once()
      })
      // The first rounds warm the code.
      if (round >= 3) samples.push(taken / callCount / 1000)
    }
    const check = toBareHex(output.subarray(0, 16))
    report({ name, unit: 'us', samples, check })
    report({ name, unit: 'Mgas/s', samples: samples.map((us) => gas / us), check })
  }
})
