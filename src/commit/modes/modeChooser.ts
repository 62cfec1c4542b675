/**
 * Chooses how an operation is done, from what the ways have cost: a model that is fitted at the start and corrected by
 * every operation that is timed.
 *
 *     size class (octave) ─▶ last samples of each mode, or the model where there are none ─▶ cheapest
 *
 * - Hysteresis: the mode of a size class changes only where another is cheaper by a twentieth.
 * - A mode that is not chosen is tried again when a hundredth of the time spent since it last was pays for what it may
 *   lose.
 * - Below a size at which handing over alone would cost more than the work there is no choice and no clock.
 *
 * Choices change times and nothing else, so a clock may have a say in them. Every choice is in a log.
 */

/** Ways to do an operation: here; the consumer on another thread; subtrees on several. */
export const COMMIT_MODES = ['inline', 'worker', 'parallel'] as const
export type CommitMode = (typeof COMMIT_MODES)[number]
/** What may be asked for. */
export type CommitModeWish = CommitMode | 'auto'

/** hash: references of what is dirty. commit: walk and encode, hashed before. sink: all of it, with a consumer. */
export type ModeOperation = 'hash' | 'commit' | 'sink'

/** Nanoseconds: `fixed` an operation, and `perLeaf` a changed leaf. */
export type ModeCost = { readonly fixed: number; readonly perLeaf: number }

export type ModeChoice = {
  readonly operation: ModeOperation
  readonly leafCount: number
  readonly mode: CommitMode
  /** Why: asked for, too small to hand over, cheapest, or tried again. */
  readonly reason: 'forced' | 'small' | 'cheapest' | 'trial'
  /** Expected nanoseconds of each mode that was open. */
  readonly expectedNs: Readonly<Partial<Record<CommitMode, number>>>
  /** What it took; `undefined` where nobody timed it. */
  tookNs: number | undefined
}

export type ModeModel = Readonly<Record<ModeOperation, Partial<Record<CommitMode, ModeCost>>>>

/** Figures of this project's first machine, until a fit replaces them (docs/decisions/0007-commit-modes.md). */
export const MODEL_DEFAULT: ModeModel = {
  hash: { inline: { fixed: 2000, perLeaf: 550 }, parallel: { fixed: 40_000, perLeaf: 330 } },
  commit: { inline: { fixed: 2000, perLeaf: 300 }, parallel: { fixed: 60_000, perLeaf: 250 } },
  sink: {
    inline: { fixed: 4000, perLeaf: 1400 },
    worker: { fixed: 120_000, perLeaf: 1000 },
    parallel: { fixed: 120_000, perLeaf: 1100 },
  },
}

/** A mode must be cheaper by this share to take another's place. */
const HYSTERESIS = 0.05
/** Share of the time spent that trials of one mode may cost. */
const TRIAL_SHARE = 0.01
/** A trial counts as if it lost at least this share: figures are never that sure. */
const TRIAL_LOSS_LEAST = 0.2
/**
 * Samples kept of a mode in a size class; their median counts. The smallest would favour what depends on a second core
 * and is fast only while nobody else has it.
 */
const SAMPLE_COUNT = 7
/** Two samples in a row this much below what is known tell of another world; older ones are forgotten. */
const NEWS_SHARE = 0.7
/** Work is small where it takes less than a third of handing it over: the model may be wrong by a factor. */
const SMALL_FACTOR = 3
const LOG_COUNT = 256
const SIZE_CLASS_COUNT = 32

type ModeRecord = {
  /** Nanoseconds a leaf, the newest last. */
  readonly samples: number[]
  estimate: number
}

type SizeClass = {
  current: CommitMode | undefined
  readonly records: Partial<Record<CommitMode, ModeRecord>>
  /** Time spent since each mode was last done. */
  readonly spentNs: Record<CommitMode, number>
}

export class ModeChooser {
  private readonly wish: CommitModeWish
  private model: ModeModel
  private readonly classes: Record<ModeOperation, (SizeClass | undefined)[]> = {
    hash: new Array(SIZE_CLASS_COUNT),
    commit: new Array(SIZE_CLASS_COUNT),
    sink: new Array(SIZE_CLASS_COUNT),
  }
  private readonly choices: ModeChoice[] = []
  private choiceCount = 0

  constructor(wish: CommitModeWish = 'auto', model: ModeModel = MODEL_DEFAULT) {
    this.wish = wish
    this.model = model
  }

  /** Puts a fitted model in the place of the one before. Samples stay. */
  fit(model: ModeModel): void {
    this.model = model
  }

  /** Whether one mode was asked for. */
  get isForced(): boolean {
    return this.wish !== 'auto'
  }

  /** The newest choices, oldest first, at most 256. Choices of small operations are counted and not listed. */
  get log(): readonly ModeChoice[] {
    return this.choices
  }

  /** Choices made since the start. */
  get count(): number {
    return this.choiceCount
  }

  /** Whether an operation is so small that handing it over costs more than doing it. */
  isSmall(operation: ModeOperation, leafCount: number): boolean {
    const { inline, worker, parallel } = this.model[operation]
    const handOver = Math.min(worker?.fixed ?? Infinity, parallel?.fixed ?? Infinity)
    if (inline === undefined) return true
    return SMALL_FACTOR * (inline.fixed + inline.perLeaf * leafCount) < handOver
  }

  /**
   * Chooses among `modes`, the first of which is 'inline'. The choice is to be handed to `done` with the time that it
   * took, where it was timed.
   */
  choose(operation: ModeOperation, leafCount: number, modes: readonly CommitMode[]): ModeChoice {
    this.choiceCount++
    const { wish } = this
    if (wish !== 'auto') {
      // A mode that an operation lacks is done as far as it goes: a worker's consumer leaves hashing here.
      const mode = modes.includes(wish) ? wish : 'inline'
      return this.note(operation, leafCount, mode, 'forced', {})
    }
    if (modes.length === 1 || this.isSmall(operation, leafCount))
      return {
        operation,
        leafCount,
        mode: 'inline',
        reason: 'small',
        expectedNs: {},
        tookNs: undefined,
      }
    const size = this.sizeClass(operation, leafCount)
    const expectedNs: Partial<Record<CommitMode, number>> = {}
    let best: CommitMode = 'inline'
    for (const mode of modes) {
      const expected = this.expected(operation, size, mode, leafCount)
      expectedNs[mode] = expected
      if (expected < expectedNs[best]!) best = mode
    }
    const { current } = size
    const stays =
      current !== undefined &&
      expectedNs[current] !== undefined &&
      expectedNs[best]! > (1 - HYSTERESIS) * expectedNs[current]!
    if (!stays) size.current = best
    const chosen = size.current!
    const trial = this.trialOf(size, modes, expectedNs, chosen)
    if (trial === undefined) return this.note(operation, leafCount, chosen, 'cheapest', expectedNs)
    return this.note(operation, leafCount, trial, 'trial', expectedNs)
  }

  /** Tells what a choice took, in nanoseconds. */
  done(choice: ModeChoice, tookNs: number): void {
    choice.tookNs = tookNs
    if (choice.reason === 'small' || choice.leafCount === 0) return
    const size = this.sizeClass(choice.operation, choice.leafCount)
    for (const mode of COMMIT_MODES) size.spentNs[mode] += tookNs
    size.spentNs[choice.mode] = 0
    const sample = tookNs / choice.leafCount
    const record = (size.records[choice.mode] ??= { samples: [], estimate: sample })
    const { samples } = record
    const limit = NEWS_SHARE * record.estimate
    if (sample < limit && samples.length > 1 && samples.at(-1)! < limit)
      samples.splice(0, samples.length - 1)
    samples.push(sample)
    if (samples.length > SAMPLE_COUNT) samples.shift()
    const sorted = [...samples].sort((a, b) => a - b)
    record.estimate = sorted[(sorted.length - 1) >> 1]!
  }

  private sizeClass(operation: ModeOperation, leafCount: number): SizeClass {
    const index = 31 - Math.clz32(Math.max(1, leafCount))
    return (this.classes[operation][index] ??= {
      current: undefined,
      records: {},
      spentNs: { inline: 0, worker: 0, parallel: 0 },
    })
  }

  /** What a mode is expected to take: as lately, or else as the model says, scaled by how the model does inline. */
  private expected(
    operation: ModeOperation,
    { records }: SizeClass,
    mode: CommitMode,
    leafCount: number,
  ): number {
    const record = records[mode]
    if (record !== undefined) return record.estimate * leafCount
    const modelled = this.modelled(operation, mode, leafCount)
    const inline = records.inline
    if (inline === undefined) return modelled
    return (modelled * inline.estimate * leafCount) / this.modelled(operation, 'inline', leafCount)
  }

  private modelled(operation: ModeOperation, mode: CommitMode, leafCount: number): number {
    const cost = this.model[operation][mode]
    return cost === undefined ? Infinity : cost.fixed + cost.perLeaf * leafCount
  }

  /** A mode whose last samples are old, where a hundredth of what was spent since pays for its loss. */
  private trialOf(
    size: SizeClass,
    modes: readonly CommitMode[],
    expectedNs: Partial<Record<CommitMode, number>>,
    chosen: CommitMode,
  ): CommitMode | undefined {
    let trial: CommitMode | undefined
    for (const mode of modes) {
      if (mode === chosen) continue
      const known = expectedNs[chosen]!
      const loss = Math.max(expectedNs[mode]! - known, TRIAL_LOSS_LEAST * known)
      if (loss > TRIAL_SHARE * size.spentNs[mode]) continue
      if (trial === undefined || expectedNs[mode]! < expectedNs[trial]!) trial = mode
    }
    return trial
  }

  private note(
    operation: ModeOperation,
    leafCount: number,
    mode: CommitMode,
    reason: ModeChoice['reason'],
    expectedNs: ModeChoice['expectedNs'],
  ): ModeChoice {
    const choice: ModeChoice = {
      operation,
      leafCount,
      mode,
      reason,
      expectedNs,
      tookNs: undefined,
    }
    this.choices.push(choice)
    if (this.choices.length > LOG_COUNT) this.choices.shift()
    return choice
  }
}
