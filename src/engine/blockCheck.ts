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
  isMergedAfter,
  totalDifficulty,
  validateBody,
  validateHeader,
  validateReceipts,
  validateRequests,
  validateUncles,
} from '../chain/index.ts'
import { type Block, encodeBlock, type SenderRecovery } from '../codec/index.ts'
import type { BlockRoots } from '../commit/index.ts'
import type { Machine, PrecompileSet } from '../evm/index.ts'
import {
  type BlockHashReader,
  type BlockOutcome,
  executeBlock,
  recoverSenders,
  requestsHash,
} from '../execute/index.ts'
import type { StateView } from '../state/index.ts'
import type { StoredHeader } from './chainRecords.ts'
import type { PhaseClock } from './phases.ts'

/** What a block is checked against. */
export type CheckContext = {
  readonly spec: ChainSpec
  readonly parent: StoredHeader
  readonly ancestors: AncestorReader
  readonly view: StateView
  readonly blockHash: BlockHashReader
  readonly machine: Machine
  readonly recovery: SenderRecovery
  readonly precompileSet: PrecompileSet | undefined
  /** Begins at the parent's state. */
  readonly roots: BlockRoots
  readonly clock: PhaseClock
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
  const { parent, clock } = context
  const { header } = block
  const outcome = runBlock(block, context)
  clock.measure('validate', () => {
    validateReceipts(header, outcome.receipts)
    const { requests } = outcome
    validateRequests(header, requests === undefined ? undefined : requestsHash(requests))
  })
  return { outcome, totalDifficulty: totalDifficulty(parent.totalDifficulty, header.difficulty) }
}

/** As `checkBlock`, but what execution yields is not compared with the header: of a block that is being made. */
export function runBlock(block: Block, context: CheckContext): BlockOutcome {
  const { clock, roots } = context
  const rules = clock.measure('validate', () => validateBlock(block, context))
  const senders = clock.measure('senders', () => recoverSenders(block, { ...context, rules }))
  const stateRootOf = roots.rootAfter.bind(roots)
  return clock.measure('execute', () =>
    executeBlock(block, { ...context, rules, senders, stateRootOf }),
  )
}

/** All that can be said of a block without executing it. */
function validateBlock(block: Block, context: CheckContext): BlockRules {
  const { spec, parent, ancestors } = context
  const { header } = block
  const isMerged = isMergedAfter(spec.schedule, parent.totalDifficulty)
  const headerContext = isMerged === undefined ? {} : { isMerged }
  const rules = validateHeader(header, parent.header, spec, headerContext)
  // Only from Osaka on is there a cap on the block's size (EIP-7934), so only then is it encoded to be measured.
  const blockBytes = rules.fork >= Fork.Osaka ? encodeBlock(block).length : undefined
  validateBody(header, block, rules.fork, blockBytes)
  validateUncles(header, block.uncles, spec, ancestors, headerContext)
  return rules
}

/**
 * Compares the root after a checked block. On an error the summary below `roots` holds the refused block's nodes and
 * is to be opened anew.
 * @throws VarveError BLOCK_STATE_ROOT_MISMATCH
 */
export function checkRoot(block: Block, outcome: BlockOutcome, roots: BlockRoots): void {
  const root = roots.rootAfter(outcome.delta)
  const { number, stateRoot } = block.header
  if (!bytesEqual(root, stateRoot))
    throw new VarveError(
      'BLOCK_STATE_ROOT_MISMATCH',
      `block ${number}: state root: expected ${toHex(stateRoot)}, got ${toHex(root)}`,
      { number, expected: toHex(stateRoot), found: toHex(root) },
    )
}

/** Error codes of this module. */
export type BlockCheckErrorCode =
  /** Execution led to another state than the header says. */
  'BLOCK_STATE_ROOT_MISMATCH'
