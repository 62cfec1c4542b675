/**
 * Two configurations import the same chain side by side, a segment each in turns, and the first one once more as its own
 * sham. Who goes first changes half way. Databases grow with the chain, so a segment is compared with the same segment.
 *
 *     first half     b a a'   b a a'   …
 *     second half    a' a b   a' a b   …
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Judgement,
  judge,
  type Machine,
  Prng,
  planTurns,
  type Role,
  type Turn,
} from '../../../measure/index.ts'
import { openChainFile } from '../../chainFiles.ts'
import { UsageError } from '../../exit.ts'
import { ArmProcess } from './armProcess.ts'
import type { ReplayConfig } from './config.ts'
import type { SegmentTimes } from './messages.ts'

export type ReplayOptions = {
  readonly a: ReplayConfig
  readonly b: ReplayConfig
  readonly files: readonly string[]
  readonly genesis?: string
  /** Last block. */
  readonly to?: number
  /** An even number. */
  readonly segmentCount: number
  /** Path of an arm's program. */
  programOf(config: ReplayConfig): string
  readonly signal: AbortSignal
  readonly onSegment?: (done: number, total: number) => void
}

export type ReplaySegment = SegmentTimes & {
  readonly role: Role
  readonly round: number
  readonly place: number
}

export type ReplayResult = {
  readonly machine: Machine
  readonly segments: readonly ReplaySegment[]
  /** Blocks of a segment; what does not go into segments comes before them, untimed. */
  readonly segmentBlockCount: number
  readonly warmUpBlockCount: number
  readonly firstNumber: number
  readonly judgement: Judgement
}

const ROLES: readonly Role[] = ['base', 'sham', 'head']
/** Of all blocks, at the least. */
const WARM_UP_SHARE = 0.05
/** A share of a whole import this small is worth knowing. */
const DIFFERENCE_MIN = 0.005

/**
 * @throws UsageError where there are fewer blocks than segments
 * @throws Error where an arm fails, or arms do not come to the same block
 */
export async function replay(options: ReplayOptions): Promise<ReplayResult> {
  const { a, b, files, genesis, segmentCount, signal, onSegment } = options
  const sizes = sizesOf(options)
  const folder = mkdtempSync(join(tmpdir(), 'varve-replay-'))
  const arms = new Map<Role, ArmProcess>()
  try {
    const machines = new Map<Role, Machine>()
    for (const role of ROLES) {
      const config = role === 'head' ? b : a
      const arm = new ArmProcess(config.label, options.programOf(config), signal)
      arms.set(role, arm)
      const opened = await arm.ask(
        {
          kind: 'open',
          files,
          folder: join(folder, role),
          config,
          ...(genesis === undefined ? {} : { genesis }),
        },
        'opened',
      )
      machines.set(role, opened.machine)
    }
    for (const role of ROLES) await runSegment(arms.get(role)!, sizes.warmUpBlockCount)
    const plan = planTurns(segmentCount, true)
    const segments: ReplaySegment[] = []
    for (const { role, round, place } of plan) {
      const times = await runSegment(arms.get(role)!, sizes.segmentBlockCount)
      segments.push({ ...times, role, round, place })
      checkHead(segments)
      onSegment?.(segments.length, plan.length)
    }
    for (const arm of arms.values()) await arm.ask({ kind: 'close' }, 'closed')
    const firstNumber = sizes.warmUpBlockCount + 1
    const turns = segments.map((segment) =>
      turnOf(segment, sizes, machines.get(segment.role)!, segment.role === 'head' ? b : a),
    )
    const random = new Prng(segmentCount)
    const fraction = () => random.uint32() / 2 ** 32
    const judgement = judge(turns, { fraction, differenceMin: DIFFERENCE_MIN })
    return { machine: machines.get('base')!, segments, ...sizes, firstNumber, judgement }
  } finally {
    for (const arm of arms.values()) arm.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Sizes = Pick<ReplayResult, 'segmentBlockCount' | 'warmUpBlockCount'>

function sizesOf({ files, to = Infinity, segmentCount }: ReplayOptions): Sizes {
  let lastNumber = 0
  for (const file of files) {
    const source = openChainFile(file).open()
    lastNumber = Math.max(lastNumber, source.lastNumber)
    source.close()
  }
  const blockCount = Math.min(lastNumber, to)
  const segmentBlockCount = Math.floor((blockCount * (1 - WARM_UP_SHARE)) / segmentCount)
  if (segmentBlockCount < 1)
    throw new UsageError(`expected more blocks than ${segmentCount} segments, got ${blockCount}`)
  return { segmentBlockCount, warmUpBlockCount: blockCount - segmentCount * segmentBlockCount }
}

async function runSegment(arm: ArmProcess, blockCount: number): Promise<SegmentTimes> {
  const { times } = await arm.ask({ kind: 'segment', blockCount }, 'segment')
  return times
}

/** Arms that do not hold the same chain are no comparison. */
function checkHead(segments: readonly ReplaySegment[]): void {
  const { round, head } = segments.at(-1)!
  const other = segments.find((each) => each.round === round)!
  if (other.head.hash !== head.hash || other.head.number !== head.number)
    throw new Error(
      `segment ${round}: expected block ${other.head.number} ${other.head.hash}, got ${head.number} ${head.hash}`,
    )
}

/** A segment as a turn: nanoseconds a block. That arms agree was checked for each segment. */
function turnOf(
  { role, round, place, seconds, fromNumber, head }: ReplaySegment,
  { segmentBlockCount: claimed }: Sizes,
  machine: Machine,
  { label }: ReplayConfig,
): Turn {
  const samples = [(seconds * 1e9) / claimed]
  const work = { samples, claimed, counted: head.number - fromNumber, digest: 'one chain' }
  return { role, subject: label, round, place, machine, ...work }
}
