/** From turns to a verdict. */
import { type PairedRound, type RatioInterval, ratioOf } from './bootstrap.ts'
import { doubtFlag, type Flag, flagsOf, p99Of, type Turn } from './flags.ts'
import { median } from './quantile.ts'
import type { Role } from './turns.ts'

/** Of head against base. `void`: a flag forbids a verdict. `none`: there is no head, only base and its sham. */
export type Verdict = 'faster' | 'slower' | 'no difference' | 'void' | 'none'

/** Nanoseconds and bytes an operation. */
export type ArmFigures = {
  readonly subject: string
  readonly median: number
  readonly p99?: number
  readonly bytes?: number
  readonly sampleCount: number
  readonly processCount: number
}

export type Judgement = {
  readonly verdict: Verdict
  readonly base: ArmFigures
  readonly head?: ArmFigures
  /** Head over base; absent where there is no head or too few rounds. */
  readonly ratio?: RatioInterval
  /** Sham over base. */
  readonly sham?: RatioInterval
  /** The share by which base may seem to differ from itself, and so what a difference has to exceed. */
  readonly noise?: number
  readonly flags: readonly Flag[]
}

export type JudgeOptions = {
  /** As in `BootstrapOptions`. */
  readonly fraction: () => number
  /** A difference below this share is none, however sure. */
  readonly differenceMin?: number
  /** Whether head is other code for the same work, of which any ratio may be expected. */
  readonly isPeer?: boolean
}

const DIFFERENCE_MIN = 0.02
/** A mode or a revision that is this many times as fast is looked at before it is believed. */
const TOO_GOOD = 10
const NOISY = 0.1

/**
 * Judges one comparison. `faster` and `slower` need the whole interval beyond both `differenceMin` and the noise.
 * @param turns of base and sham, with or without head; in any order
 * @throws RangeError for samples that are not positive
 */
export function judge(turns: readonly Turn[], options: JudgeOptions): Judgement {
  const { fraction, differenceMin = DIFFERENCE_MIN, isPeer = false } = options
  const of = (role: Role) => turns.filter((turn) => turn.role === role)
  const [base, head] = [of('base'), of('head')]
  const flags = flagsOf(turns)
  const ratio = intervalOf(head, base, fraction)
  const sham = intervalOf(of('sham'), base, fraction)
  const noise = sham === undefined ? undefined : Math.max(1 / sham.low, sham.high) - 1
  if (noise !== undefined && noise > NOISY) {
    const most = `${(100 * noise).toFixed(1)}%`
    flags.push(doubtFlag('noisy', `base differs from itself by up to ${most}`))
  }
  if (ratio !== undefined && !isPeer && ratio.ratio < 1 / TOO_GOOD) {
    const times = (1 / ratio.ratio).toFixed(1)
    flags.push(doubtFlag('too-good', `${times} times as fast: is it the same work?`))
  }
  return {
    verdict: verdictOf(head.length > 0, flags, ratio, Math.max(differenceMin, noise ?? Infinity)),
    base: figuresOf(base),
    ...(head.length === 0 ? {} : { head: figuresOf(head) }),
    ...(ratio === undefined ? {} : { ratio }),
    ...(sham === undefined ? {} : { sham }),
    ...(noise === undefined ? {} : { noise }),
    flags,
  }
}

function verdictOf(
  hasHead: boolean,
  flags: readonly Flag[],
  ratio: RatioInterval | undefined,
  bar: number,
): Verdict {
  if (flags.some(({ isVoid }) => isVoid)) return 'void'
  if (!hasHead) return 'none'
  if (ratio === undefined) return 'void'
  if (ratio.high < 1 / (1 + bar)) return 'faster'
  if (ratio.low > 1 + bar) return 'slower'
  return 'no difference'
}

function intervalOf(
  arm: readonly Turn[],
  base: readonly Turn[],
  fraction: () => number,
): RatioInterval | undefined {
  const rounds: PairedRound[] = []
  for (const turn of arm) {
    const partner = base.find(({ round }) => round === turn.round)
    if (partner !== undefined) rounds.push({ head: turn.samples, base: partner.samples })
  }
  return rounds.length < 2 ? undefined : ratioOf(rounds, { fraction })
}

function figuresOf(turns: readonly Turn[]): ArmFigures {
  const p99 = p99Of(turns)
  const bytes = turns.flatMap((turn) => (turn.bytes === undefined ? [] : [turn.bytes]))
  return {
    subject: turns[0]?.subject ?? 'nothing',
    median: turns.length === 0 ? Number.NaN : median(turns.map(({ samples }) => median(samples))),
    ...(p99 === undefined ? {} : { p99 }),
    ...(bytes.length === 0 ? {} : { bytes: median(bytes) }),
    sampleCount: turns.reduce((sum, { samples }) => sum + samples.length, 0),
    processCount: turns.length,
  }
}
