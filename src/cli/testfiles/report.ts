/** What the command prints: an array of rows for machines, a table for people. */
import { toJson } from '../exit.ts'
import type { TestResult, TestRow } from './messages.ts'

type Row = TestRow<TestResult>

/** Failures that are shown in full. */
const FAILURE_COUNT_SHOWN = 20

/** Writes rows as one JSON array, row by row, so that a long run needs no memory for it. */
export class JsonRows {
  private readonly write: (text: string) => void
  private count = 0

  constructor(write: (text: string) => void) {
    this.write = write
  }

  add({ folder: _, ...row }: Row): void {
    this.write(`${this.count++ === 0 ? '[\n' : ',\n'}${toJson(row)}`)
  }

  end(): void {
    this.write(this.count === 0 ? '[]\n' : '\n]\n')
  }
}

/** Counts by folder. */
export class Tally {
  passCount = 0
  failCount = 0
  private readonly folders = new Map<string, { passCount: number; failCount: number }>()
  private readonly failures: Row[] = []

  add(row: Row): void {
    let folder = this.folders.get(row.folder)
    if (folder === undefined) {
      folder = { passCount: 0, failCount: 0 }
      this.folders.set(row.folder, folder)
    }
    if (row.pass) {
      this.passCount++
      folder.passCount++
      return
    }
    this.failCount++
    folder.failCount++
    if (this.failures.length < FAILURE_COUNT_SHOWN) this.failures.push(row)
  }

  /** The first failures, a table of folders with failures, and the sum. */
  describe(seconds: number, threadCount: number): string {
    const lines: string[] = []
    for (const { folder, name, fork, error } of this.failures)
      lines.push(`FAIL ${folder}/${name} [${fork}]\n     ${error}`)
    const hiddenCount = this.failCount - this.failures.length
    if (hiddenCount > 0) lines.push(`… and ${hiddenCount} more`)
    if (this.failCount > 0) lines.push('', ...this.table(), '')
    const total = this.passCount + this.failCount
    const rate = Math.round(total / seconds).toLocaleString('en')
    const threads = threadCount === 1 ? '1 thread' : `${threadCount} threads`
    lines.push(
      `${this.passCount.toLocaleString('en')} of ${total.toLocaleString('en')} passed in ${seconds.toFixed(1)} s (${rate}/s, ${threads})`,
    )
    return lines.join('\n')
  }

  private table(): string[] {
    const failed = [...this.folders].filter(([, { failCount }]) => failCount > 0)
    failed.sort(([, a], [, b]) => b.failCount - a.failCount)
    const width = Math.max(6, ...failed.map(([folder]) => folder.length))
    const line = (folder: string, failedText: string, passedText: string) =>
      `${folder.padEnd(width)}  ${failedText.padStart(8)}  ${passedText.padStart(8)}`
    return [
      line('folder', 'failed', 'passed'),
      ...failed.map(([folder, { failCount, passCount }]) =>
        line(folder, String(failCount), String(passCount)),
      ),
    ]
  }
}
