/** Seeded random numbers (xoshiro128**), so that any failure is reproduced by its printed seed. */

export class Prng {
  private readonly state = new Uint32Array(4)

  /** @param seed any integer; equal seeds give equal sequences on every machine */
  constructor(seed: number) {
    let mixed = seed >>> 0
    for (let index = 0; index < 4; index++) {
      // splitmix32, to spread a small seed over the state
      mixed = (mixed + 0x9e3779b9) >>> 0
      let word = mixed
      word = Math.imul(word ^ (word >>> 16), 0x21f0aaad)
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97)
      this.state[index] = word ^ (word >>> 15)
    }
  }

  /** 0 to 2^32-1. */
  uint32(): number {
    const state = this.state
    const product = Math.imul(state[1]!, 5)
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0
    const shifted = state[1]! << 9
    state[2]! ^= state[0]!
    state[3]! ^= state[1]!
    state[1]! ^= state[2]!
    state[0]! ^= state[3]!
    state[2]! ^= shifted
    state[3] = (state[3]! << 11) | (state[3]! >>> 21)
    return result
  }

  /** Integer from 0 to `bound`-1; `bound` at most 2^32. */
  below(bound: number): number {
    return Math.floor((this.uint32() / 0x1_0000_0000) * bound)
  }

  /** Integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** True once in `count` times. */
  oneIn(count: number): boolean {
    return this.below(count) === 0
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length)
    for (let index = 0; index < length; index++) bytes[index] = this.uint32() >>> 24
    return bytes
  }

  /** Unsigned integer of up to `bits` bits; each bit length is equally likely, so small and huge both occur. */
  bigint(bits: number): bigint {
    const length = this.between(0, bits)
    let value = 0n
    for (let have = 0; have < length; have += 32) value = (value << 32n) | BigInt(this.uint32())
    return length === 0 ? 0n : value & ((1n << BigInt(length)) - 1n)
  }
}
