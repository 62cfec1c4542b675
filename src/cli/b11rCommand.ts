/** `varve b11r`: builds a block out of a header, transactions, ommers and withdrawals, as geth's `evm b11r`. */
import type { Command } from 'commander'
import {
  bytesConcat,
  EMPTY_BYTES,
  EMPTY_LIST_HASH,
  EMPTY_TRIE_ROOT,
  isVarveError,
  toHex,
} from '../base/index.ts'
import {
  BLOOM_BYTES,
  decodeBlock,
  decodeTransaction,
  EMPTY_BLOOM,
  encodeBlock,
  encodeHeader,
  type Header,
  type HeaderFields,
  NONCE_BYTES,
  sealHeader,
  type Transaction,
  uncleHashOf,
} from '../codec/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { readWithdrawals } from './t8n/environment.ts'
import { makeFolder, readJson, readStdin, STDIN, writeOutput } from './t8n/files.ts'
import { listItems, RlpTextFault, readLooseTransaction } from './t8n/looseTransaction.ts'
import { sign } from './t8n/signing.ts'
import { endAsGeth, T8nExit, T8nFault } from './t8n/t8nFault.ts'
import {
  Fields,
  type JsonRecord,
  readAddress,
  readHash,
  readHexBytes,
  readItems,
  readNumber,
  readRecord,
} from './t8n/values.ts'

type B11rFlags = {
  readonly 'input.header': string
  readonly 'input.ommers': string
  readonly 'input.withdrawals': string
  readonly 'input.txs': string
  readonly 'seal.clique': string
  readonly 'output.basedir': string
  readonly 'output.block': string
}

/** Vanity, then signature, in the extra data of a Clique header (EIP-225). */
const VANITY_BYTES = 32
const SEAL_BYTES = 65

export function addB11rCommand(program: Command): void {
  program
    .command('b11r')
    .alias('build-block')
    .description('build a block out of a header and a body, as `evm b11r`')
    .option('--input.header <file>', 'header; stdin', 'header.json')
    .option('--input.ommers <file>', 'list of RLP blocks; stdin', '')
    .option('--input.withdrawals <file>', 'list of withdrawals; stdin', '')
    .option('--input.txs <file>', 'RLP of the transactions as hexadecimal text; stdin', 'txs.rlp')
    .option('--seal.clique <file>', 'seal with Clique; stdin', '')
    .option('--output.basedir <folder>', 'where the output goes; made where there is none', '')
    .option('--output.block <file>', 'the block; stdout or stderr', 'block.json')
    .option('--verbosity <level>', 'accepted and passed over')
    .action((flags: B11rFlags) => endAsGeth(() => runB11r(flags)))
}

function runB11r(flags: B11rFlags): void {
  makeFolder(flags['output.basedir'])
  const sources = (['header', 'ommers', 'withdrawals', 'txs'] as const).map(
    (name) => flags[`input.${name}`],
  )
  const stdin = [...sources, flags['seal.clique']].includes(STDIN)
    ? readRecord(readStdin(), 'stdin')
    : {}
  const input = (name: 'header' | 'ommers' | 'withdrawals' | 'txs') =>
    inputOf(flags[`input.${name}`], stdin, name)
  const uncles = readOmmers(input('ommers'))
  const withdrawals = input('withdrawals')
  const transactions = readTransactions(input('txs'))
  const clique = inputOf(flags['seal.clique'], stdin, 'clique')
  const header = readHeader(input('header'), uncles, clique)
  const block = {
    header,
    transactions,
    uncles,
    ...(withdrawals === undefined
      ? {}
      : { withdrawals: readWithdrawals(withdrawals, 'withdrawals') }),
  }
  writeOutput(flags['output.basedir'], flags['output.block'], {
    rlp: toHex(encodeBlock(block)),
    hash: toHex(sealHeader(header).hash),
  })
}

function inputOf(path: string, stdin: JsonRecord, name: string): unknown {
  if (path === '') return undefined
  return path === STDIN ? (stdin[name] ?? undefined) : readJson(path, name)
}

function readTransactions(value: unknown): Transaction[] {
  if (value === undefined || value === '') return []
  const bytes = readHexBytes(value, 'txs')
  return guarded('unable to decode transaction from rlp data', () =>
    listItems(bytes).map((raw) => decodeTransaction(readLooseTransaction(raw).raw)),
  )
}

/** Each ommer comes as a whole block, of which the header counts. */
function readOmmers(value: unknown): Header[] {
  if (value === undefined) return []
  return readItems(value, 'ommers').map((item, index) => {
    const bytes = readHexBytes(item, `ommers.${index}`)
    return guarded('unable to decode ommer from rlp data', () => decodeBlock(bytes).header)
  })
}

function guarded<Result>(problem: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!isVarveError(error) && !(error instanceof RlpTextFault)) throw error
    throw new T8nFault(T8nExit.Rlp, `${problem}: ${error.message}`)
  }
}

function readHeader(value: unknown, ommers: readonly Header[], clique: unknown): HeaderFields {
  const fields = new Fields(value ?? {}, 'header', 'for header')
  const u64 = (item: unknown, path: string) => readNumber(item, path, 64)
  const u53 = (item: unknown, path: string) => Number(readNumber(item, path, 53))
  const header = {
    parentHash: fields.optional('parentHash', readHash) ?? new Uint8Array(32),
    uncleHash:
      fields.optional('sha3Uncles', readHash) ??
      (ommers.length > 0 ? uncleHashOf(ommers) : EMPTY_LIST_HASH),
    coinbase: fields.optional('miner', readAddress) ?? new Uint8Array(20),
    stateRoot: fields.required('stateRoot', readHash),
    transactionsRoot: fields.optional('transactionsRoot', readHash) ?? EMPTY_TRIE_ROOT,
    receiptsRoot: fields.optional('receiptsRoot', readHash) ?? EMPTY_TRIE_ROOT,
    logsBloom:
      fields.optional('logsBloom', (item, path) => readHexBytes(item, path, BLOOM_BYTES)) ??
      EMPTY_BLOOM,
    difficulty: fields.number('difficulty') ?? 0n,
    number: fields.required('number', u53),
    gasLimit: fields.required('gasLimit', u64),
    gasUsed: fields.number('gasUsed', 64) ?? 0n,
    timestamp: fields.required('timestamp', u64),
    extraData: fields.optional('extraData', readHexBytes) ?? EMPTY_BYTES,
    mixHash: fields.optional('mixHash', readHash) ?? new Uint8Array(32),
    nonce:
      fields.optional('nonce', (item, path) => readHexBytes(item, path, NONCE_BYTES)) ??
      new Uint8Array(NONCE_BYTES),
    ...laterFields(fields),
  }
  return clique === undefined ? header : sealed(header, fields, clique)
}

function laterFields(fields: Fields): Partial<HeaderFields> {
  const values = {
    baseFeePerGas: fields.number('baseFeePerGas'),
    withdrawalsRoot: fields.optional('withdrawalsRoot', readHash),
    blobGasUsed: fields.number('blobGasUsed', 64),
    excessBlobGas: fields.number('excessBlobGas', 64),
    parentBeaconBlockRoot: fields.optional('parentBeaconBlockRoot', readHash),
    requestsHash: fields.optional('requestsHash', readHash),
  }
  const present = Object.entries(values).filter(([, item]) => item !== undefined)
  return Object.fromEntries(present) as Partial<HeaderFields>
}

/** Signs a header as Clique does (EIP-225). @throws T8nFault Config where that would overwrite a field */
function sealed(header: HeaderFields, given: Fields, value: unknown): HeaderFields {
  const clique = new Fields(value, 'clique', 'for cliqueInput')
  const key = clique.required('secretKey', readHash)
  const voted = clique.optional('voted', readAddress)
  const authorize = clique.optional('authorize', (flag) => flag === true)
  const isGiven = (name: string) => given.optional(name, () => true) === true
  if (isGiven('extraData')) throw config('sealing with clique will overwrite provided extra data')
  if (voted !== undefined && isGiven('miner'))
    throw config('sealing with clique and voting will overwrite provided coinbase')
  if (authorize !== undefined && isGiven('nonce'))
    throw config('sealing with clique and voting will overwrite provided nonce')
  const vanity = clique.optional('vanity', readHash) ?? new Uint8Array(VANITY_BYTES)
  const unsigned: HeaderFields = {
    ...header,
    coinbase: voted ?? header.coinbase,
    nonce:
      authorize === undefined
        ? header.nonce
        : new Uint8Array(NONCE_BYTES).fill(authorize ? 0 : 0xff),
    extraData: vanity,
  }
  // The signature covers the header with the vanity alone as its extra data.
  const { yParity, r, s } = sign(keccak256(encodeHeader(unsigned)), key)
  const seal = new Uint8Array(SEAL_BYTES)
  seal.set(readHexBytes(r.toString(16).padStart(64, '0'), 'r'), 0)
  seal.set(readHexBytes(s.toString(16).padStart(64, '0'), 's'), 32)
  seal[64] = yParity
  return { ...unsigned, extraData: bytesConcat(vanity, seal) }
}

function config(message: string): T8nFault {
  return new T8nFault(T8nExit.Config, message)
}
