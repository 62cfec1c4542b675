/**
 * Makes the witness of a block: the block is checked once more over its parent's state, and what that asks for is kept.
 * Reading alone: the parent's state, its nodes and the chain stay as they are.
 */
import { isVarveError, type VarveError } from '../../base/index.ts'
import type { Block, Header } from '../../codec/index.ts'
import { BlockRoots, type StateNodes, StateSummary, WitnessRecorder } from '../../commit/index.ts'
import { type CheckContext, checkBlock, checkRoot } from '../blockCheck.ts'
import type { BlockWitness } from './witness.ts'

/** What a block is made a witness from. */
export type WitnessSource = Omit<CheckContext, 'roots' | 'blockHash'> & {
  /** Nodes of the parent's state. */
  readonly nodes: StateNodes
  /** Header of one of the 256 blocks before the block. */
  readonly ancestor: (number: number) => Header
}

/** A witness, and why its block is refused where it is. */
export type RecordedWitness = {
  readonly witness: BlockWitness
  readonly fault: VarveError | undefined
}

/**
 * The least that `executeWitness` needs, as EIP-8025 orders it: nodes and codes by their bytes, headers oldest first.
 * @throws VarveError where the block is not valid
 */
export function makeWitness(block: Block, source: WitnessSource): BlockWitness {
  const { witness, fault } = recordWitness(block, source)
  if (fault !== undefined) throw fault
  return witness
}

/** As `makeWitness`; of a block that is refused, what the refusal took, so that others can see it from the witness. */
export function recordWitness(block: Block, source: WitnessSource): RecordedWitness {
  const { parent, nodes, ancestor } = source
  const root = parent.header.stateRoot
  const recorder = new WitnessRecorder(source.view, nodes, root)
  const roots = new BlockRoots(new StateSummary(recorder.nodes, root))
  let oldest = parent.header.number
  const blockHash = (number: bigint) => {
    oldest = Math.min(oldest, Number(number))
    return ancestor(Number(number)).hash
  }
  // Codes that the machine still had of other blocks would be missing from the witness.
  source.machine.forgetCodes()
  let fault: VarveError | undefined
  try {
    const { outcome } = checkBlock(block, { ...source, view: recorder.view, blockHash, roots })
    checkRoot(block, outcome, roots)
  } catch (error) {
    if (!isVarveError(error)) throw error
    fault = error
  }
  const headers: Uint8Array[] = []
  for (let number = oldest; number <= parent.header.number; number++)
    headers.push(ancestor(number).raw)
  return { witness: { ...recorder.finish(), headers }, fault }
}
