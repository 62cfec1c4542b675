/**
 * EIP-2537 as it stood in April 2024, when published tests were filled under it: nine precompiles in place of seven.
 *
 *     draft   0b G1ADD  0c G1MUL  0d G1MSM  0e G2ADD  0f G2MUL  10 G2MSM  11 PAIRING  12 MAP_FP  13 MAP_FP2
 *     final   0b G1ADD            0c G1MSM  0d G2ADD            0e G2MSM  0f PAIRING  10 MAP_FP  11 MAP_FP2
 *
 * Curves, encodings and refusals are those of the final rules; prices and addresses are not. Points of MUL and MSM have
 * to be in the subgroup: the draft took that up in the same weeks, and no published file tells before from after.
 *
 * Not here: how a file is known to be filled under the draft (`cli/testfiles`).
 */
import { Fork } from '../../base/index.ts'
import {
  BLS_G1_TERM_BYTES,
  BLS_G2_TERM_BYTES,
  BLS_PAIR_BYTES,
  blsG1Add,
  blsG1Msm,
  blsG1Mul,
  blsG2Add,
  blsG2Msm,
  blsG2Mul,
  blsMapFp2ToG2,
  blsMapFpToG1,
  blsPairing,
} from './bls12381.ts'
import { fixedGas, type MsmPrice, msmGas, type PairPrice, pairGas } from './gas.ts'
import type { PrecompileRow, PrecompileRule } from './precompile.ts'

/** Discounts in parts of 1000 for 1 to 128 terms, of both groups; the last one holds for all above. */
// biome-ignore format: a table reads by its columns
const DISCOUNTS: readonly number[] = [
  1200, 888, 764, 641, 594, 547, 500, 453, 438, 423, 408, 394, 379, 364, 349, 334,
  330, 326, 322, 318, 314, 310, 306, 302, 298, 294, 289, 285, 281, 277, 273, 269,
  268, 266, 265, 263, 262, 260, 259, 257, 256, 254, 253, 251, 250, 248, 247, 245,
  244, 242, 241, 239, 238, 236, 235, 233, 232, 231, 229, 228, 226, 225, 223, 222,
  221, 220, 219, 219, 218, 217, 216, 216, 215, 214, 213, 213, 212, 211, 211, 210,
  209, 208, 208, 207, 206, 205, 205, 204, 203, 202, 202, 201, 200, 199, 199, 198,
  197, 196, 196, 195, 194, 193, 193, 192, 191, 191, 190, 189, 188, 188, 187, 186,
  185, 185, 184, 183, 182, 182, 181, 180, 179, 179, 178, 177, 176, 176, 175, 174,
]
const G1_MUL_GAS = 12_000
const G2_MUL_GAS = 45_000
const G1_MSM_PRICE: MsmPrice = { mul: G1_MUL_GAS, discounts: DISCOUNTS }
const G2_MSM_PRICE: MsmPrice = { mul: G2_MUL_GAS, discounts: DISCOUNTS }
const PAIRING_PRICE: PairPrice = { base: 65_000, pair: 43_000 }

const since = (gas: PrecompileRule['gas'], work: PrecompileRule['work']): PrecompileRule[] => [
  // What the tools called Prague in those weeks was Cancun and these precompiles.
  { since: Fork.Cancun, gas, work },
]

/** Addresses ascending. */
// biome-ignore format: a table reads by its columns
export const DRAFT_EIP2537_ROWS: readonly PrecompileRow[] = [
  { address: 0x0b, name: 'BLS12_G1ADD', rules: since(fixedGas(500n), blsG1Add) },
  { address: 0x0c, name: 'BLS12_G1MUL', rules: since(fixedGas(BigInt(G1_MUL_GAS)), blsG1Mul) },
  { address: 0x0d, name: 'BLS12_G1MSM', rules: since(msmGas(G1_MSM_PRICE, BLS_G1_TERM_BYTES), blsG1Msm) },
  { address: 0x0e, name: 'BLS12_G2ADD', rules: since(fixedGas(800n), blsG2Add) },
  { address: 0x0f, name: 'BLS12_G2MUL', rules: since(fixedGas(BigInt(G2_MUL_GAS)), blsG2Mul) },
  { address: 0x10, name: 'BLS12_G2MSM', rules: since(msmGas(G2_MSM_PRICE, BLS_G2_TERM_BYTES), blsG2Msm) },
  { address: 0x11, name: 'BLS12_PAIRING', rules: since(pairGas(PAIRING_PRICE, BLS_PAIR_BYTES), blsPairing) },
  { address: 0x12, name: 'BLS12_MAP_FP_TO_G1', rules: since(fixedGas(5500n), blsMapFpToG1) },
  { address: 0x13, name: 'BLS12_MAP_FP2_TO_G2', rules: since(fixedGas(75_000n), blsMapFp2ToG2) },
]
