/**
 * One state test as published: a pre-state, a block, a transaction with alternatives for data, gas and value, and for
 * each fork what every combination must lead to.
 *
 *     {env, pre, transaction: {data[], gasLimit[], value[], …}, post: {Fork: [{indexes, hash, logs, …}]}}
 */
import { ADDRESS_BYTES, type BlobParameters, HASH_BYTES } from '../../base/index.ts'
import type { GenesisAccount } from '../../chain/index.ts'
import type { PrecompileSet } from '../../evm/index.ts'
import { precompileSetOf } from '../testfiles/filler.ts'
import {
  type JsonRecord,
  readBytes,
  readFixed,
  readIndex,
  readList,
  readObject,
  readText,
  readUint,
} from '../testfiles/jsonValue.ts'
import { readAccounts, readBlobSchedule } from '../testfiles/testState.ts'
import { readTransactionTemplate, type TransactionTemplate } from './transactionTemplate.ts'

/** The block around the transaction. What a file does not say is `undefined`. */
export type StateTestBlock = {
  readonly coinbase: Uint8Array
  readonly number: bigint
  readonly timestamp: bigint
  readonly gasLimit: bigint
  readonly difficulty: bigint | undefined
  readonly random: bigint | undefined
  readonly baseFee: bigint | undefined
  readonly excessBlobGas: bigint | undefined
  readonly slotNumber: bigint | undefined
}

/** One sub-case: a fork, a choice of data, gas and value, and what must come out. */
export type SubCase = {
  /** The network's name as the file writes it. */
  readonly fork: string
  readonly dataIndex: number
  readonly gasIndex: number
  readonly valueIndex: number
  /** State root afterwards. */
  readonly hash: Uint8Array
  /** keccak-256 of the RLP of the logs. */
  readonly logs: Uint8Array
  /** The signed transaction, where the file has it. */
  readonly txbytes: Uint8Array | undefined
  /** Why the transaction is not valid, names joined by `|`. */
  readonly expectException: string | undefined
}

export type StateTest = {
  readonly name: string
  readonly block: StateTestBlock
  readonly accounts: readonly GenesisAccount[]
  readonly transaction: TransactionTemplate
  readonly subCases: readonly SubCase[]
  readonly chainId: bigint
  /**
   * Whether its root counts the reward of nothing for the coinbase where the transaction is not valid: the C++ tools
   * that filled the older files ran whole blocks, the newer ones see the state before.
   */
  readonly isBlockRewarded: boolean
  /** Told by who filled the file; matters from Prague on. */
  readonly precompileSet: PrecompileSet
  /** Blob limits by network name in lower case; empty where the file names none. */
  readonly blobSchedule: ReadonlyMap<string, BlobParameters>
}

/** Whether a JSON value looks like a state test, so that other files in a folder can be passed over. */
export function isStateTest(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    // One of its parts may be missing: that is a fault to be named, and no reason to pass the test over. Tests of the
    // virtual machine and fillers share three of them.
    ['env', 'pre', 'transaction', 'post'].filter((key) => key in value).length >= 3 &&
    !('exec' in value || 'expect' in value)
  )
}

/** @throws VarveError TESTFILE_INVALID */
export function readStateTest(name: string, value: unknown): StateTest {
  const test = readObject(value, name)
  const config = test['config'] === undefined ? {} : readObject(test['config'], `${name}.config`)
  return {
    name,
    block: readBlock(readObject(test['env'], `${name}.env`), `${name}.env`),
    accounts: readAccounts(readObject(test['pre'], `${name}.pre`), `${name}.pre`),
    transaction: readTransactionTemplate(test['transaction'], `${name}.transaction`),
    subCases: readSubCases(readObject(test['post'], `${name}.post`), `${name}.post`),
    chainId:
      config['chainid'] === undefined ? 1n : readUint(config['chainid'], 64, `${name}.chainid`),
    isBlockRewarded: isFilledByBlock(test['_info']),
    precompileSet: precompileSetOf(test['_info']),
    blobSchedule: readBlobSchedule(config['blobSchedule'], `${name}.blobSchedule`),
  }
}

/** Told by the note that a file has about its making. */
function isFilledByBlock(info: unknown): boolean {
  if (typeof info !== 'object' || info === null) return false
  if ('filledwith' in info) return true
  const tool = (info as JsonRecord)['filling-tool-version']
  return typeof tool === 'string' && tool.startsWith('retesteth')
}

function readBlock(env: JsonRecord, path: string): StateTestBlock {
  const number = (key: string, bits = 64) => readUint(env[key], bits, `${path}.${key}`)
  const optional = (key: string, bits: number) =>
    env[key] === undefined ? undefined : number(key, bits)
  return {
    coinbase: readFixed(env['currentCoinbase'], ADDRESS_BYTES, `${path}.currentCoinbase`),
    number: number('currentNumber'),
    timestamp: number('currentTimestamp'),
    gasLimit: number('currentGasLimit'),
    difficulty: optional('currentDifficulty', 256),
    random: optional('currentRandom', 256),
    baseFee: optional('currentBaseFee', 256),
    excessBlobGas: optional('currentExcessBlobGas', 64),
    slotNumber: optional('slotNumber', 64) ?? optional('currentSlotNumber', 64),
  }
}

function readSubCases(post: JsonRecord, path: string): SubCase[] {
  return Object.entries(post).flatMap(([fork, list]) =>
    readList(list, `${path}.${fork}`).map((value, index) =>
      readSubCase(fork, readObject(value, `${path}.${fork}.${index}`), `${path}.${fork}.${index}`),
    ),
  )
}

function readSubCase(fork: string, post: JsonRecord, path: string): SubCase {
  const indexes = readObject(post['indexes'], `${path}.indexes`)
  const exception = post['expectException']
  const txbytes = post['txbytes']
  return {
    fork,
    dataIndex: readIndex(indexes['data'], `${path}.indexes.data`),
    gasIndex: readIndex(indexes['gas'], `${path}.indexes.gas`),
    valueIndex: readIndex(indexes['value'], `${path}.indexes.value`),
    hash: readFixed(post['hash'], HASH_BYTES, `${path}.hash`),
    logs: readFixed(post['logs'], HASH_BYTES, `${path}.logs`),
    txbytes: txbytes === undefined ? undefined : readBytes(txbytes, `${path}.txbytes`),
    expectException:
      exception === undefined || exception === ''
        ? undefined
        : readText(exception, `${path}.expectException`),
  }
}
