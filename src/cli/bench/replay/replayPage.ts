/** A replay as a page: the lead over the blocks, and what the parts of a block took, both arms on one axis. */
import { escapeText, median, type Series, timelineChart } from '../../../measure/index.ts'
import { machineText, ratioText, shareText, timeText } from '../benchReport.ts'
import { page } from '../page.ts'
import type { BlockTimes } from './messages.ts'
import {
  type ArmReport,
  leadText,
  PART_NAMES,
  REPLAY_PARTS,
  type ReplayReport,
} from './replayReport.ts'

/** Points of a series, at most: each then stands for many blocks. */
const POINTS_MAX = 120

export function replayPage(report: ReplayReport): string {
  const { a, b } = report
  const charts = [
    leadChart(report),
    blockChart(
      'Account commit, ms a block',
      'collecting the changed nodes of the account trie',
      report,
      commitPoints,
    ),
    blockChart('Roots, ms a block', 'hashing what a block changed', report, (arm) =>
      blockPoints(arm, ({ rootMs }) => rootMs),
    ),
    blockChart('All of a block, ms', 'work on it wherever it was done', report, (arm) =>
      blockPoints(arm, ({ totalMs }) => totalMs),
    ),
  ]
  return page('Varve replay', [
    summary(report),
    `<p class="keys"><span class="key base"></span>a: ${escapeText(a.label)} &nbsp; <span class="key head"></span>b: ${escapeText(b.label)} &nbsp; <span class="key control"></span>a against itself</p>`,
    `<div class="cases">${charts.join('')}</div>`,
    partsTable(report),
    notes(report),
  ])
}

function summary({
  lead,
  shamLead,
  judgement,
  machine,
  load,
  startedAt,
  blocks,
}: ReplayReport): string {
  const { verdict, ratio } = judgement
  const when = startedAt.slice(0, 16).replace('T', ' ')
  const ratioTile =
    ratio === undefined ? '' : `<div class="tile">${ratioText(ratio)} of the time a block</div>`
  return `<p class="lead">Blocks ${blocks.first} to ${blocks.last}, ${escapeText(when)} UTC, on ${escapeText(machineText(machine))}; load ${load.before.toFixed(1)} before and ${load.after.toFixed(1)} after.</p>
<div class="tiles"><div class="tile"><b class="${verdict.replace(' ', '-')}">b: ${verdict}</b></div><div class="tile">b ${leadText(lead)}</div>${ratioTile}<div class="tile">a against itself: ${leadText(shamLead).replace('is ', '')}</div></div>`
}

function leadChart({ leads }: ReplayReport): string {
  const series = (
    name: string,
    role: Series['role'],
    of: (point: (typeof leads)[number]) => number,
  ): Series => ({
    name,
    role,
    unit: 's',
    points: leads.map((point) => ({ x: point.number, y: of(point) })),
  })
  const both = [
    series('a against itself', 'sham', ({ sham }) => sham),
    series('b', 'head', ({ b }) => b),
  ]
  return article(
    'Lead of b, seconds',
    'what b took less than a, summed up; above 0 b is ahead',
    timelineChart({ title: 'lead of b', xName: 'block', series: both }),
  )
}

type Point = { readonly x: number; readonly y: number }

function blockChart(
  title: string,
  about: string,
  { a, b }: ReplayReport,
  pointsOf: (arm: ArmReport) => Point[],
): string {
  const series = [
    { name: 'a', role: 'base', unit: 'ms', points: pointsOf(a) },
    { name: 'b', role: 'head', unit: 'ms', points: pointsOf(b) },
  ] as const
  // A revision from before engines could be watched has no times to show.
  if (series.every(({ points }) => points.length === 0)) return ''
  return article(title, about, timelineChart({ title, xName: 'block', series }))
}

const article = (title: string, about: string, chart: string): string =>
  `<article><h3>${escapeText(title)}</h3><p>${escapeText(about)}</p><figure>${chart}</figure></article>`

/** A write collects the nodes of many blocks at once. */
const commitPoints = ({ writes }: ArmReport): Point[] =>
  thinned(
    writes.map(({ number, blockCount, accountCommitMs }) => ({
      x: number,
      y: accountCommitMs / Math.max(1, blockCount),
    })),
  )

const blockPoints = ({ blocks }: ArmReport, of: (block: BlockTimes) => number): Point[] =>
  thinned(blocks.map((block) => ({ x: block.number, y: of(block) })))

/** Medians of as many neighbours as it takes. */
function thinned(points: readonly Point[]): Point[] {
  const size = Math.ceil(points.length / POINTS_MAX)
  const kept: Point[] = []
  for (let at = 0; at < points.length; at += size) {
    const some = points.slice(at, at + size)
    kept.push({ x: some.at(-1)!.x, y: median(some.map(({ y }) => y)) })
  }
  return kept
}

function partsTable({ a, b }: ReplayReport): string {
  const cell = ({ parts, seconds }: ArmReport, part: (typeof REPLAY_PARTS)[number]) =>
    `<td><b>${timeText(parts[part] * 1e9)}</b><small>${shareText(parts[part] / seconds)} of the whole</small></td>`
  const rows = REPLAY_PARTS.map(
    (part) => `<tr><th>${PART_NAMES[part]}</th>${cell(a, part)}${cell(b, part)}</tr>`,
  )
  const whole = `<tr><th>whole import</th><td><b>${timeText(a.seconds * 1e9)}</b></td><td><b>${timeText(b.seconds * 1e9)}</b></td></tr>`
  return `<section><h2>Where the time went</h2><div class="wide"><table><thead><tr><th>part</th><th><span class="key base"></span>a</th><th><span class="key head"></span>b</th></tr></thead><tbody>${whole}${rows.join('')}</tbody></table></div></section>`
}

function notes({ judgement, segmentBlockCount, warmUpBlockCount, leads }: ReplayReport): string {
  const flags = judgement.flags.map(
    ({ kind, isVoid, text }) =>
      `<li><b class="${isVoid ? 'void' : 'doubt'}">${kind}</b>: ${escapeText(text)}</li>`,
  )
  return `<section><h2>How it was measured</h2>${flags.length === 0 ? '' : `<ul class="notes">${flags.join('')}</ul>`}<p>Three processes, each with a database of its own, import the same chain in turns: ${leads.length} segments of ${segmentBlockCount} blocks behind ${warmUpBlockCount} untimed ones. A segment ends with its writes done, so that no arm works while another is timed. a runs a second time as its own control; b goes first in one half and last in the other. Heads must be equal after every segment. Parts on other threads run beside the rest, so parts may add up to more than the whole. Both arms of a chart have one axis; a point of many blocks is their median.</p></section>`
}
