/**
 * The forks of Ethereum in their order, and the schedule that says which one rules a block.
 * The rules themselves (gas, rewards, header fields) are tables in the folders that apply them,
 * and compare forks by number: `fork >= Fork.London`.
 */
import { VarveError } from './errors.ts'

/** Each fork's rank. A later fork keeps the rules of all earlier ones unless it changes them. */
export const Fork = {
  Frontier: 0,
  Homestead: 1,
  TangerineWhistle: 2,
  SpuriousDragon: 3,
  Byzantium: 4,
  Constantinople: 5,
  Petersburg: 6,
  Istanbul: 7,
  MuirGlacier: 8,
  Berlin: 9,
  London: 10,
  ArrowGlacier: 11,
  GrayGlacier: 12,
  Paris: 13,
  Shanghai: 14,
  Cancun: 15,
  Prague: 16,
  Osaka: 17,
  Amsterdam: 18,
} as const
export type Fork = (typeof Fork)[keyof typeof Fork]

/**
 * Drafts of Amsterdam that tests were made under, by the releases of its tests: `bal@v5.7`, which is what this version
 * means by Amsterdam, and the one before it, on which the witness tests of zkevm@v0.3 stand.
 */
export type AmsterdamDraft = 'bal@v5.7' | 'bal@v5.6'

/** Names by rank. */
export const FORK_NAMES: readonly (keyof typeof Fork)[] = Object.keys(Fork) as (keyof typeof Fork)[]
export type ForkName = keyof typeof Fork

/**
 * Blob parameters from a time on (EIP-7840, EIP-7892). They change with a fork or between forks (BPO forks),
 * so they are scheduled apart from the forks.
 */
export type BlobParameters = {
  /** Blobs a block aims at. */
  readonly target: number
  /** Most blobs in a block. */
  readonly max: number
  /** Denominator of the blob base fee's exponent. */
  readonly baseFeeUpdateFraction: bigint
}

/** One step of a schedule. A fork is active where the block's number, or time, is at or above `at`. */
export type ForkStep = { readonly fork: Fork; readonly at: number }
/** One step of the blob schedule, by block time in seconds. */
export type BlobStep = { readonly at: number; readonly blob: BlobParameters; readonly name: string }

/** Which rules hold when. `byBlock` and `byTime` are sorted by fork and by `at`; Paris is in `byBlock`. */
export type ForkSchedule = {
  readonly chainId: bigint
  readonly byBlock: readonly ForkStep[]
  readonly byTime: readonly ForkStep[]
  readonly blobs: readonly BlobStep[]
  /** Block with the DAO's irregular state change (EIP-779), and whether this chain follows it. */
  readonly dao?: { readonly block: number; readonly support: boolean }
  /**
   * Total difficulty at which proof of work ends (EIP-3675); `undefined` where the chain has no such rule.
   * A block is under Paris where its parent's total difficulty reached it. Chains whose Paris block is known, or
   * whose terminal total difficulty is 0, list it in `byBlock` as well.
   */
  readonly terminalTotalDifficulty?: bigint
}

/**
 * The fork that rules a block.
 * @param number block number, 0 up
 * @param timestamp seconds since 1970; at or beyond 2^53 the nearest double does, as no fork lies there
 * @param isMerged whether the parent's total difficulty reached the terminal one: true means Paris or later, false
 *   means proof of work. Left out, the block number of Paris in `byBlock` decides.
 */
export function forkAt(
  schedule: ForkSchedule,
  number: number,
  timestamp: number,
  isMerged?: boolean,
): Fork {
  let fork: Fork = Fork.Frontier
  const forkLimit = isMerged === false ? Fork.Paris : Fork.Amsterdam + 1
  for (const step of schedule.byBlock)
    if (number >= step.at && step.fork > fork && step.fork < forkLimit) fork = step.fork
  if (isMerged === true && fork < Fork.Paris) fork = Fork.Paris
  // Forks by time exist only after the merge. A chain without a terminal total difficulty has no merge to wait for.
  const isTimed =
    fork >= Fork.Paris ||
    (fork >= Fork.London &&
      isMerged === undefined &&
      schedule.terminalTotalDifficulty === undefined)
  if (isTimed)
    for (const step of schedule.byTime)
      if (timestamp >= step.at && step.fork > fork) fork = step.fork
  return fork
}

/** Blob parameters at a time, or `undefined` before EIP-4844. */
export function blobParametersAt(
  schedule: ForkSchedule,
  timestamp: number,
): BlobParameters | undefined {
  let found: BlobParameters | undefined
  for (const step of schedule.blobs) if (timestamp >= step.at) found = step.blob
  return found
}

/** Finds a fork by name, whatever the case. @throws VarveError FORK_UNKNOWN */
export function forkByName(name: string): Fork {
  const rank = FORK_NAMES.findIndex((known) => known.toLowerCase() === name.toLowerCase())
  if (rank < 0)
    throw new VarveError('FORK_UNKNOWN', `fork "${name}" is none of ${FORK_NAMES.join(', ')}`, {
      name,
    })
  return rank as Fork
}

/** Error codes of this module. */
export type ForkErrorCode =
  /** A fork's name is not in the list. */
  'FORK_UNKNOWN'
