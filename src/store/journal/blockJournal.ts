/**
 * The journal: numbered records, appended to files and forced to the disk by themselves, so that a block is durable long
 * before the store has it.
 *
 *     append ─▶ page cache: survives the end of the process ─▶ fdatasync (durability.ts): survives a power cut
 *        └─ segment full ─▶ roll                                      cut(n): the store has all through n
 *
 * A folder of segments (layout.ts); whoever opens it goes through their headers (scan.ts), and reads payloads when it
 * asks for records. One process writes, by the store's lock. What a record means is for the engine.
 */
import { assert, VarveError } from '../../base/index.ts'
import { Durability, type JournalSync } from './durability.ts'
import { diskFault, type JournalErrorCode } from './faults.ts'
import { diskFiles, type JournalFile, type JournalFiles, withFile } from './files.ts'
import {
  encodeRecordHeader,
  encodeSegmentHeader,
  PAYLOAD_BYTES_MAX,
  payloadCrcOf,
  RECORD_HEADER_BYTES,
  SEGMENT_HEADER_BYTES,
  segmentName,
} from './layout.ts'
import { type JournalRecord, type Scan, type Segment, scanJournal, segmentRecords } from './scan.ts'

export type BlockJournalOptions = {
  readonly sync: JournalSync
  /** Bytes of a segment after which the next one begins; 64 MiB without it. */
  readonly segmentBytes?: number
  /** In the place of the disk. */
  readonly files?: JournalFiles
}

export type JournalStats = {
  readonly segmentCount: number
  readonly recordCount: number
  readonly byteCount: number
  /** Sequence of the oldest record, and of the newest; 0 and 0 where there is none. */
  readonly first: number
  readonly last: number
  /** Bytes of a record that was torn and is no part of the journal. */
  readonly tornBytes: number
}

const SEGMENT_BYTES = 64 * 1024 * 1024
/** A cut gives the newest segment back too, where it is larger than this. */
const KEPT_BYTES_MAX = 1024 * 1024

type Active = { readonly file: JournalFile; segment: Segment }

/**
 * Opens the journal in a folder, which is made with the first record. A torn tail is cut.
 * @throws VarveError JOURNAL_CORRUPT, JOURNAL_VERSION, JOURNAL_FULL, JOURNAL_IO
 */
export function openBlockJournal(folder: string, options: BlockJournalOptions): BlockJournal {
  const files = options.files ?? diskFiles(folder)
  const { sync } = options
  if (sync.mode === 'group')
    assert(sync.milliseconds >= 0, 'sync: a group of 0 milliseconds or more')
  return onDisk(folder, () => {
    const scan = scanJournal(files)
    cutTail(files, scan)
    for (const { name } of scan.segments) withFile(files, name, true, (file) => file.syncNow())
    return new BlockJournal(files, options, scan)
  })
}

/**
 * What lies in a journal's folder. Changes nothing; a journal that is being written to may seem to have a torn tail.
 * @throws VarveError JOURNAL_CORRUPT, JOURNAL_VERSION, JOURNAL_IO
 */
export function inspectJournal(folder: string): JournalStats {
  return onDisk(folder, () => statsOf(scanJournal(diskFiles(folder))))
}

/**
 * As `BlockJournal.records`, of a journal that is only looked at. Where it is being written to, what comes while it is
 * read may be missing, and a segment that is cut meanwhile is JOURNAL_IO.
 */
export function* readJournal(folder: string, from: number): Generator<JournalRecord> {
  const files = diskFiles(folder)
  const segments = onDisk(folder, () => scanJournal(files).segments)
  const records = recordsOf(files, segments, from)
  for (;;) {
    const { value, done } = onDisk(folder, () => records.next())
    if (done === true) return
    yield value
  }
}

export class BlockJournal {
  private readonly files: JournalFiles
  private readonly segmentBytes: number
  private readonly durability: Durability
  /** All but the newest, oldest first. */
  private older: Segment[]
  private active: Active | undefined
  private nextSequence: number
  private isClosed = false

  /** Use `openBlockJournal`. */
  constructor(files: JournalFiles, options: BlockJournalOptions, { segments }: Scan) {
    this.files = files
    this.segmentBytes = options.segmentBytes ?? SEGMENT_BYTES
    this.older = [...segments]
    const newest = this.older.pop()
    this.nextSequence = newest?.next ?? 1
    if (newest !== undefined) this.active = { file: files.open(newest.name, true), segment: newest }
    this.durability = new Durability(files.folder, options.sync, this.last)
  }

  get folder(): string {
    return this.files.folder
  }

  get sync(): JournalSync {
    return this.durability.sync
  }

  /** Bytes of all files. */
  get bytes(): number {
    return this.segments.reduce((sum, { byteCount }) => sum + byteCount, 0)
  }

  /** Sequence of the oldest record; of the next one where there is none. */
  get first(): number {
    return this.older[0]?.first ?? this.active?.segment.first ?? this.nextSequence
  }

  /** Sequence of the newest record; of the last one before the first where there is none. */
  get last(): number {
    return this.nextSequence - 1
  }

  /** Sequence through which all records are durable, as `sync` says. */
  get durable(): number {
    return this.durability.durable
  }

  get stats(): JournalStats {
    return statsOf({ segments: this.segments, tornBytes: 0 })
  }

  /**
   * Writes a record. It survives the end of the process, whatever the mode.
   * @param kind 0 to 2^32-1
   * @param parts of the payload, 128 MiB together; copied
   * @returns its sequence
   * @throws VarveError JOURNAL_RECORD_TOO_LARGE; JOURNAL_FULL, JOURNAL_IO, after which nothing more is taken
   */
  append(kind: number, parts: readonly Uint8Array[]): number {
    this.checkUsable()
    const payloadBytes = parts.reduce((sum, part) => sum + part.length, 0)
    if (payloadBytes > PAYLOAD_BYTES_MAX)
      throw new VarveError<JournalErrorCode>(
        'JOURNAL_RECORD_TOO_LARGE',
        `journal ${this.files.folder}: expected a record of at most ${PAYLOAD_BYTES_MAX} bytes, got ${payloadBytes}`,
        { expected: PAYLOAD_BYTES_MAX, found: payloadBytes },
      )
    this.durability.catchUp()
    if (this.active !== undefined && this.active.segment.byteCount >= this.segmentBytes) this.roll()
    this.active ??= this.makeSegment()
    const { file, segment } = this.active
    const { salt, byteCount } = segment
    const sequence = this.nextSequence
    const payloadCrc = payloadCrcOf(parts, salt)
    const durable = this.durability.synced
    const header = { payloadBytes, sequence, durable, kind, payloadCrc }
    try {
      file.write([encodeRecordHeader(header, salt), ...parts], byteCount)
    } catch (error) {
      this.takeBack(this.active)
      throw this.durability.fail(error)
    }
    this.active.segment = {
      ...segment,
      next: sequence + 1,
      byteCount: byteCount + RECORD_HEADER_BYTES + payloadBytes,
    }
    this.nextSequence = sequence + 1
    this.durability.noteWritten(file, sequence)
    return sequence
  }

  /**
   * Resolves once a record is durable, as `sync` says; rejects with JOURNAL_FULL or JOURNAL_IO, and the journal then
   * takes nothing more. Many that wait share one sync, which runs beside this thread.
   */
  whenDurable(sequence: number): Promise<void> {
    assert(sequence < this.nextSequence, 'journal: a record that was written')
    return this.durability.when(sequence)
  }

  /** Forces all records to the disk, whatever the mode. @throws VarveError JOURNAL_FULL, JOURNAL_IO */
  syncNow(): void {
    this.checkUsable()
    this.durability.syncNow()
  }

  /**
   * Records in their order.
   * @param from sequence of the first
   * @throws VarveError JOURNAL_CORRUPT, JOURNAL_IO
   */
  records(from = 1): Generator<JournalRecord> {
    this.checkOpen()
    return recordsOf(this.files, this.segments, from)
  }

  /**
   * Gives up records that are safe elsewhere: deletes the segments that hold no others.
   * @param sequence of the last of them
   * @throws VarveError JOURNAL_FULL, JOURNAL_IO
   */
  cut(sequence: number): void {
    this.checkUsable()
    this.durability.noteStored(sequence)
    this.attempt(() => {
      const newest = this.active?.segment
      const isLarge = newest !== undefined && newest.byteCount > KEPT_BYTES_MAX
      if (isLarge && newest.next - 1 <= sequence) this.beginSegment()
      while (this.older.length > 0 && this.older[0]!.next - 1 <= sequence)
        this.removeSegment(this.older.shift()!)
    })
  }

  /**
   * Goes on after a sequence that is not in the journal: the store has what lies before. All records are given up.
   * @throws VarveError JOURNAL_FULL, JOURNAL_IO
   */
  startAfter(sequence: number): void {
    this.checkUsable()
    assert(sequence >= this.last, 'journal: sequences do not go back')
    if (sequence === this.last) return
    this.attempt(() => {
      const all = this.segments
      this.endActive()
      this.older = []
      // Oldest first, so that what a power cut leaves is without gaps.
      for (const segment of all) this.removeSegment(segment)
    })
    this.nextSequence = sequence + 1
    this.durability.startAfter(sequence)
  }

  /** Begins a new segment; the old one is synced, whatever the mode. @throws VarveError JOURNAL_FULL, JOURNAL_IO */
  roll(): void {
    this.checkUsable()
    if (this.active === undefined || this.active.segment.next === this.active.segment.first) return
    this.durability.syncNow()
    this.attempt(() => this.beginSegment())
  }

  /** Syncs and closes. @throws VarveError JOURNAL_FULL, JOURNAL_IO of the sync */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    try {
      if (this.durability.failure === undefined) this.durability.syncNow()
    } finally {
      this.durability.close()
      this.endActive()
    }
  }

  private get segments(): Segment[] {
    return this.active === undefined ? [...this.older] : [...this.older, this.active.segment]
  }

  private beginSegment(): void {
    const { segment } = this.active!
    this.endActive()
    this.older.push(segment)
    this.active = this.makeSegment()
  }

  private endActive(): void {
    if (this.active === undefined) return
    this.durability.retire(this.active.file)
    this.active = undefined
  }

  /** The header and the name are on the disk before a record is: so a bad header behind records is damage. */
  private makeSegment(): Active {
    const { files, nextSequence: first } = this
    const [salt] = crypto.getRandomValues(new Uint32Array(1))
    const name = segmentName(first)
    return this.attempt(() => {
      files.makeFolder()
      const file = files.create(name)
      try {
        file.write([encodeSegmentHeader({ first, salt: salt! })], 0)
        file.syncNow()
        files.syncFolder()
      } catch (error) {
        file.close()
        throw error
      }
      const segment = { name, salt: salt!, first, next: first, byteCount: SEGMENT_HEADER_BYTES }
      return { file, segment }
    })
  }

  private removeSegment({ name }: Segment): void {
    this.files.remove(name)
    this.files.syncFolder()
  }

  /** Leaves no half of a record behind, where the disk allows. Else the next opening cuts it. */
  private takeBack({ file, segment }: Active): void {
    try {
      file.truncate(segment.byteCount)
    } catch {}
  }

  private attempt<Result>(work: () => Result): Result {
    try {
      return work()
    } catch (error) {
      throw this.durability.fail(error)
    }
  }

  private checkUsable(): void {
    this.checkOpen()
    if (this.durability.failure !== undefined) throw this.durability.failure
  }

  private checkOpen(): void {
    if (this.isClosed)
      throw new VarveError<JournalErrorCode>(
        'JOURNAL_CLOSED',
        `journal ${this.files.folder}: expected an open journal, got one that was closed`,
      )
  }
}

function* recordsOf(
  files: JournalFiles,
  segments: readonly Segment[],
  from: number,
): Generator<JournalRecord> {
  for (const segment of segments) {
    if (segment.next <= from) continue
    yield* segmentRecords(files, segment, from)
  }
}

/** Takes away what follows the last whole record: the newest file first, so that no gap is ever left. */
function cutTail(files: JournalFiles, { segments, tornNames, tornBytes }: Scan): void {
  if (tornBytes === 0 && tornNames.length === 0) return
  for (const name of tornNames.toReversed()) {
    files.remove(name)
    files.syncFolder()
  }
  const newest = segments.at(-1)
  if (newest === undefined) return
  withFile(files, newest.name, true, (file) => {
    if (file.size() === newest.byteCount) return
    file.truncate(newest.byteCount)
    file.syncNow()
  })
}

function statsOf({ segments, tornBytes }: Pick<Scan, 'segments' | 'tornBytes'>): JournalStats {
  const [oldest] = segments
  const newest = segments.at(-1)
  const recordCount = segments.reduce((sum, { first, next }) => sum + next - first, 0)
  return {
    segmentCount: segments.length,
    recordCount,
    byteCount: segments.reduce((sum, segment) => sum + segment.byteCount, 0),
    first: recordCount === 0 ? 0 : oldest!.first,
    last: recordCount === 0 ? 0 : newest!.next - 1,
    tornBytes,
  }
}

/** Runs `work`, naming the errors of the disk. */
function onDisk<Result>(folder: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw diskFault(folder, error)
  }
}
