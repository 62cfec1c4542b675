/**
 * When what was written reaches the disk: one sync for as many records as there are, off this thread, and those who
 * wait for it.
 *
 *     written ─▶ [ group: at most so many ms ] ─▶ one fdatasync under way ─▶ synced ─▶ who waited goes on
 *                  always: as soon as anyone waits       └ what is written meanwhile goes with the next one
 *                  os: never
 */
import { diskFault } from './faults.ts'
import type { JournalFile } from './files.ts'

/**
 * When a record counts as durable. What each can lose when the process is killed: nothing. In a power cut, or when the
 * system crashes:
 * - `always`: nothing that was acknowledged
 * - `group`: what was written in the last `milliseconds`, twice that while this thread is busy; what `whenDurable`
 *   has resolved for is safe
 * - `os`: what the system had not written by itself, half a minute on most; never order: what is left is a prefix
 */
export type JournalSync =
  | { readonly mode: 'always' }
  | { readonly mode: 'group'; readonly milliseconds: number }
  | { readonly mode: 'os' }

type Waiter = {
  readonly sequence: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class Durability {
  readonly sync: JournalSync
  private readonly folder: string
  private file: JournalFile | undefined
  private written: number
  /** On the disk, for certain: through this record. */
  private syncedThrough: number
  /** Safe elsewhere, whatever becomes of the journal: through this record. */
  private stored = 0
  private waiters: Waiter[] = []
  private underWay: JournalFile | undefined
  private timer: NodeJS.Timeout | undefined
  private lastStartMs = Number.NEGATIVE_INFINITY
  /** When the oldest record that is not synced was written. */
  private unsyncedMs: number | undefined
  /** Files that are to be closed once their sync has ended. */
  private readonly retired = new Set<JournalFile>()
  private fault: unknown

  /** @param written through which record the journal is on the disk */
  constructor(folder: string, sync: JournalSync, written: number) {
    this.folder = folder
    this.sync = sync
    this.written = written
    this.syncedThrough = written
  }

  /** The error after which nothing is taken any more. */
  get failure(): unknown {
    return this.fault
  }

  get synced(): number {
    return this.syncedThrough
  }

  get durable(): number {
    if (this.sync.mode === 'os') return this.written
    return Math.max(this.syncedThrough, Math.min(this.stored, this.written))
  }

  /** Syncs at once where the last sync is long due, as where this thread never lets its end be told. */
  catchUp(): void {
    if (this.sync.mode !== 'group' || this.unsyncedMs === undefined) return
    if (performance.now() - this.unsyncedMs >= 2 * Math.max(this.sync.milliseconds, 1))
      this.syncNow()
  }

  /** Tells of a record that was written. */
  noteWritten(file: JournalFile, sequence: number): void {
    this.file = file
    this.written = sequence
    this.unsyncedMs ??= performance.now()
    if (this.sync.mode === 'group') this.schedule()
  }

  /** Goes on after a record that is safe by other means. */
  startAfter(sequence: number): void {
    this.written = sequence
    this.unsyncedMs = undefined
    this.noteSynced(sequence)
  }

  /** Says that records are safe by other means. */
  noteStored(sequence: number): void {
    this.stored = Math.max(this.stored, sequence)
    this.release()
  }

  /** @throws VarveError JOURNAL_FULL, JOURNAL_IO */
  syncNow(): void {
    if (this.fault !== undefined) throw this.fault
    if (this.syncedThrough === this.written || this.file === undefined) return
    try {
      this.file.syncNow()
    } catch (error) {
      throw this.fail(error)
    }
    this.noteSynced(this.written)
  }

  /** Resolves once a record is durable. */
  when(sequence: number): Promise<void> {
    if (this.durable >= sequence) return Promise.resolve()
    if (this.fault !== undefined) return Promise.reject(this.fault)
    return new Promise((resolve, reject) => {
      this.waiters.push({ sequence, resolve, reject })
      if (this.sync.mode === 'always') this.start()
    })
  }

  /** Closes a file as soon as no sync of it is under way. */
  retire(file: JournalFile): void {
    if (this.file === file) this.file = undefined
    if (this.underWay === file) this.retired.add(file)
    else file.close()
  }

  /** Takes an error of the disk: all who wait get it, and all who come. Returns it under its name. */
  fail(error: unknown): unknown {
    this.fault ??= diskFault(this.folder, error)
    clearTimeout(this.timer)
    for (const { reject } of this.waiters.splice(0)) reject(this.fault)
    return this.fault
  }

  /** Ends the timer. */
  close(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }

  private schedule(): void {
    if (this.underWay !== undefined || this.timer !== undefined || this.sync.mode !== 'group')
      return
    const wait = this.lastStartMs + this.sync.milliseconds - performance.now()
    if (wait <= 0) this.start()
    else this.timer = setTimeout(() => this.start(), wait)
  }

  private start(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    const { file, written } = this
    if (this.underWay !== undefined || file === undefined || written === this.syncedThrough) return
    this.underWay = file
    this.lastStartMs = performance.now()
    file.sync((error) => this.ended(file, written, error))
  }

  private ended(file: JournalFile, through: number, error: Error | null): void {
    this.underWay = undefined
    if (this.retired.delete(file)) file.close()
    if (error !== null) {
      this.fail(error)
      return
    }
    this.noteSynced(through)
    if (this.written === this.syncedThrough) return
    if (this.sync.mode === 'group') this.schedule()
    else if (this.waiters.length > 0) this.start()
  }

  private noteSynced(through: number): void {
    if (through <= this.syncedThrough) return
    this.syncedThrough = through
    // What was written while the sync ran is younger than its start.
    this.unsyncedMs = through === this.written ? undefined : this.lastStartMs
    this.release()
  }

  private release(): void {
    const { durable } = this
    const due = this.waiters.filter(({ sequence }) => sequence <= durable)
    if (due.length === 0) return
    this.waiters = this.waiters.filter(({ sequence }) => sequence > durable)
    for (const { resolve } of due) resolve()
  }
}
