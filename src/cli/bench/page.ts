/** The report as one self-contained page: no script, no other file; readable on a phone and on a desktop. */
import {
  type ArmFigures,
  escapeText,
  type Judgement,
  lineChart,
  type RatioRow,
  ratioChart,
  type Series,
  type Verdict,
} from '../../measure/index.ts'
import {
  type BenchReport,
  byteText,
  type ComparisonReport,
  machineText,
  ratioText,
  shareText,
  timeText,
} from './benchReport.ts'
import { PAGE_STYLE } from './pageStyle.ts'

/** The page of a run of `varve bench`. */
export function benchPage(report: BenchReport): string {
  const groups = grouped(report.comparisons, (each) => each.case.split('/')[0]!)
  const sections = [...groups].map(([group, comparisons]) => groupSection(group, comparisons))
  return page('Varve bench', [summary(report), ...sections, howItWasMeasured(report)])
}

/** A page around parts that are HTML already. */
export function page(title: string, parts: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<h1>${escapeText(title)}</h1>
${parts.join('\n')}
</main>
</body>
</html>
`
}

const VERDICTS: readonly Verdict[] = ['faster', 'slower', 'no difference', 'void', 'none']

function summary(report: BenchReport): string {
  const { comparisons, noise, against, startedAt } = report
  const counts = VERDICTS.map((verdict) => ({
    verdict,
    count: comparisons.filter(({ judgement }) => judgement.verdict === verdict).length,
  }))
  const tiles = counts
    .filter(({ count, verdict }) => count > 0 && verdict !== 'none')
    .map(
      ({ verdict, count }) =>
        `<div class="tile"><b class="${classOf(verdict)}">${count}</b> ${verdict}</div>`,
    )
  const noiseTile =
    noise === null
      ? ''
      : `<div class="tile"><b>${shareText(noise.median)}</b> noise floor, at most ${shareText(noise.max)}</div>`
  const leftOut =
    report.leftOut.length === 0
      ? ''
      : `<p><b class="void">left out, no time</b>: ${escapeText(report.leftOut.join(', '))}</p>`
  const other = against === null ? 'the arm that each case names' : against
  return `<p class="lead">Measured against ${escapeText(other)}, ${escapeText(startedAt.slice(0, 16).replace('T', ' '))} UTC, on ${escapeText(machineText(report.machine))}; load ${report.load.before.toFixed(1)} before and ${report.load.after.toFixed(1)} after.</p>
<div class="tiles">${tiles.join('')}${noiseTile}</div>${leftOut}`
}

function groupSection(group: string, comparisons: readonly ComparisonReport[]): string {
  const rows = comparisons.flatMap(ratioRow)
  const chart =
    rows.length === 0
      ? ''
      : `<figure>${ratioChart(`${group}: time of the one in use as a share of the other`, rows)}
<figcaption>Time against the other arm, with its interval; left of 1× is faster. <span class="key sham"></span> what the other arm shows against itself</figcaption></figure>`
  const cases = [...grouped(comparisons, (each) => each.case)].map(([name, sizes]) =>
    caseSection(name, sizes),
  )
  return `<section><h2>${escapeText(group)}</h2>${chart}<div class="cases">${cases.join('')}</div></section>`
}

function ratioRow({ case: name, size, judgement }: ComparisonReport): RatioRow[] {
  const { ratio, noise, verdict } = judgement
  if (ratio === undefined) return []
  return [
    {
      name: `${name.split('/')[1]} ${size.toLocaleString('en')}`,
      ...ratio,
      noise: noise ?? 0,
      verdict,
    },
  ]
}

function caseSection(name: string, sizes: readonly ComparisonReport[]): string {
  const { about, operation, sizeUnit } = sizes[0]!
  const rows = sizes.map((each) => sizeRow(each)).join('')
  const { head, base } = sizes[0]!.judgement
  const [first, second] = head === undefined ? [base, undefined] : [head, base]
  const notes = sizes.flatMap(notesOf)
  return `<article><h3>${escapeText(name)}</h3>
<p>${escapeText(about)}. Time a ${escapeText(operation)}: median, P99, bytes allocated.</p>
${sizesChart(name, sizes)}
<div class="wide"><table><thead><tr><th>${escapeText(sizeUnit)}</th>${armHeading(first, head === undefined ? 'base' : 'head')}${armHeading(second, 'base')}<th>ratio</th></tr></thead><tbody>${rows}</tbody></table></div>
${notes.length === 0 ? '' : `<ul class="notes">${notes.join('')}</ul>`}</article>`
}

const armHeading = (arm: ArmFigures | undefined, role: 'head' | 'base'): string =>
  arm === undefined ? '' : `<th><span class="key ${role}"></span>${escapeText(arm.subject)}</th>`

function sizeRow({ size, judgement, fault }: ComparisonReport): string {
  const { head, base, ratio, noise, verdict } = judgement
  const cells = [head, base].flatMap((arm) => (arm === undefined ? [] : [armCell(arm)]))
  const noiseText = noise === undefined ? '' : `<small>noise ${shareText(noise)}</small>`
  const verdictCell =
    fault !== null
      ? '<b class="void">failed</b>'
      : ratio === undefined
        ? noiseText
        : `<b class="${classOf(verdict)}">${verdict}</b><small>${ratioText(ratio)}</small>${noiseText}`
  return `<tr><th>${size.toLocaleString('en')}</th>${cells.join('')}<td>${verdictCell}</td></tr>`
}

function armCell({ median, p99, bytes }: ArmFigures): string {
  if (Number.isNaN(median)) return '<td>none</td>'
  const p99Text = p99 === undefined ? '' : `<small>P99 ${timeText(p99)}</small>`
  const bytesText = bytes === undefined ? '' : `<small>${byteText(bytes)}</small>`
  return `<td><b>${timeText(median)}</b>${p99Text}${bytesText}</td>`
}

/** Both arms over the sizes, on one axis; nothing where there are not two sizes to join. */
function sizesChart(name: string, sizes: readonly ComparisonReport[]): string {
  const whole = sizes.filter(({ fault }) => fault === null)
  if (whole.length < 2) return ''
  const series = (['head', 'base'] as const).flatMap((role): Series[] => {
    const points = whole.flatMap(({ size, judgement }) => {
      const arm = judgement[role]
      return arm === undefined ? [] : [{ x: size, y: arm.median }]
    })
    if (points.length === 0) return []
    return [{ name: whole[0]!.judgement[role]!.subject, role, unit: 'ns', points }]
  })
  const chart = lineChart({ title: name, xName: whole[0]!.sizeUnit, series })
  return `<figure>${chart}</figure>`
}

function notesOf({ size, fault, judgement: { flags } }: ComparisonReport): string[] {
  const at = size.toLocaleString('en')
  const notes = flags.map(
    ({ kind, isVoid, text }) =>
      `<li><b class="${isVoid ? 'void' : 'doubt'}">${kind}</b> at ${at}: ${escapeText(text)}</li>`,
  )
  if (fault !== null)
    notes.unshift(
      `<li><b class="void">failed</b> at ${at}: ${escapeText(fault.split('\n')[0]!)}</li>`,
    )
  return notes
}

function howItWasMeasured({ clock, seconds }: BenchReport): string {
  const time = clock === 'wall' ? 'Wall time' : 'Processor time of all threads'
  return `<section><h2>How it was measured</h2><p>${time}; ${Math.round(seconds / 60)} minutes in all. The arms of a comparison take turns in fresh processes, and so does the base once more under another name: what it then differs by from itself is the noise. The order is swapped half way. The interval is meant to hold the true ratio in 95 of 100 runs: bootstrap over processes, then over runs, widened for their small number. Faster or slower is only what lies wholly beyond 2% and beyond the noise. Every run proves how many operations it did, and a result whose hash is not the one on record is void. Charts of one case have one axis for both arms.</p></section>`
}

const classOf = (verdict: Judgement['verdict']): string => verdict.replace(' ', '-')

/** Items by key, keys in the order of their first item. */
function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
