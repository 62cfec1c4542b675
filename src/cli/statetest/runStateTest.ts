/**
 * Runs state tests as go-ethereum's runner does, so that published files mean the same here: after the transaction
 * the coinbase is credited with nothing, and BLOCKHASH hashes the block's number.
 */
import {
  assert,
  bytesEqual,
  Fork,
  isVarveError,
  toHex,
  U256_MAX,
  type VarveError,
} from '../../base/index.ts'
import { type BlockRules, blobBaseFee, networkRules } from '../../chain/index.ts'
import {
  decodeTransaction,
  encodeRlp,
  logsToRlp,
  SenderRecovery,
  signingHash,
  type UnsignedTransaction,
  validateTransaction,
} from '../../codec/index.ts'
import type { StateSummary } from '../../commit/index.ts'
import { Machine, type PrecompileSet, preparePrecompiles } from '../../evm/index.ts'
import {
  deltaOfWrites,
  type ExecutionBlock,
  emptyBlockSpace,
  executeTransaction,
  isTransactionRejection,
  type TransactionOutcome,
  ViewHost,
} from '../../execute/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import { Eip3155Tracer, traceTransaction } from '../../trace/index.ts'
import { isExpectedException } from '../testfiles/expectedException.ts'
import type { TestResult } from '../testfiles/messages.ts'
import { PreState, RootCalculator } from '../testfiles/preState.ts'
import type { StateTest, StateTestBlock, SubCase } from './stateTest.ts'
import { chooseTransaction } from './transactionTemplate.ts'

/** How one sub-case ended; the shape of a row of `--json`. */
export type SubCaseResult = TestResult & {
  /** Root that was computed; empty where nothing could be run. */
  readonly stateRoot: string
}

export type StateTestRunOptions = {
  /** Only this network, whatever the case. */
  readonly fork?: string | undefined
  /** These precompiles, whatever the file says about its making. */
  readonly precompileSet?: PrecompileSet | undefined
  /** Takes the lines of traces by EIP-3155, with their ends, and one with the root after each sub-case. */
  readonly trace?: ((text: string) => void) | undefined
}

/** Base fee of a block whose file gives none: what was meant by files from before London. */
const BASE_FEE_UNNAMED = 10n

/** Runs one test after another on one machine. Belongs to one thread. */
export class StateTestRunner {
  private readonly machine = new Machine()
  private readonly roots = new RootCalculator()
  private readonly recovery: SenderRecovery

  private constructor(recovery: SenderRecovery) {
    this.recovery = recovery
  }

  static async open(): Promise<StateTestRunner> {
    await preparePrecompiles()
    return new StateTestRunner(await SenderRecovery.open())
  }

  /** Runs the sub-cases of a test, in their order. A fault of the engine fails the sub-case and not the run. */
  run(test: StateTest, options: StateTestRunOptions = {}): SubCaseResult[] {
    const wanted = options.fork?.toLowerCase()
    const subCases = test.subCases.filter(
      ({ fork }) => wanted === undefined || fork.toLowerCase() === wanted,
    )
    if (subCases.length === 0) return []
    const preState = new PreState(test.accounts)
    return this.roots.at(preState, (summary) => {
      const rootBefore = summary.root()
      return subCases.map((subCase) => {
        const result = this.runSubCase(test, subCase, preState, summary, options)
        assert(bytesEqual(summary.root(), rootBefore), 'a sub-case leaves the summary as it was')
        return result
      })
    })
  }

  private runSubCase(
    test: StateTest,
    subCase: SubCase,
    preState: PreState,
    summary: StateSummary,
    { trace, precompileSet }: StateTestRunOptions,
  ): SubCaseResult {
    const { fork } = subCase
    const where = `d${subCase.dataIndex} g${subCase.gasIndex} v${subCase.valueIndex}`
    const result = (stateRoot: string, error: string | undefined): SubCaseResult => ({
      name: test.name,
      pass: error === undefined,
      fork,
      stateRoot,
      ...(error === undefined ? {} : { error: `${where}: ${error}` }),
    })
    const rules = networkRules(fork, test.blobSchedule)
    if (rules === undefined) return result('', `unsupported fork "${fork}"`)
    // A filler with the draft had it in its Prague only.
    const filled = rules.fork >= Fork.Prague ? test.precompileSet : 'final'
    const block = executionBlock(test.block, rules, test.chainId, precompileSet ?? filled)
    this.machine.beginBlock(block, new ViewHost(preState.view, blockHashOfNumber))
    const tried = this.tryTransaction(test, subCase, block, trace)
    const isRewarded = test.isBlockRewarded || subCase.expectException === undefined
    if (tried.kind === 'executed' || isRewarded) touchCoinbase(this.machine, block.coinbase)
    const delta = deltaOfWrites(this.machine.writeSet())
    const root = summary.update(delta)
    summary.update(preState.inverse(delta))
    // With the space that geth writes: tools compare this line as text.
    trace?.(`{"stateRoot": "${toHex(root)}"}\n`)
    return result(toHex(root), judge(subCase, root, tried))
  }

  /** The outcome, or why there is none. */
  private tryTransaction(
    test: StateTest,
    subCase: SubCase,
    block: ExecutionBlock,
    trace: StateTestRunOptions['trace'],
  ): Tried {
    let transaction: UnsignedTransaction
    let sender = test.transaction.sender
    let ruleFault: VarveError | undefined
    let mismatch: string | undefined
    try {
      transaction = chooseTransaction(test.transaction, subCase, test.chainId)
      if (subCase.txbytes !== undefined) {
        const decoded = decodeTransaction(subCase.txbytes)
        mismatch = differenceFrom(transaction, decoded)
        transaction = decoded
        sender = this.recovery.recoverSender(decoded)
        if (!bytesEqual(sender, test.transaction.sender))
          mismatch = `txbytes are signed by ${toHex(sender)}`
        ruleFault = ruleFaultOf(() => validateTransaction(decoded, block))
        if (ruleFault !== undefined && SIGNATURE_CODES.has(ruleFault.code))
          return { kind: 'rejected', fault: ruleFault, mismatch }
      }
      const { machine, recovery } = this
      const context = { machine, block, space: emptyBlockSpace(block), recovery }
      const outcome =
        trace === undefined
          ? executeTransaction(context, transaction, sender)
          : traceTransaction(context, transaction, sender, new Eip3155Tracer(trace))
      if (ruleFault !== undefined)
        mismatch = `the codec rejects what execution accepts: ${ruleFault.message}`
      return { kind: 'executed', outcome, mismatch }
    } catch (error) {
      if (!isVarveError(error)) throw error
      const isRejection = isTransactionRejection(error) || CODEC_FAULT.test(error.code)
      return { kind: isRejection ? 'rejected' : 'broken', fault: error, mismatch }
    }
  }
}

type Tried =
  | {
      readonly kind: 'executed'
      readonly outcome: TransactionOutcome
      readonly mismatch: string | undefined
    }
  | {
      /** `broken`: the engine could not do it, whatever the test expects. */
      readonly kind: 'rejected' | 'broken'
      readonly fault: VarveError
      readonly mismatch: string | undefined
    }

/** Faults of decoding and of the signature, which make a transaction invalid before anything runs. */
const CODEC_FAULT = /^(?:RLP|TRANSACTION)_/
/** What the codec alone checks; the rest of its rules are checked again, and in geth's order, by execution. */
const SIGNATURE_CODES = new Set(['TRANSACTION_CHAIN_ID', 'TRANSACTION_SIGNATURE_HIGH_S'])

function ruleFaultOf(check: () => unknown): VarveError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (isVarveError(error)) return error
    throw error
  }
}

/** What is wrong with the result, or `undefined` where all is as the test expects. */
function judge(subCase: SubCase, root: Uint8Array, tried: Tried): string | undefined {
  const { expectException, hash, logs, txbytes } = subCase
  if (tried.kind === 'broken') return `fault [${tried.fault.code}] ${tried.fault.message}`
  if (tried.kind === 'executed' && expectException !== undefined)
    return `expected exception ${expectException}, the transaction was executed`
  if (tried.kind !== 'executed') {
    const { code, message } = tried.fault
    // Files from before txbytes do not say that a transaction is not valid: their root shows it.
    if (expectException === undefined && txbytes !== undefined)
      return `unexpected rejection [${code}] ${message}`
    if (expectException !== undefined && !isExpectedException(expectException, code))
      return `expected exception ${expectException}, found [${code}] ${message}`
  }
  if (!bytesEqual(root, hash)) return `expected state root ${toHex(hash)}, found ${toHex(root)}`
  if (tried.mismatch !== undefined) return tried.mismatch
  if (tried.kind !== 'executed') return undefined
  const logsHash = keccak256(encodeRlp(logsToRlp(tried.outcome.logs)))
  return bytesEqual(logsHash, logs)
    ? undefined
    : `expected hash of logs ${toHex(logs)}, found ${toHex(logsHash)}`
}

/** Compares by what is signed, which is every field. */
function differenceFrom(
  transaction: UnsignedTransaction,
  decoded: UnsignedTransaction,
): string | undefined {
  // A file does not say whether a transaction of type 0 is bound to its chain.
  const expected =
    transaction.type === 0 && decoded.type === 0
      ? { ...transaction, chainId: decoded.chainId }
      : transaction
  if (expected.type === decoded.type && bytesEqual(signingHash(expected), signingHash(decoded)))
    return undefined
  return `txbytes hold another transaction than the file describes (type ${decoded.type}, expected ${expected.type})`
}

function executionBlock(
  block: StateTestBlock,
  rules: BlockRules,
  chainId: bigint,
  precompileSet: PrecompileSet,
): ExecutionBlock {
  const { fork, blob } = rules
  const { coinbase, number, timestamp, gasLimit, difficulty = 0n, random } = block
  return {
    fork,
    blob,
    precompileSet,
    chainId,
    coinbase,
    number,
    timestamp,
    gasLimit,
    random: (fork >= Fork.London ? (random ?? difficulty) : difficulty) & U256_MAX,
    baseFee: fork >= Fork.London ? (block.baseFee ?? BASE_FEE_UNNAMED) : 0n,
    blobBaseFee: blob === undefined ? 0n : blobBaseFee(block.excessBlobGas ?? 0n, blob),
    slotNumber: block.slotNumber,
  }
}

function blockHashOfNumber(number: bigint): Uint8Array {
  return keccak256(new TextEncoder().encode(number.toString()))
}

/** A reward of nothing: brings the coinbase into being before EIP-161, and deletes it afterwards where it is empty. */
function touchCoinbase(machine: Machine, coinbase: Uint8Array): void {
  machine.beginTransaction({ origin: coinbase, gasPrice: 0n })
  machine.addBalance(coinbase, 0n)
  machine.finishTransaction()
}
