/** Which precompile lies at which address at which fork: one table a set, and its view by fork. */
import { Fork } from '../../base/index.ts'
import { blake2f, blake2fGas } from './blake2f.ts'
import {
  BLS_G1_TERM_BYTES,
  BLS_G2_TERM_BYTES,
  BLS_PAIR_BYTES,
  blsG1Add,
  blsG1Msm,
  blsG2Add,
  blsG2Msm,
  blsMapFp2ToG2,
  blsMapFpToG1,
  blsPairing,
} from './bls12381.ts'
import { BN254_PAIR_BYTES, bn254Add, bn254Mul, bn254Pairing } from './bn254.ts'
import { DRAFT_EIP2537_ROWS } from './draftEip2537.ts'
import { ecrecover } from './ecrecover.ts'
import {
  BLS_G1_ADD_GAS,
  BLS_G1_MSM_PRICE,
  BLS_G2_ADD_GAS,
  BLS_G2_MSM_PRICE,
  BLS_MAP_FP_GAS,
  BLS_MAP_FP2_GAS,
  BLS_PAIRING_PRICE,
  BN254_PRICE,
  ECRECOVER_GAS,
  fixedGas,
  IDENTITY_PRICE,
  KZG_GAS,
  msmGas,
  P256_GAS,
  pairGas,
  RIPEMD160_PRICE,
  SHA256_PRICE,
  wordGas,
} from './gas.ts'
import { identity, ripemd160, sha256 } from './hashes.ts'
import { kzgPointEvaluation } from './kzg.ts'
import { modexp, modexpOsaka } from './modexp.ts'
import { modexpGasBerlin, modexpGasByzantium, modexpGasOsaka } from './modexpGas.ts'
import { p256Verify } from './p256.ts'
import {
  definePrecompile,
  type Precompile,
  type PrecompileRow,
  type PrecompileRule,
} from './precompile.ts'

const { Frontier, Byzantium, Istanbul, Berlin, Cancun, Prague, Osaka } = Fork
const { byzantium, istanbul } = BN254_PRICE
const bn254PairingGas = {
  byzantium: pairGas(byzantium.pairing, BN254_PAIR_BYTES),
  istanbul: pairGas(istanbul.pairing, BN254_PAIR_BYTES),
}
const g1MsmGas = msmGas(BLS_G1_MSM_PRICE, BLS_G1_TERM_BYTES)
const g2MsmGas = msmGas(BLS_G2_MSM_PRICE, BLS_G2_TERM_BYTES)
const blsPairingGas = pairGas(BLS_PAIRING_PRICE, BLS_PAIR_BYTES)

const rule = (
  since: Fork,
  gas: PrecompileRule['gas'],
  work: PrecompileRule['work'],
): PrecompileRule => ({ since, gas, work })

// biome-ignore format: a table reads by its columns
const BASE_ROWS: readonly PrecompileRow[] = [
  { address: 0x01, name: 'ECREC', rules: [rule(Frontier, fixedGas(ECRECOVER_GAS), ecrecover)] },
  { address: 0x02, name: 'SHA256', rules: [rule(Frontier, wordGas(SHA256_PRICE), sha256)] },
  { address: 0x03, name: 'RIPEMD160', rules: [rule(Frontier, wordGas(RIPEMD160_PRICE), ripemd160)] },
  { address: 0x04, name: 'ID', rules: [rule(Frontier, wordGas(IDENTITY_PRICE), identity)] },
  { address: 0x05, name: 'MODEXP', rules: [
    rule(Byzantium, modexpGasByzantium, modexp),
    rule(Berlin, modexpGasBerlin, modexp),
    rule(Osaka, modexpGasOsaka, modexpOsaka),
  ] },
  { address: 0x06, name: 'BN254_ADD', rules: [
    rule(Byzantium, fixedGas(byzantium.add), bn254Add),
    rule(Istanbul, fixedGas(istanbul.add), bn254Add),
  ] },
  { address: 0x07, name: 'BN254_MUL', rules: [
    rule(Byzantium, fixedGas(byzantium.mul), bn254Mul),
    rule(Istanbul, fixedGas(istanbul.mul), bn254Mul),
  ] },
  { address: 0x08, name: 'BN254_PAIRING', rules: [
    rule(Byzantium, bn254PairingGas.byzantium, bn254Pairing),
    rule(Istanbul, bn254PairingGas.istanbul, bn254Pairing),
  ] },
  { address: 0x09, name: 'BLAKE2F', rules: [rule(Istanbul, blake2fGas, blake2f)] },
  { address: 0x0a, name: 'KZG_POINT_EVALUATION', rules: [rule(Cancun, fixedGas(KZG_GAS), kzgPointEvaluation)] },
]

// biome-ignore format: a table reads by its columns
const EIP2537_ROWS: readonly PrecompileRow[] = [
  { address: 0x0b, name: 'BLS12_G1ADD', rules: [rule(Prague, fixedGas(BLS_G1_ADD_GAS), blsG1Add)] },
  { address: 0x0c, name: 'BLS12_G1MSM', rules: [rule(Prague, g1MsmGas, blsG1Msm)] },
  { address: 0x0d, name: 'BLS12_G2ADD', rules: [rule(Prague, fixedGas(BLS_G2_ADD_GAS), blsG2Add)] },
  { address: 0x0e, name: 'BLS12_G2MSM', rules: [rule(Prague, g2MsmGas, blsG2Msm)] },
  { address: 0x0f, name: 'BLS12_PAIRING_CHECK', rules: [rule(Prague, blsPairingGas, blsPairing)] },
  { address: 0x10, name: 'BLS12_MAP_FP_TO_G1', rules: [rule(Prague, fixedGas(BLS_MAP_FP_GAS), blsMapFpToG1)] },
  { address: 0x11, name: 'BLS12_MAP_FP2_TO_G2', rules: [rule(Prague, fixedGas(BLS_MAP_FP2_GAS), blsMapFp2ToG2)] },
]

const P256_ROWS: readonly PrecompileRow[] = [
  { address: 0x100, name: 'P256VERIFY', rules: [rule(Osaka, fixedGas(P256_GAS), p256Verify)] },
]

/** Highest address of a precompile at any fork: callers can rule out all above it at once. */
export const PRECOMPILE_ADDRESS_MAX = 0x100

/**
 * Which table holds beside the fork. `final`: the protocol's. `eip2537-april-2024`: the draft that state tests of
 * BLS12-381 were filled under (`draftEip2537.ts`), in place of the final EIP-2537; all else is the same.
 */
export const PRECOMPILE_SETS = ['final', 'eip2537-april-2024'] as const
export type PrecompileSet = (typeof PRECOMPILE_SETS)[number]

/** What holds at one fork under one set. */
export type PrecompileView = {
  /** By the number that an address spells, 0 to `PRECOMPILE_ADDRESS_MAX`. */
  readonly byAddress: readonly (Precompile | undefined)[]
  /** Ascending. */
  readonly addresses: readonly number[]
}

/** Each rule becomes one precompile that its forks, and both sets, share. */
const base = defined(BASE_ROWS)
const p256 = defined(P256_ROWS)

type DefinedRow = {
  readonly address: number
  readonly rules: readonly { readonly since: Fork; readonly precompile: Precompile }[]
}

function defined(rows: readonly PrecompileRow[]): DefinedRow[] {
  return rows.map(({ address, name, rules }) => ({
    address,
    rules: rules.map(({ since, gas, work }) => ({
      since,
      precompile: definePrecompile(name, gas, work),
    })),
  }))
}

const views: Readonly<Record<PrecompileSet, readonly PrecompileView[]>> = {
  final: viewsOf([...base, ...defined(EIP2537_ROWS), ...p256]),
  'eip2537-april-2024': viewsOf([...base, ...defined(DRAFT_EIP2537_ROWS), ...p256]),
}

function viewsOf(rows: readonly DefinedRow[]): PrecompileView[] {
  return Object.values(Fork).map((fork) => viewAt(rows, fork))
}

function viewAt(rows: readonly DefinedRow[], fork: Fork): PrecompileView {
  const byAddress = new Array<Precompile | undefined>(PRECOMPILE_ADDRESS_MAX + 1).fill(undefined)
  const addresses: number[] = []
  for (const { address, rules } of rows) {
    const current = rules.findLast(({ since }) => since <= fork)
    if (current === undefined) continue
    byAddress[address] = current.precompile
    addresses.push(address)
  }
  return { byAddress, addresses: Object.freeze(addresses) }
}

/** All precompiles of a fork under a set: chosen once a block. The same object at each call. */
export function precompileView(fork: Fork, set: PrecompileSet = 'final'): PrecompileView {
  return views[set][fork]!
}

/**
 * The precompile at `address` (the number that the 20 bytes spell) under the rules of `fork`, or `undefined`.
 * The same object at each call. Cost: a few reads.
 */
export function precompileAt(
  address: number,
  fork: Fork,
  set: PrecompileSet = 'final',
): Precompile | undefined {
  return precompileView(fork, set).byAddress[address]
}

/** Addresses with a precompile at `fork`, ascending: warm from the start of a transaction (EIP-2929). */
export function precompileAddresses(fork: Fork, set: PrecompileSet = 'final'): readonly number[] {
  return precompileView(fork, set).addresses
}
