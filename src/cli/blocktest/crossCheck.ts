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
import type { BlockTest, StatelessFixture, TestBlock } from './blockTest.ts'
import type { BlockObserver } from './runBlockTest.ts'

/** What an engine finds by looking at other blocks than the ancestors' headers; a witness has no more than those. */
const BEYOND_WITNESS = /^UNCLE_/

/** Checks tests one after the other. Belongs to one thread. */
export class CrossCheck {
  private readonly machine = new Machine()

  /** What is to be told of each block of a test. @param precompileSet as the test is run */
  async observerOf(test: BlockTest, precompileSet: PrecompileSet): Promise<BlockObserver> {
    const { spec } = test.genesis
    const { machine } = this
    const executor = await StatelessExecutor.open({ spec, precompileSet, machine })
    return { watch: (block, engine, entry) => watchBlock(block, engine, entry, executor, machine) }
  }
}

function watchBlock(
  block: Block,
  engine: Engine,
  { stateless }: TestBlock,
  executor: StatelessExecutor,
  machine: Machine,
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
      (stateless && fixtureProblem(stateless, witness, executor))
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

/** The file's own witness, which may be spoiled on purpose, and the validator's bytes. */
function fixtureProblem(
  { json, input, output }: StatelessFixture,
  made: BlockWitness,
  executor: StatelessExecutor,
): string | undefined {
  const given = witnessFromJson(json)
  const decoded = decodeStatelessInput(input)
  const block = blockOfStatelessInput(decoded)
  const fault = faultOf(() => executor.execute(block, decoded.witness))
  const isValid = fault === undefined
  const answer = encodeStatelessOutput({
    requestRoot: requestRootOf(decoded),
    isValid,
    chainId: decoded.chainId,
  })
  if (!bytesEqual(answer, output))
    return `stateless output: expected ${toHex(output)}, found ${toHex(answer)} (${describe(fault)})`
  for (const name of ['state', 'codes', 'headers'] as const) {
    if (!sameList(given[name], decoded.witness[name]))
      return `witness: ${name} differ between JSON and SSZ`
    // One that is valid although it is not ours has entries too many, or in another order.
    const problem = isValid ? missingFrom(given[name], made[name]) : undefined
    if (problem !== undefined) return `witness: ${name}: ${problem}`
  }
  return undefined
}

function sameList(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.length === b.length && a.every((bytes, index) => bytesEqual(bytes, b[index]!))
}

/** The first entry of ours that the file's witness lacks, or the first of the file's that no block needs. */
function missingFrom(
  given: readonly Uint8Array[],
  made: readonly Uint8Array[],
): string | undefined {
  const expected = new Set(given.map(toHex))
  for (const bytes of made) if (!expected.has(toHex(bytes))) return `${toHex(bytes)} is too much`
  const found = new Set(made.map(toHex))
  for (const bytes of given) if (!found.has(toHex(bytes))) return `${toHex(bytes)} is missing`
  return undefined
}
