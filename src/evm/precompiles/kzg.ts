/**
 * KZG point evaluation (0x0a): EIP-4844.
 *
 *     0                32   64   96           144     192
 *     | versioned hash | z  | y  | commitment | proof |
 */
import { fromBareHex } from '../../base/index.ts'
import { blsSlot } from './engines.ts'
import { sha256 } from './hashes.ts'
import { failure, INPUT_LENGTH_INVALID, type PrecompileFailure } from './precompile.ts'

const INPUT_BYTES = 192
/** First byte of a versioned hash of a KZG commitment. */
const VERSION_KZG = 1
/** Field elements of a blob (4096) and the order of the scalar field, a word each. */
const OUTPUT = fromBareHex(
  '0000000000000000000000000000000000000000000000000000000000001000' +
    '73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001',
)

const HASH_MISMATCH = failure('mismatched versioned hash')
const PROOF_INVALID = failure('error verifying kzg proof')

/** A constant of 64 bytes where the proof holds; else a failure. */
export function kzgPointEvaluation(input: Uint8Array): Uint8Array | PrecompileFailure {
  if (input.length !== INPUT_BYTES) return INPUT_LENGTH_INVALID
  const commitment = input.subarray(96, 144)
  const hash = sha256(commitment)
  hash[0] = VERSION_KZG
  for (let index = 0; index < 32; index++) if (hash[index] !== input[index]) return HASH_MISMATCH
  const claim = {
    commitment,
    proof: input.subarray(144, 192),
    z: input.subarray(32, 64),
    y: input.subarray(64, 96),
  }
  const isProven = blsSlot.call((engine) => engine.verifyKzg(claim))
  return isProven ? new Uint8Array(OUTPUT) : PROOF_INVALID
}
