/** Which precompile lies at which address at which fork: one table, and its view by fork. */
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
import { definePrecompile, type Precompile, type PrecompileWork } from './precompile.ts'

/** One rule: from this fork on, this price and this work. */
type Rule = {
  readonly since: Fork
  readonly gas: (input: Uint8Array) => bigint
  readonly work: PrecompileWork
}
/** An address with its rules, oldest first. */
type Row = { readonly address: number; readonly name: string; readonly rules: readonly Rule[] }

const { Frontier, Byzantium, Istanbul, Berlin, Cancun, Prague, Osaka } = Fork
const { byzantium, istanbul } = BN254_PRICE
const bn254PairingGas = {
  byzantium: pairGas(byzantium.pairing, BN254_PAIR_BYTES),
  istanbul: pairGas(istanbul.pairing, BN254_PAIR_BYTES),
}
const g1MsmGas = msmGas(BLS_G1_MSM_PRICE, BLS_G1_TERM_BYTES)
const g2MsmGas = msmGas(BLS_G2_MSM_PRICE, BLS_G2_TERM_BYTES)
const blsPairingGas = pairGas(BLS_PAIRING_PRICE, BLS_PAIR_BYTES)

const rule = (since: Fork, gas: Rule['gas'], work: PrecompileWork): Rule => ({ since, gas, work })

// biome-ignore format: a table reads by its columns
const ROWS: readonly Row[] = [
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
  { address: 0x0b, name: 'BLS12_G1ADD', rules: [rule(Prague, fixedGas(BLS_G1_ADD_GAS), blsG1Add)] },
  { address: 0x0c, name: 'BLS12_G1MSM', rules: [rule(Prague, g1MsmGas, blsG1Msm)] },
  { address: 0x0d, name: 'BLS12_G2ADD', rules: [rule(Prague, fixedGas(BLS_G2_ADD_GAS), blsG2Add)] },
  { address: 0x0e, name: 'BLS12_G2MSM', rules: [rule(Prague, g2MsmGas, blsG2Msm)] },
  { address: 0x0f, name: 'BLS12_PAIRING_CHECK', rules: [rule(Prague, blsPairingGas, blsPairing)] },
  { address: 0x10, name: 'BLS12_MAP_FP_TO_G1', rules: [rule(Prague, fixedGas(BLS_MAP_FP_GAS), blsMapFpToG1)] },
  { address: 0x11, name: 'BLS12_MAP_FP2_TO_G2', rules: [rule(Prague, fixedGas(BLS_MAP_FP2_GAS), blsMapFp2ToG2)] },
  { address: 0x100, name: 'P256VERIFY', rules: [rule(Osaka, fixedGas(P256_GAS), p256Verify)] },
]

/** Highest address of a precompile at any fork: callers can rule out all above it at once. */
export const PRECOMPILE_ADDRESS_MAX = 0x100

/** What holds at one fork. */
type ForkView = {
  readonly byAddress: readonly (Precompile | undefined)[]
  readonly addresses: readonly number[]
}

/** Each rule becomes one precompile that its forks share. */
const defined = ROWS.map(({ address, name, rules }) => ({
  address,
  rules: rules.map(({ since, gas, work }) => ({
    since,
    precompile: definePrecompile(name, gas, work),
  })),
}))

const views: readonly ForkView[] = Object.values(Fork).map(viewAt)

function viewAt(fork: Fork): ForkView {
  const byAddress = new Array<Precompile | undefined>(PRECOMPILE_ADDRESS_MAX + 1).fill(undefined)
  const addresses: number[] = []
  for (const { address, rules } of defined) {
    const current = rules.findLast(({ since }) => since <= fork)
    if (current === undefined) continue
    byAddress[address] = current.precompile
    addresses.push(address)
  }
  return { byAddress, addresses: Object.freeze(addresses) }
}

/**
 * The precompile at `address` (the number that the 20 bytes spell) under the rules of `fork`, or `undefined`.
 * The same object at each call. Cost: two array reads.
 */
export function precompileAt(address: number, fork: Fork): Precompile | undefined {
  return views[fork]!.byAddress[address]
}

/** Addresses with a precompile at `fork`, ascending: warm from the start of a transaction (EIP-2929). */
export function precompileAddresses(fork: Fork): readonly number[] {
  return views[fork]!.addresses
}
