/** Reads the published blockchain tests as far as headers, uncles and bodies go: networks by name, blocks by hash. */
import {
  type BlobParameters,
  type BlobStep,
  Fork,
  type ForkSchedule,
  type ForkStep,
  forkByName,
  fromHex,
  toBareHex,
} from '../base/index.ts'
import { decodeBlock, type Header } from '../codec/index.ts'
import { validateBody } from './bodyRules.ts'
import { isMergedAfter, totalDifficulty } from './forkChoice.ts'
import { validateHeader } from './headerRules.ts'
import { blobSteps, CANCUN_BLOB, type ChainSpec, forkSteps, PRAGUE_BLOB } from './spec.ts'
import {
  ANCESTOR_COUNT,
  type AncestorBlock,
  type AncestorReader,
  validateUncles,
} from './uncleRules.ts'

export type BlockTest = {
  readonly network: string
  readonly config?: {
    readonly blobSchedule?: Readonly<
      Record<string, { target: string; max: string; baseFeeUpdateFraction: string }>
    >
  }
  readonly genesisRLP: string
  readonly blocks: readonly Readonly<Record<string, unknown>>[]
}

const OTHER_NAMES: Readonly<Record<string, Fork>> = {
  EIP150: Fork.TangerineWhistle,
  EIP158: Fork.SpuriousDragon,
  ConstantinopleFix: Fork.Petersburg,
  Merge: Fork.Paris,
}

/** The chain that a test names. @throws VarveError FORK_UNKNOWN */
export function specOfTest({ network, config }: BlockTest): ChainSpec {
  const matched = /^(\w+?)(?:To(\w+?)At(Time|Diff)?([0-9A-Fa-f]+)(k?))?$/.exec(network)
  const [, from = '', to, kind, digits, kilo] = matched ?? []
  const blobs = config?.blobSchedule ?? {}
  if (to === undefined) return chainOf([[from, 0]], blobs, {})
  if (kind === 'Diff')
    return chainOf([[from, 0]], blobs, { terminalTotalDifficulty: BigInt(`0x${digits}`) })
  const at = Number(digits) * (kilo === 'k' ? 1000 : 1)
  if (to === 'Dao') return chainOf([[from, 0]], blobs, { dao: { block: at, support: true } })
  const steps = [
    [from, 0],
    [to, at],
  ] as const
  return chainOf(steps, blobs, {})
}

function chainOf(
  steps: readonly (readonly [name: string, at: number])[],
  limits: NonNullable<NonNullable<BlockTest['config']>['blobSchedule']>,
  extra: Partial<ForkSchedule>,
): ChainSpec {
  const byBlock: ForkStep[] = []
  const byTime: ForkStep[] = []
  const blobs: BlobStep[] = []
  for (const [name, at] of steps) {
    const fork = forkOf(name)
    if (fork <= Fork.Paris) byBlock.push({ fork, at })
    else byTime.push({ fork, at })
    if (fork < Fork.Cancun) continue
    const blob = blobOf(limits[name]) ?? (fork >= Fork.Prague ? PRAGUE_BLOB : CANCUN_BLOB)
    blobs.push(...blobSteps([name, at, blob]))
  }
  if (byBlock.length === 0) byBlock.push(...forkSteps([Fork.Paris, 0]))
  const schedule = { chainId: 1n, byBlock, byTime, blobs, ...extra }
  return { name: 'test', chainId: 1n, depositContract: new Uint8Array(20), schedule }
}

function blobOf(entry: Record<string, string> | undefined): BlobParameters | undefined {
  if (entry === undefined) return undefined
  return {
    target: Number(entry['target']),
    max: Number(entry['max']),
    baseFeeUpdateFraction: BigInt(entry['baseFeeUpdateFraction']!),
  }
}

function forkOf(name: string): Fork {
  return OTHER_NAMES[name] ?? (name.startsWith('BPO') ? Fork.Osaka : forkByName(name))
}

type Known = AncestorBlock & { readonly total: bigint }

/** Blocks of one test by hash: side chains lie in the same list. */
class KnownBlocks implements AncestorReader {
  private readonly byHash = new Map<string, Known>()

  add(header: Header, uncles: readonly Header[]): void {
    const total = totalDifficulty(this.get(header.parentHash)?.total ?? 0n, header.difficulty)
    const uncleHashes = uncles.map(({ hash }) => hash)
    this.byHash.set(toBareHex(header.hash), { header, uncleHashes, total })
  }

  get(hash: Uint8Array): Known | undefined {
    return this.byHash.get(toBareHex(hash))
  }

  ancestorsOf(parentHash: Uint8Array): readonly AncestorBlock[] {
    const found: AncestorBlock[] = []
    for (let hash = parentHash; found.length < ANCESTOR_COUNT; ) {
      const known = this.get(hash)
      if (known === undefined) break
      found.push(known)
      hash = known.header.parentHash
    }
    return found
  }
}

/** What became of a block: the exceptions its test expects, and the fault we found, if any. */
export type BlockVerdict = {
  readonly expected: string | undefined
  readonly fault: (Error & { code?: string }) | undefined
}

/** Runs the checks over a test's blocks. Blocks that their test calls invalid are judged and then left out. */
export function* judgeBlocks(test: BlockTest, spec: ChainSpec): Generator<BlockVerdict> {
  const known = new KnownBlocks()
  known.add(decodeBlock(fromHex(test.genesisRLP)).header, [])
  for (const entry of test.blocks) {
    const key = Object.keys(entry).find((name) => name.startsWith('expectException'))
    const expected = key === undefined ? undefined : String(entry[key])
    let fault: Error | undefined
    try {
      judge(fromHex(String(entry['rlp'])), spec, known, expected === undefined)
    } catch (error) {
      fault = error as Error
    }
    yield { expected, fault }
  }
}

function judge(bytes: Uint8Array, spec: ChainSpec, known: KnownBlocks, isValid: boolean): void {
  const block = decodeBlock(bytes)
  const { header, uncles } = block
  const parent = known.get(header.parentHash)
  if (parent === undefined) throw new Error('unknown parent')
  const isMerged = isMergedAfter(spec.schedule, parent.total)
  const context = isMerged === undefined ? {} : { isMerged }
  const { fork } = validateHeader(header, parent.header, spec, context)
  validateBody(header, block, fork, bytes.length)
  validateUncles(header, uncles, spec, known, context)
  if (isValid) known.add(header, uncles)
}
