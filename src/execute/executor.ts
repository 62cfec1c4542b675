/**
 * One block over one state: what it changes and what its receipts are. A plain function of its arguments; nothing is
 * written anywhere, so a block that fails leaves no trace.
 */
import { Fork, VarveError } from '../base/index.ts'
import { type BlockRules, blockRewards } from '../chain/index.ts'
import type { Block, Receipt } from '../codec/index.ts'
import { type StateDelta, type StateView, WorldState } from '../state/index.ts'

/** Wei in a gwei: withdrawals count in gwei (EIP-4895). */
const WEI_PER_GWEI = 1_000_000_000n

/** What a block did. */
export type BlockOutcome = {
  readonly delta: StateDelta
  readonly receipts: readonly Receipt[]
  /** Sum over all transactions. */
  readonly gasUsed: bigint
}

/**
 * Executes a block whose header and body were checked.
 * @param view the state of the parent
 * @throws VarveError EXECUTE_UNSUPPORTED for blocks that need the EVM: transactions, and the system calls that start
 *   with Cancun
 */
export function executeBlock(block: Block, rules: BlockRules, view: StateView): BlockOutcome {
  const { header, transactions, uncles, withdrawals } = block
  if (transactions.length > 0) throw unsupported(header.number, 'transactions')
  if (rules.fork >= Fork.Cancun) throw unsupported(header.number, 'system calls')
  const state = new WorldState(view)
  for (const { address, amount } of blockRewards(rules.fork, header, uncles))
    state.addBalance(address, amount)
  for (const { address, amount } of withdrawals ?? []) {
    state.addBalance(address, amount * WEI_PER_GWEI)
    state.removeIfEmpty(address)
  }
  return { delta: state.delta(), receipts: [], gasUsed: 0n }
}

function unsupported(number: number, what: string): VarveError<ExecutorErrorCode> {
  return new VarveError(
    'EXECUTE_UNSUPPORTED',
    `block ${number}: this version executes no ${what} yet`,
    { number, what },
  )
}

/** Error codes of this module. */
export type ExecutorErrorCode =
  /** A block needs what this version does not execute. */
  'EXECUTE_UNSUPPORTED'
