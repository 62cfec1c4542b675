/**
 * Runs each block a second way: `--cross-check` makes the block's witness, executes it from that alone, and compares
 * with what the engine says of it. Where the file brings a witness and the bytes of EIP-8025, these are held against
 * ours, and executed as well.
 */
import { bytesEqual, Fork, isVarveError, toHex, type VarveError } from '../../base/index.ts'
import type { ChainSpec } from '../../chain/index.ts'
import type { Block } from '../../codec/index.ts'
import type { Engine } from '../../engine/index.ts'
import {
  type BlockWitness,
  blockOfStatelessInput,
  decodeStatelessInput,
  encodeStatelessOutput,
  requestRootOf,
  StatelessExecutor,
  witnessFromJson,
} from '../../engine/stateless/index.ts'
import { Machine, type PrecompileSet } from '../../evm/index.ts'
import type { BlockTest, StatelessFixture } from './blockTest.ts'
import type { BlockObserver } from './runBlockTest.ts'

/**
 * What an engine finds by looking at other blocks than the ancestors' headers, which is all that a witness has, and by
 * verifying seals, which a stateless executor leaves alone.
 */
const BEYOND_WITNESS = /^(?:UNCLE_|BLOCK_SEAL_)/

/** Tests whose witness was spoiled after it was made, or padded: it must be judged, and is not to be made again. */
const SPOILED = /test_witness_validation_|test_soundness_/

/** Checks tests one after the other. Belongs to one thread. */
export class CrossCheck {
  private readonly machine = new Machine()

  /** What is to be told of each block of a test. @param precompileSet as the test is run */
  async observerOf(test: BlockTest, precompileSet: PrecompileSet): Promise<BlockObserver> {
    const { spec } = test.genesis
    const { machine } = this
    const executor = await StatelessExecutor.open({ spec, precompileSet, machine })
    const isSpoiled = SPOILED.test(test.name)
    return {
      watch: (block, engine, entry) =>
        watchBlock(block, engine, entry.stateless, { executor, machine, isSpoiled }),
    }
  }
}

type Means = {
  readonly executor: StatelessExecutor
  readonly machine: Machine
  readonly isSpoiled: boolean
}

function watchBlock(
  block: Block,
  engine: Engine,
  stateless: StatelessFixture | undefined,
  { executor, machine, isSpoiled }: Means,
): ReturnType<BlockObserver['watch']> {
  // A block on an unknown parent has no witness.
  if (engine.header(block.header.parentHash) === undefined) return () => undefined
  const { witness, fault } = engine.recordWitness(block, machine)
  return (engineFault) => {
    const replay = faultOf(() => executor.execute(block, witness))
    return (
      difference('making its witness', engineFault, fault) ??
      (isComparable(engineFault, executor.spec)
        ? difference('executing its witness', engineFault, replay)
        : undefined) ??
      (stateless && answerProblem(stateless, executor)) ??
      (stateless && !isSpoiled ? witnessProblem(stateless, witness) : undefined)
    )
  }
}

/** Whether both ways have all that the engine's answer took. */
function isComparable(fault: VarveError | undefined, spec: ChainSpec): boolean {
  if (fault === undefined) return true
  // Whether total difficulty has reached the end of proof of work, a witness cannot say.
  const { byBlock, terminalTotalDifficulty } = spec.schedule
  const isMergeKnown =
    terminalTotalDifficulty === undefined || byBlock.some(({ fork }) => fork === Fork.Paris)
  return isMergeKnown && !BEYOND_WITNESS.test(fault.code)
}

function difference(
  what: string,
  expected: VarveError | undefined,
  found: VarveError | undefined,
): string | undefined {
  if (expected?.code === found?.code) return undefined
  return `${what}: expected ${describe(expected)}, found ${describe(found)}`
}

function describe(fault: VarveError | undefined): string {
  return fault === undefined ? 'a valid block' : `[${fault.code}] ${fault.message}`
}

function faultOf(work: () => unknown): VarveError | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (isVarveError(error)) return error
    throw error
  }
}

/** The validator's answer to the file's own input, whose witness may be spoiled on purpose. */
function answerProblem(
  { json, input, output }: StatelessFixture,
  executor: StatelessExecutor,
): string | undefined {
  const decoded = decodeStatelessInput(input)
  const block = blockOfStatelessInput(decoded)
  const fault = faultOf(() => executor.execute(block, decoded.witness))
  const answer = encodeStatelessOutput({
    requestRoot: requestRootOf(decoded),
    isValid: fault === undefined,
    chainId: decoded.chainId,
  })
  if (!bytesEqual(answer, output))
    return `stateless output: expected ${toHex(output)}, found ${toHex(answer)} (${describe(fault)})`
  return listProblem('input and JSON', witnessFromJson(json), decoded.witness)
}

/** The file's witness against the one made here, entry by entry. */
function witnessProblem({ json }: StatelessFixture, made: BlockWitness): string | undefined {
  return listProblem('witness', witnessFromJson(json), made)
}

function listProblem(
  what: string,
  expected: BlockWitness,
  found: BlockWitness,
): string | undefined {
  for (const name of ['state', 'codes', 'headers'] as const) {
    const [wanted, given] = [expected[name].map(toHex), found[name].map(toHex)]
    const missing = wanted.find((entry) => !given.includes(entry))
    if (missing !== undefined) return `${what}: ${name}: ${missing} is missing`
    const extra = given.find((entry) => !wanted.includes(entry))
    if (extra !== undefined) return `${what}: ${name}: ${extra} is too much`
    if (wanted.join() !== given.join()) return `${what}: ${name}: in another order, or repeated`
  }
  return undefined
}
