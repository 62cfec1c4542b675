/**
 * BLAKE2b's compression function F (0x09), EIP-152.
 *
 *     0          4         68        196      204      212
 *     | rounds   | h: 8 u64 | m: 16 u64 | t: 2 u64 | final |      rounds big-endian, u64 little-endian
 */
import { readUint32BE } from '../../base/index.ts'
import { type Blake2Kernel, createBlake2Kernel } from './blake2Kernel.ts'
import { blake2Rounds } from './blake2Rounds.ts'
import { failure, INPUT_LENGTH_INVALID, type PrecompileFailure } from './precompile.ts'

const INPUT_BYTES = 213
const FINAL_OFFSET = 212
const FINAL_FLAG_INVALID = failure('invalid final flag')

/** One gas a round; inputs of a wrong length cost nothing more than the call (geth prices them 0, then fails). */
export function blake2fGas(input: Uint8Array): bigint {
  return input.length === INPUT_BYTES ? BigInt(readUint32BE(input, 0)) : 0n
}

/** The new state: 64 bytes. */
export function blake2f(input: Uint8Array): Uint8Array | PrecompileFailure {
  if (input.length !== INPUT_BYTES) return INPUT_LENGTH_INVALID
  if (input[FINAL_OFFSET]! > 1) return FINAL_FLAG_INVALID
  rounds ??= createBlake2Kernel() ?? blake2Rounds
  return rounds(input, readUint32BE(input, 0))
}

/** The kernel, or its portable twin where there is no WebAssembly; chosen at the first call. */
let rounds: Blake2Kernel | undefined
