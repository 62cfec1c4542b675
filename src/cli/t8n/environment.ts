/**
 * The block that `t8n` fills: `env.json`, completed from the parent's values where the block's own are missing, and
 * checked as geth checks it.
 */
import { bytesAreZero, bytesEqual, EMPTY_LIST_HASH, Fork, U256_MAX } from '../../base/index.ts'
import {
  type BlockRules,
  blobBaseFee,
  difficultyAt,
  nextBaseFee,
  nextExcessBlobGas,
} from '../../chain/index.ts'
import type { Withdrawal } from '../../codec/index.ts'
import type { ExecutionBlock } from '../../execute/index.ts'
import { T8nExit, T8nFault } from './t8nFault.ts'
import { Fields, readAddress, readHash, readItems, readNumber, readRecord } from './values.ts'

export type Ommer = {
  /** How many blocks before this one. */
  readonly delta: bigint
  readonly address: Uint8Array
}

/** `env.json` as written. What it does not say is `undefined`. */
export type Environment = {
  readonly coinbase: Uint8Array
  readonly gasLimit: bigint
  readonly number: bigint
  readonly timestamp: bigint
  readonly difficulty: bigint | undefined
  readonly random: bigint | undefined
  readonly baseFee: bigint | undefined
  readonly excessBlobGas: bigint | undefined
  readonly parentDifficulty: bigint | undefined
  readonly parentTimestamp: bigint
  readonly parentUncleHash: Uint8Array | undefined
  readonly parentBaseFee: bigint | undefined
  readonly parentGasUsed: bigint
  readonly parentGasLimit: bigint
  readonly parentExcessBlobGas: bigint | undefined
  readonly parentBlobGasUsed: bigint | undefined
  readonly parentBeaconBlockRoot: Uint8Array | undefined
  readonly blockHashes: ReadonlyMap<bigint, Uint8Array> | undefined
  /** EIP-7843. */
  readonly slotNumber: bigint | undefined
  readonly ommers: readonly Ommer[]
  readonly withdrawals: readonly Withdrawal[] | undefined
}

/** @throws T8nFault Json */
export function readEnvironment(value: unknown): Environment {
  const fields = new Fields(value, 'env', 'for stEnv')
  const u64 = (field: unknown, path: string) => readNumber(field, path, 64)
  return {
    coinbase: fields.required('currentCoinbase', readAddress),
    gasLimit: fields.required('currentGasLimit', u64),
    number: fields.required('currentNumber', u64),
    timestamp: fields.required('currentTimestamp', u64),
    difficulty: fields.number('currentDifficulty'),
    random: fields.number('currentRandom'),
    baseFee: fields.number('currentBaseFee'),
    excessBlobGas: fields.number('currentExcessBlobGas', 64),
    parentDifficulty: fields.number('parentDifficulty'),
    parentTimestamp: fields.number('parentTimestamp', 64) ?? 0n,
    parentUncleHash: fields.optional('parentUncleHash', readHash),
    parentBaseFee: fields.number('parentBaseFee'),
    parentGasUsed: fields.number('parentGasUsed', 64) ?? 0n,
    parentGasLimit: fields.number('parentGasLimit', 64) ?? 0n,
    parentExcessBlobGas: fields.number('parentExcessBlobGas', 64),
    parentBlobGasUsed: fields.number('parentBlobGasUsed', 64),
    parentBeaconBlockRoot: fields.optional('parentBeaconBlockRoot', readHash),
    blockHashes: fields.optional('blockHashes', readBlockHashes),
    slotNumber: fields.number('slotNumber', 64),
    ommers: fields.optional('ommers', readOmmers) ?? [],
    withdrawals: fields.optional('withdrawals', readWithdrawals),
  }
}

function readBlockHashes(value: unknown, path: string): ReadonlyMap<bigint, Uint8Array> {
  return new Map(
    Object.entries(readRecord(value, path)).map(([number, hash]) => [
      readNumber(number, path, 64),
      readHash(hash, `${path}.${number}`),
    ]),
  )
}

function readOmmers(value: unknown, path: string): Ommer[] {
  return readItems(value, path).map((item, index) => {
    const fields = new Fields(item, `${path}.${index}`, 'in ommer')
    const address = fields.required('address', readAddress)
    return { delta: fields.number('delta', 64) ?? 0n, address }
  })
}

/** Withdrawals of `env.json` or of a file of `b11r`. @throws T8nFault Json */
export function readWithdrawals(value: unknown, path: string): Withdrawal[] {
  return readItems(value, path).map((item, index) => {
    const fields = new Fields(item, `${path}.${index}`, 'in withdrawal')
    return {
      index: fields.number('index', 64) ?? 0n,
      validatorIndex: fields.number('validatorIndex', 64) ?? 0n,
      address: fields.required('address', readAddress),
      amount: fields.number('amount', 64) ?? 0n,
    }
  })
}

/** The block to execute, and what the result says of it. */
export type T8nBlock = {
  readonly execution: ExecutionBlock
  /** `undefined` after the merge. */
  readonly difficulty: bigint | undefined
  readonly baseFee: bigint | undefined
  /** `undefined` where blobs have no price. */
  readonly excessBlobGas: bigint | undefined
}

/** Completes and checks. @throws T8nFault Config */
export function blockOf(environment: Environment, rules: BlockRules, chainId: bigint): T8nBlock {
  const { fork, blob } = rules
  const baseFee = baseFeeOf(environment, fork)
  if (fork >= Fork.Shanghai && environment.withdrawals === undefined)
    throw config("Shanghai config but missing 'withdrawals' in env section")
  const difficulty = difficultyOf(environment, fork)
  if (fork >= Fork.Cancun && environment.parentBeaconBlockRoot === undefined)
    throw config('post-cancun env requires parentBeaconBlockRoot to be set')
  const excessBlobGas = blob === undefined ? undefined : excessBlobGasOf(environment, rules)
  const { coinbase, number, timestamp, gasLimit, random } = environment
  return {
    execution: {
      fork,
      blob,
      chainId,
      coinbase,
      number,
      timestamp,
      gasLimit,
      random: (fork >= Fork.Paris ? (random ?? 0n) : (difficulty ?? 0n)) & U256_MAX,
      baseFee: fork >= Fork.London ? (baseFee ?? 0n) : 0n,
      blobBaseFee:
        blob === undefined || excessBlobGas === undefined ? 0n : blobBaseFee(excessBlobGas, blob),
      slotNumber: environment.slotNumber,
    },
    difficulty,
    baseFee,
    excessBlobGas,
  }
}

function baseFeeOf(environment: Environment, fork: Fork): bigint | undefined {
  const { baseFee, parentBaseFee, parentGasLimit, parentGasUsed, number } = environment
  if (fork < Fork.London || baseFee !== undefined) return baseFee
  if (parentBaseFee === undefined || number === 0n)
    throw config("EIP-1559 config but missing 'parentBaseFee' in env section")
  return nextBaseFee({
    gasLimit: parentGasLimit,
    gasUsed: parentGasUsed,
    baseFeePerGas: parentBaseFee,
  })
}

function difficultyOf(environment: Environment, fork: Fork): bigint | undefined {
  const { difficulty, random, number, timestamp, parentDifficulty, parentTimestamp } = environment
  if (fork >= Fork.Paris) {
    if (random === undefined) throw config('post-merge requires currentRandom to be defined in env')
    if (difficulty !== undefined && difficulty !== 0n)
      throw config('post-merge difficulty must be zero (or omitted) in env')
    return undefined
  }
  if (difficulty !== undefined) return difficulty
  if (parentDifficulty === undefined)
    throw config(
      'currentDifficulty was not provided, and cannot be calculated due to missing parentDifficulty',
    )
  if (number === 0n) throw config('currentDifficulty needs to be provided for block number 0')
  if (timestamp <= parentTimestamp)
    throw config(
      `currentDifficulty cannot be calculated -- currentTime (${timestamp}) needs to be after parent time (${parentTimestamp})`,
    )
  const uncleHash = environment.parentUncleHash
  return difficultyAt(fork, {
    number: Number(number),
    secondsSinceParent: Number(timestamp - parentTimestamp),
    parentDifficulty,
    parentHasUncles:
      uncleHash !== undefined &&
      !bytesAreZero(uncleHash) &&
      !bytesEqual(uncleHash, EMPTY_LIST_HASH),
  })
}

function excessBlobGasOf(environment: Environment, { fork, blob }: BlockRules): bigint | undefined {
  const { excessBlobGas, parentExcessBlobGas, parentBlobGasUsed, parentBaseFee } = environment
  if (excessBlobGas !== undefined || blob === undefined) return excessBlobGas
  if (parentExcessBlobGas === undefined || parentBlobGasUsed === undefined) return undefined
  return nextExcessBlobGas(
    {
      excessBlobGas: parentExcessBlobGas,
      blobGasUsed: parentBlobGasUsed,
      ...(parentBaseFee === undefined ? {} : { baseFeePerGas: parentBaseFee }),
    },
    fork,
    blob,
  )
}

function config(message: string): T8nFault {
  return new T8nFault(T8nExit.Config, message)
}
