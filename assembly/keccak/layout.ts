/**
 * Layout of the scratch area that a caller lends to the keccak kernels. The kernels keep nothing anywhere else: no
 * heap, no data segment, no globals, so any number of instances may share one memory, each with its own scratch.
 *
 *     offset   0   round constants, 24 words                          written by `prepare`, then only read
 *            192   state: 25 words, or 25 pairs of words              (`permute1` / `permute2`)
 *            592   the state after every odd round, same shape
 *            992   last block of lane A, padded, 136 bytes + 8 spare
 *           1136   last block of lane B, the same
 *           1280   end
 *
 * The scratch starts at a multiple of 16.
 */

/** Bytes absorbed by one permutation: 1088 bits of the 1600-bit state. */
export const RATE: usize = 136
export const CONSTANTS_OFFSET: usize = 0
export const STATE_OFFSET: usize = 192
export const SWAP_OFFSET: usize = 592
export const BLOCK_A_OFFSET: usize = 992
export const BLOCK_B_OFFSET: usize = 1136
export const SCRATCH_BYTES: usize = 1280
