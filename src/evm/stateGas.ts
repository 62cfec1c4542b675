/** What growth of the state costs from Amsterdam on (EIP-8037, as of bal@v5.7.0). The kernel has its own copy of the bytes. */
import { type AmsterdamDraft, Fork } from '../base/index.ts'

/** Bytes that each growth counts for. */
export const ACCOUNT_STATE_BYTES = 112n
export const SLOT_STATE_BYTES = 32n
/** A delegation that an authorization writes (EIP-7702). */
export const DELEGATION_STATE_BYTES = 23n

const BLOCKS_PER_YEAR = 2_628_000n
/** 100 GiB. */
const GROWTH_PER_YEAR = 100n << 30n
const SIGNIFICANT_BITS = 5
const OFFSET = 9578n
/** The draft before had one price for blocks of any limit. */
const BYTE_GAS_OLD_DRAFT = 1174n

/** What the price depends on. */
export type PricedBlock = {
  readonly fork: Fork
  readonly gasLimit: bigint
  /** `bal@v5.7` without it. */
  readonly amsterdamDraft?: AmsterdamDraft | undefined
}

/**
 * Gas a byte of new state in a block with this gas limit; 0 before Amsterdam. It aims at 100 GiB a year for blocks
 * that are half full, in steps of five significant bits, so that small moves of the limit change no price.
 */
export function stateByteGas({ fork, gasLimit, amsterdamDraft }: PricedBlock): bigint {
  if (fork < Fork.Amsterdam) return 0n
  if (amsterdamDraft === 'bal@v5.6') return BYTE_GAS_OLD_DRAFT
  const divisor = 2n * GROWTH_PER_YEAR
  const exact = (gasLimit * BLOCKS_PER_YEAR + divisor - 1n) / divisor
  const shifted = exact + OFFSET
  const shift = BigInt(Math.max(shifted.toString(2).length - SIGNIFICANT_BITS, 0))
  const rounded = ((shifted >> shift) << shift) - OFFSET
  return rounded > 1n ? rounded : 1n
}
