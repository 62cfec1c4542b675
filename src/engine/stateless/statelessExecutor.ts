/**
 * Executes blocks of which nothing is known but a witness: the same checks in the same order as an engine's
 * (`blockCheck.ts`), over a state that is read through tries of which only some nodes are there.
 *
 *     witness.headers ─▶ AncestorChain ─▶ parent, its state root, BLOCKHASH
 *     witness.state, codes ─▶ StateSummary at that root ─▶ view ─▶ checkBlock ─▶ checkRoot
 *
 * Not here: uncles against their ancestors. A witness has headers and no bodies, so a block of proof of work pays the
 * uncles that its header's hash commits to, and whether they may be named is for whoever keeps the chain to say.
 */
import { Fork } from '../../base/index.ts'
import { type BlockRules, type ChainSpec, rulesAt } from '../../chain/index.ts'
import {
  asDecoded,
  type Block,
  type Header,
  type Receipt,
  SenderRecovery,
} from '../../codec/index.ts'
import {
  BlockRoots,
  openWitnessState,
  StateSummary,
  type UnprovenAccounts,
  type WitnessPreimages,
} from '../../commit/index.ts'
import { Machine, type PrecompileSet } from '../../evm/index.ts'
import type { BlockHashReader, BlockOutcome } from '../../execute/index.ts'
import { checkBlock, checkOrphan, checkRoot, type RunContext } from '../blockCheck.ts'
import { PhaseClock } from '../phases.ts'
import { AncestorChain } from './ancestorChain.ts'
import { makeWitness } from './makeWitness.ts'
import type { BlockWitness } from './witness.ts'

export type StatelessOptions = {
  readonly spec: ChainSpec
  /** Precompiles of the protocol, unless the chain was made under a draft. */
  readonly precompileSet?: PrecompileSet | undefined
  /** To run on, where there is one already; it may serve others in between. */
  readonly machine?: Machine | undefined
  /** `refused` unless said otherwise; with `absent` a result is no proof against whoever made the witness. */
  readonly unproven?: UnprovenAccounts | undefined
}

/** A block that was verified: gas, receipts, requests and state root are those of its header. */
export type StatelessResult = {
  readonly receipts: readonly Receipt[]
  readonly gasUsed: bigint
  /** Root after the block, 32 bytes. */
  readonly stateRoot: Uint8Array
}

/** What stands in for the headers of a witness where the parent's root is known in another way. */
export type KnownParent = {
  /** State root of the parent, 32 bytes. Whoever passes it vouches for it. */
  readonly stateRoot: Uint8Array
  /** Hashes of the 256 blocks before; asked only for what code asks for. */
  readonly blockHash: BlockHashReader
}

/**
 * Verifies one block by its witness. For more than one, keep a `StatelessExecutor`.
 * @throws VarveError as `StatelessExecutor.execute`; SECP256K1_UNAVAILABLE
 */
export async function executeWitness(
  block: Block,
  witness: BlockWitness,
  options: StatelessOptions,
): Promise<StatelessResult> {
  const executor = await StatelessExecutor.open(options)
  return executor.execute(block, witness)
}

/** Verifies blocks of one chain, in any order. Keeps nothing of a block but the machine it ran on. */
export class StatelessExecutor {
  readonly spec: ChainSpec
  /** Where the time goes. */
  readonly clock = new PhaseClock()
  private readonly machine: Machine
  private readonly recovery: SenderRecovery
  private readonly precompileSet: PrecompileSet | undefined
  private readonly unproven: UnprovenAccounts | undefined

  private constructor(options: StatelessOptions, recovery: SenderRecovery) {
    this.spec = options.spec
    this.machine = options.machine ?? new Machine()
    this.precompileSet = options.precompileSet
    this.unproven = options.unproven
    this.recovery = recovery
  }

  /** Faster after `preparePrecompiles` of `evm/`. @throws VarveError SECP256K1_UNAVAILABLE */
  static async open(options: StatelessOptions): Promise<StatelessExecutor> {
    return new StatelessExecutor(options, await SenderRecovery.open())
  }

  /**
   * Verifies a block against its parent's header and state, both of the witness.
   * @throws VarveError WITNESS_* naming what is missing or wrong, TRIE_NODE_INVALID, SUMMARY_LEAF_INVALID, and the code
   *   of the rule that the block breaks
   */
  execute(given: Block, witness: BlockWitness): StatelessResult {
    const block = asDecoded(given)
    const { header } = block
    const chain = AncestorChain.link(witness.headers, header)
    const known = { stateRoot: chain.parent.stateRoot, blockHash: chain.hashOf.bind(chain) }
    const context = this.contextOf(rulesOf(header, this.spec), known, witness)
    const parent = { header: chain.parent, totalDifficulty: assumedTotal(header, this.spec) }
    const { outcome } = checkBlock(block, { ...context, parent, ancestors: undefined })
    return this.finish(block, outcome, context)
  }

  /**
   * As `execute`, where no header of the parent is at hand: the rules between a header and its parent are not checked.
   * @throws VarveError as `execute`
   */
  executeOn(parent: KnownParent, given: Block, preimages: WitnessPreimages): StatelessResult {
    const block = asDecoded(given)
    const rules = rulesOf(block.header, this.spec)
    const context = this.contextOf(rules, parent, preimages)
    return this.finish(block, checkOrphan(block, rules, context), context)
  }

  /**
   * The part of a witness that the block needs: what `Engine.witness` would make of it. Entries that play no part, such
   * as nodes of the state after the block, are left out.
   * @throws VarveError as `execute`; WITNESS_NODE_MISSING for an unproven account, whatever the options say
   */
  reduce(block: Block, witness: BlockWitness): BlockWitness {
    const { spec, machine, recovery, precompileSet, clock } = this
    const chain = AncestorChain.link(witness.headers, block.header)
    const { parent: header } = chain
    const { view, nodes } = openWitnessState(header.stateRoot, witness)
    return makeWitness(block, {
      ...{ spec, machine, recovery, precompileSet, clock, view, nodes },
      parent: { header, totalDifficulty: assumedTotal(block.header, spec) },
      ancestors: undefined,
      ancestor: (number) => chain.headerOf(number),
    })
  }

  private contextOf(
    { fork }: BlockRules,
    { stateRoot, blockHash }: KnownParent,
    preimages: WitnessPreimages,
  ): RunContext {
    const { spec, machine, recovery, precompileSet, clock } = this
    // Else the answer would depend on which blocks came before: codes are the witness's to bring.
    machine.forgetCodes()
    const { view, summary, nodes } = openWitnessState(stateRoot, preimages, this.unproven)
    // Before Byzantium there are roots in the middle of a block, while the view is still asked.
    const own = fork < Fork.Byzantium ? new StateSummary(nodes, stateRoot) : summary
    const roots = new BlockRoots(own)
    return { spec, view, blockHash, machine, recovery, precompileSet, roots, clock }
  }

  private finish(block: Block, outcome: BlockOutcome, context: RunContext): StatelessResult {
    this.clock.measure('root', () => checkRoot(block, outcome, context.roots))
    const { receipts, gasUsed } = outcome
    return { receipts, gasUsed, stateRoot: block.header.stateRoot }
  }
}

function rulesOf(header: Header, spec: ChainSpec): BlockRules {
  return rulesAt(spec, header.number, header.timestamp, isMergedBlock(header, spec))
}

/**
 * Whether the block is under proof of stake: by the schedule where that names the block of the merge, else by what the
 * header itself claims, since a witness says nothing of total difficulty.
 */
function isMergedBlock({ number, difficulty }: Header, { schedule }: ChainSpec): boolean {
  const paris = schedule.byBlock.find(({ fork }) => fork === Fork.Paris)
  return paris === undefined ? difficulty === 0n : number >= paris.at
}

/** A total difficulty of the parent that fits `isMergedBlock`; its true one is not known, and nothing else asks for it. */
function assumedTotal(header: Header, spec: ChainSpec): bigint {
  return isMergedBlock(header, spec) ? (spec.schedule.terminalTotalDifficulty ?? 0n) : 0n
}
