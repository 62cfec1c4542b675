/** `varve t9n`: checks transactions by themselves, as geth's `evm t9n`: sender, intrinsic gas, sizes of numbers. */
import { type Command, InvalidArgumentError } from 'commander'
import { Fork, isVarveError, toHex, U256_MAX } from '../base/index.ts'
import {
  decodeTransaction,
  floorGas,
  initCodeBytesMax,
  intrinsicGas,
  SenderRecovery,
  sealTransaction,
  TRANSACTION_GAS_MAX,
  type Transaction,
} from '../codec/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { rlpItems } from './t8n/candidates.ts'
import { readJson, readStdin, STDIN } from './t8n/files.ts'
import { rulesOfFork } from './t8n/forkName.ts'
import {
  type LooseTransaction,
  RlpTextFault,
  readLooseTransaction,
} from './t8n/looseTransaction.ts'
import { signatureProblem } from './t8n/rejectionText.ts'
import { endAsGeth, T8nExit, T8nFault } from './t8n/t8nFault.ts'
import { readHexBytes, readRecord } from './t8n/values.ts'

type T9nFlags = {
  readonly 'input.txs': string
  readonly 'state.fork': string
  readonly 'state.chainid': number
}

type Verdict = {
  error?: string
  address?: string
  hash?: string
  intrinsicGas?: string
}

const U64_MAX = (1n << 64n) - 1n
const INVALID_SIGNATURE = 'invalid transaction v, r, s values'

export function addT9nCommand(program: Command): void {
  program
    .command('t9n')
    .alias('transaction')
    .description('check transactions by themselves, as `evm t9n`')
    .option('--input.txs <file>', 'RLP list of transactions as hexadecimal .rlp; stdin', 'txs.json')
    .option('--state.fork <name>', 'rules, e.g. Cancun', 'GrayGlacier')
    .option('--state.chainid <id>', 'chain id', parseChainId, 1)
    .option('--verbosity <level>', 'accepted and passed over')
    .action((flags: T9nFlags) => endAsGeth(() => runT9n(flags)))
}

async function runT9n(flags: T9nFlags): Promise<void> {
  const { fork } = rulesOfFork(flags['state.fork'], 0n, 0n)
  const chainId = BigInt(flags['state.chainid'])
  const items = rlpItems(readBody(flags['input.txs']))
  const recovery = await SenderRecovery.open()
  const verdicts = items.map((raw) => judge(raw, fork, chainId, recovery))
  console.log(JSON.stringify(verdicts, null, 2))
}

function readBody(path: string): Uint8Array {
  if (path === STDIN) return readHexBytes(readRecord(readStdin(), 'stdin')['txsRlp'], 'txsRlp')
  if (!path.endsWith('.rlp')) throw new T8nFault(T8nExit.Io, 'only rlp supported')
  return readHexBytes(readJson(path, 'txs'), 'txs')
}

/** Checks in geth's order; the last fault of the late ones counts, as there. */
function judge(raw: Uint8Array, fork: Fork, chainId: bigint, recovery: SenderRecovery): Verdict {
  let loose: LooseTransaction
  try {
    loose = readLooseTransaction(raw)
  } catch (error) {
    if (error instanceof RlpTextFault) return { error: error.message }
    throw error
  }
  const verdict: Verdict = { hash: toHex(keccak256(loose.raw)) }
  const transaction = transactionOf(loose)
  const problem =
    typeof transaction === 'string' ? transaction : signatureProblem(transaction, fork, chainId)
  if (problem !== undefined || typeof transaction === 'string')
    return { error: problem ?? INVALID_SIGNATURE, ...verdict }
  try {
    verdict.address = toHex(recovery.recoverSender(transaction))
  } catch (error) {
    if (isVarveError(error)) return { error: INVALID_SIGNATURE, ...verdict }
    throw error
  }
  const intrinsic = intrinsicGas(transaction, fork)
  verdict.intrinsicGas = `0x${intrinsic.toString(16)}`
  const error = gasProblem(transaction, intrinsic, fork) ?? numberProblem(transaction, fork)
  return error === undefined ? verdict : { error, ...verdict }
}

/** A transaction whose numbers may be too large for the decoder, or what is wrong with its signature. */
function transactionOf(loose: LooseTransaction): Transaction | string {
  const isLarge = (field: string) => loose.integer(field) > U256_MAX
  if (loose.type === 0 && (isLarge('GasPrice') || isLarge('Value'))) return legacyOf(loose)
  try {
    return decodeTransaction(loose.raw)
  } catch (error) {
    if (isVarveError(error, 'TRANSACTION_SIGNATURE')) return INVALID_SIGNATURE
    if (isVarveError(error)) return error.message
    throw error
  }
}

function legacyOf(loose: LooseTransaction): Transaction | string {
  const [v, r, s] = [loose.integer('V'), loose.integer('R'), loose.integer('S')] as const
  const isPlain = v === 27n || v === 28n
  if (!isPlain && v < 35n) return INVALID_SIGNATURE
  const to = loose.bytes('To')
  return sealTransaction({
    type: 0,
    chainId: isPlain ? undefined : (v - 35n) / 2n,
    nonce: loose.integer('Nonce'),
    gasPrice: loose.integer('GasPrice'),
    gasLimit: loose.integer('Gas'),
    to: to.length === 0 ? undefined : to,
    value: loose.integer('Value'),
    data: loose.bytes('Data'),
    yParity: (isPlain ? v - 27n : (v - 35n) % 2n) === 0n ? 0 : 1,
    r,
    s,
  })
}

function gasProblem(transaction: Transaction, intrinsic: number, fork: Fork): string | undefined {
  const { gasLimit } = transaction
  if (gasLimit < BigInt(intrinsic))
    return `intrinsic gas too low: have ${gasLimit}, want ${intrinsic}`
  const floor = floorGas(transaction, fork)
  return gasLimit < BigInt(floor)
    ? `insufficient gas for floor data gas cost: have ${gasLimit}, want ${floor}`
    : undefined
}

function numberProblem(transaction: Transaction, fork: Fork): string | undefined {
  const { gasLimit, data, to } = transaction
  if (fork === Fork.Osaka && gasLimit > TRANSACTION_GAS_MAX) return 'gas limit exceeds maximum'
  if (to === undefined && fork >= Fork.Shanghai && data.length > initCodeBytesMax(fork))
    return `max initcode size exceeded: code size ${data.length} limit ${initCodeBytesMax(fork)}`
  const price = 'gasPrice' in transaction ? transaction.gasPrice : transaction.maxFeePerGas
  const tip = 'gasPrice' in transaction ? price : transaction.maxPriorityFeePerGas
  if (transaction.nonce === U64_MAX) return 'nonce exceeds 2^64-1'
  if (transaction.value > U256_MAX) return 'value exceeds 256 bits'
  if (price > U256_MAX) return 'gasPrice exceeds 256 bits'
  if (tip > U256_MAX) return 'maxPriorityFeePerGas exceeds 256 bits'
  if (price < tip) return 'maxFeePerGas < maxPriorityFeePerGas'
  return price * gasLimit > U256_MAX ? 'gas * gasPrice exceeds 256 bits' : undefined
}

function parseChainId(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new InvalidArgumentError('expected a number.')
}
