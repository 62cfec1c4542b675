/**
 * keccak-256 in plain TypeScript: the twin of the kernel. Oracle for its tests, baseline for its benchmark, and what
 * serves where WebAssembly is missing. Written step by step as FIPS 202 section 3.2 has it, on words split into 32-bit
 * halves, since a number of 64 bits would be a BigInt; the padding is Keccak's own (0x01), not that of SHA-3 (0x06).
 */

/** Bytes absorbed by one permutation. */
const RATE_BYTES = 136
const ROUND_COUNT = 24

/** Low half of lane n at 2n, high half at 2n + 1, lane n = x + 5y. Used by one call at a time, on one thread. */
const state = new Int32Array(50)
const moved = new Int32Array(50)
const parity = new Int32Array(10)
const lastBlock = new Uint8Array(RATE_BYTES)

/** For lane n: where it goes in step pi, and by how many bits it turns in step rho. */
const laneTarget = new Uint8Array(25)
const laneRotation = new Uint8Array(25)
const roundConstants = new Int32Array(2 * ROUND_COUNT)
fillTables()

/** The hash of `input` as 32 fresh bytes. Cost: about 5 µs a block of 136 bytes. */
export function keccak256Reference(input: Uint8Array): Uint8Array {
  const hash = new Uint8Array(32)
  keccak256ReferenceInto(input, hash, 0)
  return hash
}

/** Writes the hash of `input` to the 32 bytes of `target` at `targetOffset`; `target` may hold the input. */
export function keccak256ReferenceInto(
  input: Uint8Array,
  target: Uint8Array,
  targetOffset: number,
): void {
  state.fill(0)
  let offset = 0
  for (; input.length - offset >= RATE_BYTES; offset += RATE_BYTES) {
    absorbBlock(input, offset)
    permute()
  }
  const left = input.length - offset
  lastBlock.fill(0)
  for (let index = 0; index < left; index++) lastBlock[index] = input[offset + index]!
  lastBlock[left] = 0x01
  lastBlock[RATE_BYTES - 1]! |= 0x80
  absorbBlock(lastBlock, 0)
  permute()
  for (let index = 0; index < 32; index++)
    target[targetOffset + index] = state[index >> 2]! >>> (8 * (index & 3))
}

function absorbBlock(bytes: Uint8Array, offset: number): void {
  for (let word = 0; word < RATE_BYTES / 4; word++) {
    const at = offset + 4 * word
    state[word]! ^=
      bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
  }
}

function permute(): void {
  for (let round = 0; round < ROUND_COUNT; round++) {
    theta()
    rhoAndPi()
    chi()
    state[0]! ^= roundConstants[2 * round]!
    state[1]! ^= roundConstants[2 * round + 1]!
  }
}

/** Mixes into each column the parity of the column before it and, turned by one, of the column after it. */
function theta(): void {
  for (let half = 0; half < 10; half++)
    parity[half] =
      state[half]! ^ state[half + 10]! ^ state[half + 20]! ^ state[half + 30]! ^ state[half + 40]!
  for (let x = 0; x < 5; x++) {
    const before = 2 * ((x + 4) % 5)
    const after = 2 * ((x + 1) % 5)
    const [low, high] = [parity[after]!, parity[after + 1]!]
    const mixLow = parity[before]! ^ ((low << 1) | (high >>> 31))
    const mixHigh = parity[before + 1]! ^ ((high << 1) | (low >>> 31))
    for (let half = 2 * x; half < 50; half += 10) {
      state[half]! ^= mixLow
      state[half + 1]! ^= mixHigh
    }
  }
}

/** Turns each lane and moves it to its new place, in `moved`. */
function rhoAndPi(): void {
  for (let lane = 0; lane < 25; lane++) {
    const target = 2 * laneTarget[lane]!
    const rotation = laneRotation[lane]!
    // Turning by 32 or more swaps the halves first; shifts by 32 do nothing in JavaScript, hence the case of 0.
    const swap = rotation >> 5
    const low = state[2 * lane + swap]!
    const high = state[2 * lane + 1 - swap]!
    const bits = rotation & 31
    moved[target] = bits === 0 ? low : (low << bits) | (high >>> (32 - bits))
    moved[target + 1] = bits === 0 ? high : (high << bits) | (low >>> (32 - bits))
  }
}

/** Combines each lane with the two after it in its row, from `moved` back to the state. */
function chi(): void {
  for (let row = 0; row < 50; row += 10)
    for (let half = 0; half < 10; half++)
      state[row + half] =
        moved[row + half]! ^ (~moved[row + ((half + 2) % 10)]! & moved[row + ((half + 4) % 10)]!)
}

function fillTables(): void {
  for (let y = 0; y < 5; y++)
    for (let x = 0; x < 5; x++) laneTarget[x + 5 * y] = y + 5 * ((2 * x + 3 * y) % 5)
  for (let step = 0, x = 1, y = 0; step < 24; step++) {
    laneRotation[x + 5 * y] = (((step + 1) * (step + 2)) / 2) % 64
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
  }
  // Bits 0, 1, 3, 7, 15, 31 and 63 of each constant come from a linear feedback register of 8 bits.
  let register = 1
  for (let round = 0; round < ROUND_COUNT; round++)
    for (let power = 0; power < 7; power++) {
      const bit = 2 ** power - 1
      if (register & 1) roundConstants[2 * round + (bit >> 5)]! |= 1 << (bit & 31)
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0)
    }
}
