/** Random numbers of a workload: the same seed makes the same blocks on every machine. mulberry32: fast, not for secrets. */

export class WorkloadRandom {
  private state: number

  /** @param seed 0 to 2^32-1 */
  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** 0 up to, not including, 1, in steps of 2^-32. */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let word = this.state
    word = Math.imul(word ^ (word >>> 15), word | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32
  }

  /** Integer from 0 to `bound` - 1; `bound` at most 2^32. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound)
  }
}
