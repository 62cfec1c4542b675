/**
 * A block's way from decoded bytes to a delta whose root is its header's: header rules, body rules, uncle rules,
 * execution, receipts, requests, root. Each step is a plain function of the layer that owns it; here is their order.
 *
 *     validateHeader ─▶ validateBody, validateUncles ─▶ recoverSenders ─▶ executeBlock
 *                                   root ◀─ BlockRoots ◀─ validateReceipts, validateRequests ◀┘
 */
import { bytesEqual, Fork, toHex, VarveError } from '../base/index.ts'
import {
  type AncestorReader,
  type BlockRules,
  type ChainSpec,
  type EthashVerifier,
  isMergedAfter,
  receiptFields,
  totalDifficulty,
  validateAccessList,
  validateBody,
  validateHeader,
  validateReceipts,
  validateRequests,
  validateUncles,
  validateUnclesAlone,
} from '../chain/index.ts'
import {
  type Block,
  blockAccessListHash,
  encodeBlock,
  type Header,
  type HeaderFields,
  type SenderRecovery,
} from '../codec/index.ts'
import type { BlockRoots } from '../commit/index.ts'
import type { Machine, PrecompileSet } from '../evm/index.ts'
import {
  type BlockExecutor,
  type BlockHashReader,
  type BlockOutcome,
  executeBlock,
  recoverSenders,
  requestsHash,
} from '../execute/index.ts'
import type { StateView } from '../state/index.ts'
import type { StoredHeader } from './chainRecords.ts'
import type { PhaseClock } from './phases.ts'

/** What a block runs on. */
export type RunContext = {
  readonly spec: ChainSpec
  /** State of the parent. */
  readonly view: StateView
  readonly blockHash: BlockHashReader
  readonly machine: Machine
  readonly recovery: SenderRecovery
  /** Senders that were recovered ahead, in the order of the transactions. */
  readonly senders?: readonly Uint8Array[] | undefined
  readonly precompileSet: PrecompileSet | undefined
  /** In the place of `executeBlock`. */
  readonly blockExecutor?: BlockExecutor | undefined
  /** Begins at the parent's state. */
  readonly roots: Pick<BlockRoots, 'rootAfter'>
  readonly clock: PhaseClock
}

/** What a block is checked against. */
export type CheckContext = RunContext & {
  readonly parent: StoredHeader
  /** Without them the lineage of uncles is taken as given: of those only number and depth are looked at. */
  readonly ancestors: AncestorReader | undefined
  /** Verifies proofs of work, where anything does. */
  readonly seals?: EthashVerifier | undefined
}

/** A block that passed everything but its root. */
export type CheckedBlock = {
  readonly outcome: BlockOutcome
  readonly totalDifficulty: bigint
}

/**
 * Checks and executes a block. Changes nothing but `roots`, and the machine until its next block.
 * @throws VarveError with a code of `chain/`, `codec/` or `execute/`
 */
export function checkBlock(block: Block, context: CheckContext): CheckedBlock {
  const { parent } = context
  const outcome = runBlock(block, context)
  checkOutcome(block.header, outcome, context.clock)
  return {
    outcome,
    totalDifficulty: totalDifficulty(parent.totalDifficulty, block.header.difficulty),
  }
}

/**
 * As `checkBlock`, where nothing is known of the parent but its state: no rule between a header and its parent is
 * looked at, and the caller says which rules are in force.
 */
export function checkOrphan(block: Block, rules: BlockRules, context: RunContext): BlockOutcome {
  context.clock.measure('validate', () => {
    validateLists(block, rules)
    validateUnclesAlone(block.header, block.uncles)
  })
  const outcome = runValid(block, rules, context)
  checkOutcome(block.header, outcome, context.clock)
  return outcome
}

/** As `checkBlock`, but what execution yields is not compared with the header: of a block that is being made. */
export function runBlock(block: Block, context: CheckContext): BlockOutcome {
  const rules = context.clock.measure('validate', () => validateBlock(block, context))
  return runValid(block, rules, context)
}

function runValid(block: Block, rules: BlockRules, context: RunContext): BlockOutcome {
  const { clock, roots, blockExecutor: run = executeBlock } = context
  const senders = clock.measure('senders', () =>
    recoverSenders(block, { ...context, rules }, context.senders),
  )
  const stateRootOf = roots.rootAfter.bind(roots)
  return clock.measure('execute', () => run(block, { ...context, rules, senders, stateRootOf }))
}

/** Header fields that execution yields, without the state root: what a block that is being made puts in its header. */
export function outcomeFields({
  receipts,
  gasUsed,
  requests,
  accessList,
}: BlockOutcome): Partial<HeaderFields> {
  return {
    ...receiptFields(receipts),
    gasUsed,
    ...(requests === undefined ? {} : { requestsHash: requestsHash(requests) }),
    ...(accessList === undefined ? {} : { blockAccessListHash: blockAccessListHash(accessList) }),
  }
}

/** What execution yielded against what the header says of it. */
function checkOutcome(header: Header, outcome: BlockOutcome, clock: PhaseClock): void {
  clock.measure('validate', () => {
    const { receipts, gasUsed, requests, accessList } = outcome
    validateReceipts(header, receipts, gasUsed)
    validateRequests(header, requests === undefined ? undefined : requestsHash(requests))
    if (accessList !== undefined) validateAccessList(header, accessList)
  })
}

/** All that can be said of a block without executing it. */
function validateBlock(block: Block, context: CheckContext): BlockRules {
  const { spec, parent, ancestors, seals } = context
  const { header } = block
  const isMerged = isMergedAfter(spec.schedule, parent.totalDifficulty)
  const headerContext = isMerged === undefined ? {} : { isMerged }
  const rules = validateHeader(header, parent.header, spec, headerContext)
  validateLists(block, rules)
  if (ancestors === undefined) validateUnclesAlone(header, block.uncles)
  else validateUncles(header, block.uncles, spec, ancestors, headerContext)
  if (seals !== undefined && rules.fork < Fork.Paris)
    for (const sealed of [header, ...block.uncles]) seals.verify(sealed)
  return rules
}

function validateLists(block: Block, { fork }: BlockRules): void {
  // Only from Osaka on is there a cap on the block's size (EIP-7934), so only then is it encoded to be measured.
  const blockBytes = fork >= Fork.Osaka ? encodeBlock(block).length : undefined
  validateBody(block.header, block, fork, blockBytes)
}

/**
 * Compares the root after a checked block. On an error the summary below `roots` holds the refused block's nodes and
 * is to be opened anew.
 * @throws VarveError BLOCK_STATE_ROOT_MISMATCH
 */
export function checkRoot(block: Block, outcome: BlockOutcome, roots: RunContext['roots']): void {
  const root = roots.rootAfter(outcome.delta)
  if (!bytesEqual(root, block.header.stateRoot)) throw rootFault(block.header, root)
}

/** Fault of a block whose state has another root than its header says. */
export function rootFault({ number, stateRoot }: Header, root: Uint8Array): VarveError {
  return new VarveError(
    'BLOCK_STATE_ROOT_MISMATCH',
    `block ${number}: state root: expected ${toHex(stateRoot)}, got ${toHex(root)}`,
    { number, expected: toHex(stateRoot), found: toHex(root) },
  )
}

/** Error codes of this module. */
export type BlockCheckErrorCode =
  /** Execution led to another state than the header says. */
  'BLOCK_STATE_ROOT_MISMATCH'
