/**
 * A block's way from decoded bytes to a delta whose root is its header's: header rules, body rules, uncle rules,
 * execution, receipts, root. Each step is a plain function of the layer that owns it; here is their order.
 *
 *     validateHeader ─▶ validateBody, validateUncles ─▶ executeBlock ─▶ validateReceipts ─▶ summary.update ─▶ root
 */
import { bytesEqual, Fork, toHex, VarveError } from '../base/index.ts'
import {
  type AncestorReader,
  type ChainSpec,
  isMergedAfter,
  totalDifficulty,
  validateBody,
  validateHeader,
  validateReceipts,
  validateUncles,
} from '../chain/index.ts'
import { type Block, encodeBlock } from '../codec/index.ts'
import type { StateSummary } from '../commit/index.ts'
import { type BlockOutcome, executeBlock } from '../execute/index.ts'
import type { StateView } from '../state/index.ts'
import type { StoredHeader } from './chainRecords.ts'
import type { PhaseClock } from './phases.ts'

/** What a block is checked against. */
export type CheckContext = {
  readonly spec: ChainSpec
  readonly parent: StoredHeader
  readonly ancestors: AncestorReader
  readonly view: StateView
  readonly clock: PhaseClock
}

/** A block that passed everything but its root. */
export type CheckedBlock = {
  readonly outcome: BlockOutcome
  readonly totalDifficulty: bigint
}

/**
 * Checks and executes a block. Changes nothing.
 * @throws VarveError with a code of `chain/` or `execute/`
 */
export function checkBlock(block: Block, context: CheckContext): CheckedBlock {
  const { spec, parent, ancestors, view, clock } = context
  const { header } = block
  const rules = clock.measure('validate', () => {
    const isMerged = isMergedAfter(spec.schedule, parent.totalDifficulty)
    const headerContext = isMerged === undefined ? {} : { isMerged }
    const found = validateHeader(header, parent.header, spec, headerContext)
    // Only from Osaka on is there a cap on the block's size (EIP-7934), so only then is it encoded to be measured.
    const blockBytes = found.fork >= Fork.Osaka ? encodeBlock(block).length : undefined
    validateBody(header, block, found.fork, blockBytes)
    validateUncles(header, block.uncles, spec, ancestors, headerContext)
    return found
  })
  const outcome = clock.measure('execute', () => {
    const result = executeBlock(block, rules, view)
    validateReceipts(header, result.receipts)
    return result
  })
  return { outcome, totalDifficulty: totalDifficulty(parent.totalDifficulty, header.difficulty) }
}

/**
 * Applies a checked block to the summary and compares roots. On an error the summary holds the refused block's nodes
 * and is to be opened anew.
 * @throws VarveError BLOCK_STATE_ROOT_MISMATCH
 */
export function checkRoot(block: Block, outcome: BlockOutcome, summary: StateSummary): void {
  const root = summary.update(outcome.delta)
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
