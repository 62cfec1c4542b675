/**
 * Every gas number of the precompiles, each with the specification that set it. Which fork uses which row is
 * said in `registry.ts`. Prices are `bigint`, as the interpreter's gas is 64 bits wide and modexp's has no bound.
 */

/** Yellow Paper, appendix E.1. */
export const ECRECOVER_GAS = 3000n
/** EIP-4844. */
export const KZG_GAS = 50_000n
/** EIP-7951. */
export const P256_GAS = 6900n
/** EIP-2537, table of constants. */
export const BLS_G1_ADD_GAS = 375n
export const BLS_G2_ADD_GAS = 600n
export const BLS_MAP_FP_GAS = 5500n
export const BLS_MAP_FP2_GAS = 23_800n

/** `base` and `word` (per started 32 bytes) of the hash-like precompiles. Yellow Paper, appendix E.1. */
export type WordPrice = { readonly base: number; readonly word: number }
export const SHA256_PRICE: WordPrice = { base: 60, word: 12 }
export const RIPEMD160_PRICE: WordPrice = { base: 600, word: 120 }
export const IDENTITY_PRICE: WordPrice = { base: 15, word: 3 }

/** Prices of bn254. `byzantium`: EIP-196 and EIP-197; `istanbul`: EIP-1108. */
export type Bn254Price = {
  readonly add: bigint
  readonly mul: bigint
  readonly pairing: PairPrice
}
/** A base price and one per pair of points. */
export type PairPrice = { readonly base: number; readonly pair: number }
export const BN254_PRICE: { readonly byzantium: Bn254Price; readonly istanbul: Bn254Price } = {
  byzantium: { add: 500n, mul: 40_000n, pairing: { base: 100_000, pair: 80_000 } },
  istanbul: { add: 150n, mul: 6000n, pairing: { base: 45_000, pair: 34_000 } },
}

/** EIP-2537. */
export const BLS_PAIRING_PRICE: PairPrice = { base: 37_700, pair: 32_600 }

/** Price of a multi-scalar multiplication: `pairCount * mul * discount / 1000` (EIP-2537). */
export type MsmPrice = { readonly mul: number; readonly discounts: readonly number[] }

/** Discounts in parts of 1000 for 1 to 128 pairs; the last one holds for all above. */
const G1_DISCOUNTS: readonly number[] = [
  1000, 949, 848, 797, 764, 750, 738, 728, 719, 712, 705, 698, 692, 687, 682, 677, 673, 669, 665,
  661, 658, 654, 651, 648, 645, 642, 640, 637, 635, 632, 630, 627, 625, 623, 621, 619, 617, 615,
  613, 611, 609, 608, 606, 604, 603, 601, 599, 598, 596, 595, 593, 592, 591, 589, 588, 586, 585,
  584, 582, 581, 580, 579, 577, 576, 575, 574, 573, 572, 570, 569, 568, 567, 566, 565, 564, 563,
  562, 561, 560, 559, 558, 557, 556, 555, 554, 553, 552, 551, 550, 549, 548, 547, 547, 546, 545,
  544, 543, 542, 541, 540, 540, 539, 538, 537, 536, 536, 535, 534, 533, 532, 532, 531, 530, 529,
  528, 528, 527, 526, 525, 525, 524, 523, 522, 522, 521, 520, 520, 519,
]
const G2_DISCOUNTS: readonly number[] = [
  1000, 1000, 923, 884, 855, 832, 812, 796, 782, 770, 759, 749, 740, 732, 724, 717, 711, 704, 699,
  693, 688, 683, 679, 674, 670, 666, 663, 659, 655, 652, 649, 646, 643, 640, 637, 634, 632, 629,
  627, 624, 622, 620, 618, 615, 613, 611, 609, 607, 606, 604, 602, 600, 598, 597, 595, 593, 592,
  590, 589, 587, 586, 584, 583, 582, 580, 579, 578, 576, 575, 574, 573, 571, 570, 569, 568, 567,
  566, 565, 563, 562, 561, 560, 559, 558, 557, 556, 555, 554, 553, 552, 552, 551, 550, 549, 548,
  547, 546, 545, 545, 544, 543, 542, 541, 541, 540, 539, 538, 537, 537, 536, 535, 535, 534, 533,
  532, 532, 531, 530, 530, 529, 528, 528, 527, 526, 526, 525, 524, 524,
]
export const BLS_G1_MSM_PRICE: MsmPrice = { mul: 12_000, discounts: G1_DISCOUNTS }
export const BLS_G2_MSM_PRICE: MsmPrice = { mul: 22_500, discounts: G2_DISCOUNTS }

/** The three price rules of modexp; see `modexpGas.ts` for the formulas. */
export const MODEXP_MIN_GAS = { byzantium: 0n, berlin: 200n, osaka: 500n } as const

/** A price that does not look at the input. */
export function fixedGas(gas: bigint): (input: Uint8Array) => bigint {
  return () => gas
}

/** Lengths are below 2^32, so the product stays far below 2^53 and plain numbers are exact. */
export function wordGas(price: WordPrice): (input: Uint8Array) => bigint {
  const { base, word } = price
  return (input) => BigInt(base + word * Math.ceil(input.length / 32))
}

/** @param pairBytes bytes of one pair; a remainder is refused later and priced as nothing, as in geth */
export function pairGas(price: PairPrice, pairBytes: number): (input: Uint8Array) => bigint {
  const { base, pair } = price
  return (input) => BigInt(base + pair * Math.floor(input.length / pairBytes))
}

/** @param pairBytes bytes of one point and scalar; at most 2^32 / 160 pairs, so plain numbers are exact */
export function msmGas(price: MsmPrice, pairBytes: number): (input: Uint8Array) => bigint {
  const { mul, discounts } = price
  return (input) => {
    const pairCount = Math.floor(input.length / pairBytes)
    if (pairCount === 0) return 0n
    const discount = discounts[Math.min(pairCount, discounts.length) - 1]!
    return BigInt(Math.floor((pairCount * mul * discount) / 1000))
  }
}
