/** The rounds of BLAKE2b's F (RFC 7693, 3.2) over 32-bit halves: a word is its low half, then its high half. */

/** Message words by round; ten rows that repeat (RFC 7693, 2.7). */
export const BLAKE2_SIGMA: readonly (readonly number[])[] = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
]

/** Initial vector as pairs of low and high half (the fractions of square roots, RFC 7693, 2.6). */
export const BLAKE2_IV: readonly number[] = [
  0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a,
  0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19,
]

/** Work vector and message of one call: 16 words of two halves each. Calls do not overlap. */
const work = new Int32Array(32)
const message = new Int32Array(32)

/**
 * F in plain TypeScript: the twin of the kernel, for comparison and where there is no WebAssembly.
 * @param input layout of EIP-152, 213 bytes, last one 0 or 1
 * @param rounds 0 to 2^32-1
 * @returns the new state, 64 bytes
 */
export function blake2Rounds(input: Uint8Array, rounds: number): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.length)
  for (let half = 0; half < 16; half++) {
    work[half] = view.getInt32(4 + 4 * half, true)
    work[16 + half] = BLAKE2_IV[half]!
  }
  for (let half = 0; half < 32; half++) message[half] = view.getInt32(68 + 4 * half, true)
  for (let half = 0; half < 4; half++) work[24 + half]! ^= view.getInt32(196 + 4 * half, true)
  if (input[212] === 1) {
    work[28] = ~work[28]!
    work[29] = ~work[29]!
  }
  for (let round = 0; round < rounds; round++) mixRound(BLAKE2_SIGMA[round % 10]!)
  const output = new Uint8Array(64)
  const outputView = new DataView(output.buffer)
  for (let half = 0; half < 16; half++)
    outputView.setInt32(
      4 * half,
      view.getInt32(4 + 4 * half, true) ^ work[half]! ^ work[16 + half]!,
      true,
    )
  return output
}

function mixRound(order: readonly number[]): void {
  mix(0, 8, 16, 24, order[0]!, order[1]!)
  mix(2, 10, 18, 26, order[2]!, order[3]!)
  mix(4, 12, 20, 28, order[4]!, order[5]!)
  mix(6, 14, 22, 30, order[6]!, order[7]!)
  mix(0, 10, 20, 30, order[8]!, order[9]!)
  mix(2, 12, 22, 24, order[10]!, order[11]!)
  mix(4, 14, 16, 26, order[12]!, order[13]!)
  mix(6, 8, 18, 28, order[14]!, order[15]!)
}

/** G of RFC 7693, 3.1: `a` to `d` are indices of low halves in `work`, `x` and `y` of words in `message`. */
function mix(a: number, b: number, c: number, d: number, x: number, y: number): void {
  let aLow = work[a]!
  let aHigh = work[a + 1]!
  let bLow = work[b]!
  let bHigh = work[b + 1]!
  let cLow = work[c]!
  let cHigh = work[c + 1]!
  let dLow = work[d]!
  let dHigh = work[d + 1]!

  let low = (aLow >>> 0) + (bLow >>> 0) + (message[2 * x]! >>> 0)
  aHigh = (aHigh + bHigh + message[2 * x + 1]! + Math.floor(low / 0x1_0000_0000)) | 0
  aLow = low | 0
  // d = rotate right by 32 of d ^ a: the halves change places.
  let swap = dLow ^ aLow
  dLow = dHigh ^ aHigh
  dHigh = swap
  low = (cLow >>> 0) + (dLow >>> 0)
  cHigh = (cHigh + dHigh + (low > 0xffff_ffff ? 1 : 0)) | 0
  cLow = low | 0
  bLow ^= cLow
  bHigh ^= cHigh
  swap = (bLow >>> 24) | (bHigh << 8)
  bHigh = (bHigh >>> 24) | (bLow << 8)
  bLow = swap

  low = (aLow >>> 0) + (bLow >>> 0) + (message[2 * y]! >>> 0)
  aHigh = (aHigh + bHigh + message[2 * y + 1]! + Math.floor(low / 0x1_0000_0000)) | 0
  aLow = low | 0
  dLow ^= aLow
  dHigh ^= aHigh
  swap = (dLow >>> 16) | (dHigh << 16)
  dHigh = (dHigh >>> 16) | (dLow << 16)
  dLow = swap
  low = (cLow >>> 0) + (dLow >>> 0)
  cHigh = (cHigh + dHigh + (low > 0xffff_ffff ? 1 : 0)) | 0
  cLow = low | 0
  bLow ^= cLow
  bHigh ^= cHigh
  // Rotate right by 63 is rotate left by 1.
  swap = (bLow << 1) | (bHigh >>> 31)
  bHigh = (bHigh << 1) | (bLow >>> 31)
  bLow = swap

  work[a] = aLow
  work[a + 1] = aHigh
  work[b] = bLow
  work[b + 1] = bHigh
  work[c] = cLow
  work[c + 1] = cHigh
  work[d] = dLow
  work[d + 1] = dHigh
}
