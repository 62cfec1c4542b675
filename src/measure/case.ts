/**
 * What a bench case is. Cases are found and run by whoever takes the figures; they know no clock. Each says how many
 * operations a run of a size holds and what hash its result has, and proves both from the result, so that neither a
 * skipped read nor a "10" that means 20 can pass for speed.
 */

export const BENCH_GROUPS = [
  'trie',
  'layers',
  'words',
  'keccak',
  'evm',
  'blocks',
  'executor',
] as const
export type BenchGroup = (typeof BENCH_GROUPS)[number]

export type BenchCase = {
  readonly group: BenchGroup
  /** Within the group, in lower case: `commit-after-hash`. The case is asked for as `trie/commit-after-hash`. */
  readonly name: string
  /** One sentence: what is timed, and what is not. */
  readonly about: string
  /** What figures are given for, in the singular: `leaf`, `read`, `gas`. */
  readonly operation: string
  /** What `size` counts, in the plural: `accounts`, `bytes`, `cells`. */
  readonly sizeUnit: string
  readonly sizes: readonly BenchSize[]
  /** Below a tenth of a second with preparation and proof: tests run it. */
  readonly smoke: BenchSize
  /** Ways to do the same work with the same result. The first is the one in use; without `--vs` the second is its base. */
  readonly arms: readonly [string, ...string[]]
  /** Operations of a run; without it as many as the size says. */
  operationsOf?(size: number): number
  /** Sets up one arm in a fresh process. Nothing in here is timed. Input is seeded: the same for all arms, always. */
  prepare(size: number, arm: string): PreparedBench | Promise<PreparedBench>
}

export type BenchSize = {
  readonly size: number
  /** Hash of the result; 16 hex digits of any hash over all that was computed. The same for all arms. */
  readonly digest: string
  /** Takes more than two seconds a process: left out unless asked for by name or with `--large`. */
  readonly isLarge?: boolean
}

/**
 * One arm, ready to run: `before`, `run`, `prove` now and then, `after`; again and again. The state before each `run`
 * is the same. Only `run` is timed; it should take 20 us or more, so let it loop over its operations.
 */
export type PreparedBench = {
  before?(): void | Promise<void>
  run(): void | Promise<void>
  /**
   * What the last run did, told from its result: a root, values read, gas, counters of a layer below; never from a count
   * that the timed loop kept beside its work. Called behind the first run and the last.
   */
  prove(): BenchProof | Promise<BenchProof>
  after?(): void | Promise<void>
  close?(): void | Promise<void>
}

export type BenchProof = { readonly operations: number; readonly digest: string }

/** `trie/commit-after-hash`. */
export const caseId = ({ group, name }: Pick<BenchCase, 'group' | 'name'>): string =>
  `${group}/${name}`

/** Operations that a run of this size claims. */
export const operationsOf = (bench: BenchCase, size: number): number =>
  bench.operationsOf?.(size) ?? size
