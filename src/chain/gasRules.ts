/**
 * Gas limit and the two base fees, each a function of the parent: Yellow Paper section 4.3.4, EIP-1559,
 * EIP-4844, EIP-7691, EIP-7918.
 */
import { assert, type BlobParameters, Fork, U256_MAX } from '../base/index.ts'

/** Least gas limit of a block. */
export const GAS_LIMIT_MIN = 5000n
/** Greatest: 2^63-1, as in execution clients, so that gas fits a signed 64-bit integer. */
export const GAS_LIMIT_MAX = (1n << 63n) - 1n
/** A gas limit moves by less than this part of its parent's. */
export const GAS_LIMIT_BOUND_DIVISOR = 1024n
/** EIP-1559: the gas limit is this multiple of the gas target. */
export const ELASTICITY = 2n
/** EIP-1559: base fee of the first block of London. */
export const BASE_FEE_INITIAL = 1_000_000_000n
const BASE_FEE_CHANGE_DENOMINATOR = 8n
/** EIP-4844: gas of one blob. */
export const BLOB_GAS_PER_BLOB = 131_072n
const BLOB_BASE_FEE_MIN = 1n
/** EIP-7918: execution gas whose price one blob costs at least. */
const BLOB_BASE_COST = 8192n

/** The parent's gas limit as its child's is compared to: doubled where the base fee begins (EIP-1559). */
export function gasLimitReference(
  parent: { readonly gasLimit: bigint; readonly baseFeePerGas?: bigint },
  fork: Fork,
): bigint {
  const isTransition = fork >= Fork.London && parent.baseFeePerGas === undefined
  return isTransition ? parent.gasLimit * ELASTICITY : parent.gasLimit
}

/** Base fee of the block after `parent`, from London on (EIP-1559). Wei a gas. */
export function nextBaseFee(parent: {
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  readonly baseFeePerGas?: bigint
}): bigint {
  const fee = parent.baseFeePerGas
  if (fee === undefined) return BASE_FEE_INITIAL
  const target = parent.gasLimit / ELASTICITY
  if (parent.gasUsed === target) return fee
  // A limit below 2 is no valid block's; without this a hostile genesis would divide by zero.
  if (target === 0n) return fee
  if (parent.gasUsed > target) {
    const rise = (fee * (parent.gasUsed - target)) / target / BASE_FEE_CHANGE_DENOMINATOR
    return fee + (rise > 0n ? rise : 1n)
  }
  return fee - (fee * (target - parent.gasUsed)) / target / BASE_FEE_CHANGE_DENOMINATOR
}

/** What the excess blob gas of a block follows from. Absent fields count as 0: the parent is older than Cancun. */
export type BlobParent = {
  readonly baseFeePerGas?: bigint
  readonly blobGasUsed?: bigint
  readonly excessBlobGas?: bigint
}

/**
 * Excess blob gas of the block after `parent`.
 * @param fork the child's
 * @param blob the child's blob limits, which also price the parent's excess (EIP-7918, as clients do at a BPO fork)
 */
export function nextExcessBlobGas(parent: BlobParent, fork: Fork, blob: BlobParameters): bigint {
  const excessBefore = parent.excessBlobGas ?? 0n
  const used = parent.blobGasUsed ?? 0n
  const target = BigInt(blob.target) * BLOB_GAS_PER_BLOB
  if (excessBefore + used < target) return 0n
  if (fork >= Fork.Osaka) {
    // Reserve price: 8192 * base fee > 131072 * blob base fee, that is base fee > 16 * blob base fee.
    const bound = ((parent.baseFeePerGas ?? 0n) * BLOB_BASE_COST - 1n) / BLOB_GAS_PER_BLOB
    const isBelowReserve =
      (parent.baseFeePerGas ?? 0n) > 0n &&
      fakeExponential(excessBefore, blob.baseFeeUpdateFraction, bound) <= bound
    if (isBelowReserve)
      return excessBefore + (used * BigInt(blob.max - blob.target)) / BigInt(blob.max)
  }
  return excessBefore + used - target
}

/**
 * Wei a unit of blob gas costs (EIP-4844), at most 2^256-1: what would be more is more than any sender can offer.
 */
export function blobBaseFee(excessBlobGas: bigint, blob: BlobParameters): bigint {
  return fakeExponential(excessBlobGas, blob.baseFeeUpdateFraction, U256_MAX)
}

/**
 * e^(numerator / denominator) by the series of EIP-4844, exact up to `limit`; above it some value that exceeds
 * `limit`, except that the result never exceeds 2^256-1. Stopping there bounds the work: a header may claim an
 * excess of 2^64, whose series has 10^12 growing terms, but the partial sums pass any 256-bit limit in a few hundred.
 */
export function fakeExponential(numerator: bigint, denominator: bigint, limit: bigint): bigint {
  assert(denominator > 0n, 'the update fraction is positive')
  const sumLimit = (limit + 1n) * denominator
  let sum = 0n
  let term = BLOB_BASE_FEE_MIN * denominator
  for (let index = 1n; term > 0n; index++) {
    sum += term
    if (sum >= sumLimit) return limit < U256_MAX ? limit + 1n : U256_MAX
    term = (term * numerator) / (denominator * index)
  }
  return sum / denominator
}
