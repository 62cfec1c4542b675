/** What a replay found: who leads by how much, and where the time went. */
import type { Flag, Judgement, Machine, Role } from '../../../measure/index.ts'
import { flagText, machineText, ratioText, shareText, timeText } from '../benchReport.ts'
import type { BlockTimes, WriteTimes } from './messages.ts'
import type { ReplayResult } from './replay.ts'

export type ReplayReport = {
  readonly schema: 'varve-replay/1'
  readonly startedAt: string
  readonly machine: Machine
  readonly load: { readonly before: number; readonly after: number }
  readonly a: ArmReport
  readonly b: ArmReport
  /** `a` once more. */
  readonly sham: ArmReport
  readonly blocks: { readonly first: number; readonly last: number }
  readonly segmentBlockCount: number
  readonly warmUpBlockCount: number
  /** Seconds that `b` is ahead of `a` in the end, and as a share of what `a` took. */
  readonly lead: Lead
  /** The same for `a` against itself. */
  readonly shamLead: Lead
  readonly leads: readonly LeadPoint[]
  readonly judgement: Judgement
}

export type Lead = { readonly seconds: number; readonly share: number }

/** Seconds ahead of `a` at the end of each segment. */
export type LeadPoint = { readonly number: number; readonly b: number; readonly sham: number }

export type ArmReport = {
  readonly label: string
  readonly seconds: number
  /** Seconds of all blocks by part; parts on other threads run beside the rest. */
  readonly parts: Readonly<Record<ReplayPart, number>>
  readonly blocks: readonly BlockTimes[]
  readonly writes: readonly WriteTimes[]
}

export const REPLAY_PARTS = ['execute', 'root', 'accountCommit', 'storageCommit', 'store'] as const
export type ReplayPart = (typeof REPLAY_PARTS)[number]

export function replayReport(
  result: ReplayResult,
  circumstances: Pick<ReplayReport, 'startedAt' | 'load'> & {
    readonly labels: { readonly a: string; readonly b: string }
  },
): ReplayReport {
  const { labels, ...about } = circumstances
  const { machine, segmentBlockCount, warmUpBlockCount, firstNumber, judgement } = result
  const leads = leadsOf(result)
  const a = armReport(result, 'base', labels.a)
  const end = leads.at(-1)!
  const leadOf = (seconds: number): Lead => ({ seconds, share: seconds / a.seconds })
  return {
    schema: 'varve-replay/1',
    ...about,
    machine,
    a,
    b: armReport(result, 'head', labels.b),
    sham: armReport(result, 'sham', `${labels.a}, again`),
    blocks: { first: firstNumber, last: end.number },
    ...{ segmentBlockCount, warmUpBlockCount },
    ...{ lead: leadOf(end.b), shamLead: leadOf(end.sham), leads, judgement },
  }
}

/** Sums up, segment by segment, what the others took less than `a`. */
function leadsOf({ segments }: ReplayResult): LeadPoint[] {
  const secondsOf = (role: Role, round: number) =>
    segments.find((segment) => segment.role === role && segment.round === round)!.seconds
  const bases = segments
    .filter(({ role }) => role === 'base')
    .sort((one, other) => one.round - other.round)
  let b = 0
  let sham = 0
  return bases.map(({ round, seconds, head: { number } }) => {
    b += seconds - secondsOf('head', round)
    sham += seconds - secondsOf('sham', round)
    return { number, b, sham }
  })
}

function armReport({ segments }: ReplayResult, role: Role, label: string): ArmReport {
  const own = segments
    .filter((segment) => segment.role === role)
    .sort((one, other) => one.round - other.round)
  const blocks = own.flatMap((segment) => segment.blocks)
  const writes = own.flatMap((segment) => segment.writes)
  const sum = <Item>(items: readonly Item[], of: (item: Item) => number) =>
    items.reduce((total, item) => total + of(item), 0) / 1000
  return {
    label,
    seconds: own.reduce((total, { seconds }) => total + seconds, 0),
    parts: {
      execute: sum(blocks, ({ executeMs }) => executeMs),
      root: sum(blocks, ({ rootMs }) => rootMs),
      accountCommit: sum(writes, ({ accountCommitMs }) => accountCommitMs),
      storageCommit: sum(writes, ({ storageCommitMs }) => storageCommitMs),
      store: sum(writes, ({ storeMs }) => storeMs),
    },
    blocks,
    writes,
  }
}

/** The replay as lines. */
export function describeReplay(report: ReplayReport): string {
  const { a, b, lead, shamLead, judgement, blocks, machine, load } = report
  const { ratio, verdict, flags } = judgement
  const arm = (name: string, { label, seconds, parts }: ArmReport) =>
    `  ${name} ${label}: ${timeText(seconds * 1e9)}; ${REPLAY_PARTS.map((part) => `${PART_NAMES[part]} ${timeText(parts[part] * 1e9)} (${shareText(parts[part] / seconds)})`).join(', ')}`
  return [
    `blocks ${blocks.first} to ${blocks.last}`,
    arm('a', a),
    arm('b', b),
    `  b ${leadText(lead)}; a against itself: ${leadText(shamLead)}`,
    ...(ratio === undefined
      ? []
      : [`  b ${verdict.toUpperCase()}: ${ratioText(ratio)} of the time a block`]),
    ...flags.map((flag: Flag) => flagText(flag)),
    `load ${load.before.toFixed(1)} before, ${load.after.toFixed(1)} after; ${machineText(machine)}`,
  ].join('\n')
}

export const PART_NAMES: Readonly<Record<ReplayPart, string>> = {
  execute: 'execution',
  root: 'roots',
  accountCommit: 'account commit',
  storageCommit: 'storage commit',
  store: 'store',
}

/** `is 1.20 s ahead (0.5%)`. */
export function leadText({ seconds, share }: Lead): string {
  const where = seconds < 0 ? 'behind' : 'ahead'
  return `is ${Math.abs(seconds).toFixed(2)} s ${where} (${shareText(Math.abs(share))})`
}
