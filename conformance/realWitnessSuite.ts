/**
 * Real blocks with the nodes, codes and headers that they need: each is verified by its witness alone, to its header's
 * gas, receipts, bloom and state root. Makers differ: some list headers from the parent down, some give the parent's
 * root instead, and one leaves out an address that a transaction sends nothing to.
 */
import { type ChainSpec, holesky, hoodi, mainnet, sepolia } from 'varve/chain'
import { type Block, decodeBlock, decodeHeader } from 'varve/codec'
import { preparePrecompiles } from 'varve/evm'
import { StatelessExecutor, type UnprovenAccounts, type WitnessPreimages } from 'varve/stateless'
import { bytesOf, type Fixtures } from './fixtures.ts'
import type { SuiteReport } from './suiteReport.ts'

type Record = {
  readonly id: string
  readonly chainId: number
  readonly block: string
  readonly witness: { readonly [list in 'headers' | 'state' | 'codes']: readonly string[] }
  readonly parentStateRoot?: string
  /** Newest first. */
  readonly blockHashes?: readonly string[]
  readonly expect: { readonly gasUsed: number }
}

const CHAINS: readonly ChainSpec[] = [mainnet, sepolia, holesky, hoodi]

export async function runRealWitnessSuite(fixtures: Fixtures, report: SuiteReport): Promise<void> {
  await preparePrecompiles()
  let gas = 0n
  let byteCount = 0
  let byteCountReduced = 0
  let milliseconds = 0
  for await (const record of fixtures.records<Record>(report.suite)) {
    const spec = CHAINS.find(({ chainId }) => chainId === BigInt(record.chainId))!
    const strict = await StatelessExecutor.open({ spec })
    const lenient = await StatelessExecutor.open({ spec, unproven: 'absent' })
    report.run(record.id, () => {
      const block = decodeBlock(bytesOf(record.block))
      const start = performance.now()
      const result = verify(record, block, { refused: strict, absent: lenient })
      milliseconds += performance.now() - start
      gas += result.gasUsed
      if (result.isProven) {
        const reduced = reduce(record, block, strict)
        byteCount += reduced.before
        byteCountReduced += reduced.after
      }
      return Number(result.gasUsed) === record.expect.gasUsed
        ? undefined
        : `expected ${record.expect.gasUsed} gas, found ${result.gasUsed}`
    })
  }
  const share = Math.round((100 * byteCountReduced) / byteCount)
  report.note(`what the blocks need of their witnesses is ${share} % of the bytes`)
  report.note(`${(Number(gas) / 1000 / milliseconds).toFixed(1)} Mgas/s, witnesses opened and all`)
}

/** Of a witness with headers the part that its block needs, which must do as well. Sizes in bytes of nodes. */
function reduce(
  record: Record,
  block: Block,
  executor: StatelessExecutor,
): { before: number; after: number } {
  const { witness } = record
  if (witness.headers.length === 0) return { before: 0, after: 0 }
  const whole = {
    state: witness.state.map(bytesOf),
    codes: witness.codes.map(bytesOf),
    headers: oldestFirst(witness.headers.map(bytesOf)),
  }
  const part = executor.reduce(block, whole)
  executor.execute(block, part)
  const size = (list: readonly Uint8Array[]) => list.reduce((sum, { length }) => sum + length, 0)
  return { before: size(whole.state), after: size(part.state) }
}

type Executors = Readonly<{ [kind in UnprovenAccounts]: StatelessExecutor }>

function verify(record: Record, block: Block, executors: Executors) {
  try {
    return { ...execute(record, block, executors.refused), isProven: true }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'WITNESS_NODE_MISSING'))
      throw error
    return { ...execute(record, block, executors.absent), isProven: false }
  }
}

function execute(record: Record, block: Block, executor: StatelessExecutor) {
  const { witness, parentStateRoot, blockHashes } = record
  const preimages: WitnessPreimages = {
    state: witness.state.map(bytesOf),
    codes: witness.codes.map(bytesOf),
  }
  const headers = witness.headers.map(bytesOf)
  if (headers.length > 0)
    return executor.execute(block, { ...preimages, headers: oldestFirst(headers) })
  const blockHash = (number: bigint) => {
    const hash = blockHashes?.[block.header.number - 1 - Number(number)]
    if (hash === undefined) throw new Error(`no hash of block ${number}`)
    return bytesOf(hash)
  }
  return executor.executeOn({ stateRoot: bytesOf(parentStateRoot!), blockHash }, block, preimages)
}

function oldestFirst(headers: readonly Uint8Array[]): Uint8Array[] {
  return headers
    .map((bytes) => ({ bytes, number: decodeHeader(bytes).number }))
    .sort((a, b) => a.number - b.number)
    .map(({ bytes }) => bytes)
}
