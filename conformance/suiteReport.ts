/** What became of the cases of one suite. */
import type { KnownSkip } from './knownSkips.ts'

/** Failures that are shown in full. */
const FAILURE_COUNT_SHOWN = 10

export class SuiteReport {
  readonly suite: string
  passCount = 0
  failCount = 0
  skipCount = 0
  private readonly failures: string[] = []
  private readonly notes: string[] = []
  private readonly skips: readonly KnownSkip[]
  private readonly skipCounts = new Map<KnownSkip, number>()

  /** @param skips of all suites */
  constructor(suite: string, skips: readonly KnownSkip[]) {
    this.suite = suite
    this.skips = skips.filter((skip) => skip.suite === suite)
  }

  /** @param problem why it failed, or `undefined` where it passed */
  add(name: string, problem: string | undefined): void {
    const skip = this.skips.find(({ name: pattern }) => pattern.test(name))
    if (skip !== undefined) {
      this.skipCount++
      this.skipCounts.set(skip, (this.skipCounts.get(skip) ?? 0) + 1)
    } else if (problem === undefined) this.passCount++
    else this.fail(name, problem)
  }

  /** A line to be shown beside the counts, such as a speed. */
  note(line: string): void {
    this.notes.push(`  ${line}`)
  }

  /** Runs one case; what it throws fails it. */
  run(name: string, check: () => string | undefined): void {
    let problem: string | undefined
    try {
      problem = check()
    } catch (error) {
      problem = error instanceof Error ? (error.stack ?? error.message) : String(error)
    }
    this.add(name, problem)
  }

  /** A suite that yields another number of cases than its index counts has lost some on the way. */
  finish(caseCountExpected: number): void {
    const found = this.passCount + this.failCount + this.skipCount
    if (found !== caseCountExpected)
      this.fail('number of cases', `expected ${caseCountExpected}, found ${found}`)
    for (const skip of this.skips)
      if (!this.skipCounts.has(skip))
        this.fail(`known skip ${skip.name}`, 'no case is skipped by it: take it out of the list')
  }

  get line(): string {
    const count = (value: number) => value.toLocaleString('en').padStart(8)
    return `${this.suite.padEnd(40)}${count(this.passCount)} passed${count(this.failCount)} failed${count(this.skipCount)} skipped`
  }

  /** Failures and skips, a line or two each. */
  get details(): readonly string[] {
    const hiddenCount = this.failCount - this.failures.length
    const skips = [...this.skipCounts].map(([{ reason }, count]) => `  skipped ${count}: ${reason}`)
    return [
      ...this.failures,
      ...(hiddenCount > 0 ? [`  … and ${hiddenCount} more failures`] : []),
      ...skips,
      ...this.notes,
    ]
  }

  private fail(name: string, problem: string): void {
    this.failCount++
    if (this.failures.length < FAILURE_COUNT_SHOWN) this.failures.push(`  FAIL ${name}: ${problem}`)
  }
}
