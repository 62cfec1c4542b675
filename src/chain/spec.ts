/** What is fixed about a chain: its name, its schedule of rules, and the first block it starts from. */
import type {
  AmsterdamDraft,
  BlobParameters,
  BlobStep,
  ForkSchedule,
  ForkStep,
} from '../base/index.ts'
import { blobParametersAt, Fork, forkAt } from '../base/index.ts'

/** A chain as the rules see it. Immutable; may be shared between threads as plain data. */
export type ChainSpec = {
  /** Short name for messages, e.g. `mainnet`. */
  readonly name: string
  /** EIP-155 chain id; equals `schedule.chainId`. */
  readonly chainId: bigint
  readonly schedule: ForkSchedule
  /** Hash of block 0 where it is known beforehand; a database or file of another chain is refused by it. */
  readonly genesisHash?: Uint8Array
  /** Which draft of Amsterdam the chain follows; `bal@v5.7` without it. */
  readonly amsterdamDraft?: AmsterdamDraft | undefined
  /** 20 bytes: the contract whose logs are deposit requests (EIP-6110). */
  readonly depositContract: Uint8Array
}

/** The rules of one block, worked out once and handed to every check of it. */
export type BlockRules = {
  readonly fork: Fork
  /** Blob limits in force; `undefined` before Cancun. */
  readonly blob: BlobParameters | undefined
}

/**
 * Works out the rules of a block.
 * @param number block number
 * @param timestamp seconds since 1970
 * @param isMerged whether the parent's total difficulty reached the terminal one, where the caller knows it; where
 *   it is left out, the schedule's Paris block decides
 */
export function rulesAt(
  spec: ChainSpec,
  number: number,
  timestamp: bigint,
  isMerged?: boolean,
): BlockRules {
  const seconds = Number(timestamp)
  const fork = forkAt(spec.schedule, number, seconds, isMerged)
  return { fork, blob: fork >= Fork.Cancun ? blobParametersAt(spec.schedule, seconds) : undefined }
}

/** EIP-4844: Cancun's blob limits, where a genesis file gives none. */
export const CANCUN_BLOB: BlobParameters = { target: 3, max: 6, baseFeeUpdateFraction: 3338477n }
/** EIP-7691: Prague's; Osaka keeps them (EIP-7607 changes them by BPO forks only). */
export const PRAGUE_BLOB: BlobParameters = { target: 6, max: 9, baseFeeUpdateFraction: 5007716n }
/** EIP-8134: first blob-parameter-only fork. */
export const BPO1_BLOB: BlobParameters = { target: 10, max: 15, baseFeeUpdateFraction: 8346193n }
/** EIP-8135: second blob-parameter-only fork. */
export const BPO2_BLOB: BlobParameters = { target: 14, max: 21, baseFeeUpdateFraction: 11684671n }

/** Builds a `ForkStep` list from pairs, for tables that read like a table. */
export function forkSteps(...pairs: readonly (readonly [Fork, number])[]): ForkStep[] {
  return pairs.map(([fork, at]) => ({ fork, at }))
}

/** Builds a blob schedule from named steps. */
export function blobSteps(
  ...steps: readonly (readonly [name: string, at: number, blob: BlobParameters])[]
): BlobStep[] {
  return steps.map(([name, at, blob]) => ({ name, at, blob }))
}

/** A chain with the rules of one fork from block 0 on, as test suites name them (`London`, `Cancun`, …). */
export function singleForkSpec(fork: Fork, chainId = 1n): ChainSpec {
  const isTimed = fork > Fork.Paris
  const blobs: BlobStep[] = []
  if (fork >= Fork.Cancun) blobs.push(...blobSteps(['cancun', 0, CANCUN_BLOB]))
  if (fork >= Fork.Prague) blobs.push(...blobSteps(['prague', 0, PRAGUE_BLOB]))
  return {
    name: 'single-fork',
    chainId,
    depositContract: new Uint8Array(20),
    schedule: {
      chainId,
      byBlock: forkSteps([isTimed ? Fork.Paris : fork, 0]),
      byTime: isTimed ? forkSteps([fork, 0]) : [],
      blobs,
      ...(fork >= Fork.Paris ? { terminalTotalDifficulty: 0n } : {}),
    },
  }
}
