/**
 * Records that are durable long before the store has what follows from them: append-only files, each record numbered
 * and checksummed.
 *
 * ```
 *  folder   0000000000000001.log  0000000000000412.log …        named by the number of the first record
 *  file     record record …
 *  record   length of the payload (4) ‖ CRC-32C of all that follows (4) ‖ number (8) ‖ kind (1) ‖ payload
 * ```
 * Integers are big-endian. Numbers go up by one, over all files. The last record of the last file may be torn, by a
 * process or a machine that died while it was written: it is cut off on opening. Anything else that does not check is
 * damage, and is named.
 *
 * | sync | a record is durable | a killed process loses | a power cut loses |
 * |---|---|---|---|
 * | `always` | when its fdatasync has returned; each record asks for one | nothing acknowledged | nothing acknowledged |
 * | `group` | as that, but records within some milliseconds share one | nothing acknowledged | nothing acknowledged |
 * | `os` | when the operating system has it | nothing acknowledged | the last seconds |
 *
 * Not here: what records mean (`engine/journal/`), and when they are no longer needed.
 */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  unlinkSync,
  writevSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  assert,
  crc32c,
  readUint32BE,
  readUint64BE,
  VarveError,
  writeUint32BE,
  writeUint64BE,
} from '../../base/index.ts'

/** When an appended record is durable; see above. */
export type JournalSync =
  | { readonly mode: 'always' | 'os' }
  | { readonly mode: 'group'; readonly milliseconds: number }

export type JournalRecord = {
  readonly sequence: number
  /** 0 to 255. */
  readonly kind: number
  readonly payload: Uint8Array
}

/** Longest payload: 256 MiB. */
const JOURNAL_PAYLOAD_BYTES_MAX = 256 * 1024 * 1024
/** A file is followed by a new one beyond this. */
const SEGMENT_BYTES = 64 * 1024 * 1024
const HEAD_BYTES = 17
const NAME = /^\d{16}\.log$/

const QUIET = { throwIfNoEntry: false } as const

type Segment = { readonly first: number; readonly path: string }

/**
 * Opens the journal in a folder; makes it where there is none, and cuts a torn record off.
 * @throws VarveError JOURNAL_CORRUPT, JOURNAL_IO
 */
export function openBlockJournal(folder: string, sync: JournalSync): BlockJournal {
  return new BlockJournal(folder, sync)
}

export class BlockJournal {
  readonly folder: string
  readonly sync: JournalSync
  private readonly segments: Segment[] = []
  private file: number | undefined
  private fileBytes = 0
  private lastSequence = 0
  private durableSequence = 0
  private readonly waiting: { sequence: number; resolve(): void; reject(error: unknown): void }[] =
    []
  private isSyncing = false
  private failure: VarveError | undefined

  /** Use `openBlockJournal`. */
  constructor(folder: string, sync: JournalSync) {
    this.folder = folder
    this.sync = sync
    this.io(() => {
      mkdirSync(folder, { recursive: true })
      for (const name of readdirSync(folder)
        .filter((each) => NAME.test(each))
        .sort())
        this.segments.push({ first: Number(name.slice(0, 16)), path: join(folder, name) })
    })
    this.check()
    this.durableSequence = this.lastSequence
  }

  /** Number of the newest record, 0 for none. */
  get last(): number {
    return this.lastSequence
  }

  /** Number of the newest record that is durable. */
  get durable(): number {
    return this.durableSequence
  }

  /** Bytes of all files. Cost: a look at each; 0 for one that cannot be looked at. */
  get bytes(): number {
    return this.segments.reduce((sum, { path }) => sum + (statSync(path, QUIET)?.size ?? 0), 0)
  }

  /**
   * Adds a record, and returns its number. The bytes are with the operating system when it returns.
   * @throws VarveError JOURNAL_IO; the journal then takes no more
   */
  append(kind: number, parts: readonly Uint8Array[]): number {
    this.checkUsable()
    const payloadBytes = parts.reduce((sum, part) => sum + part.length, 0)
    assert(payloadBytes <= JOURNAL_PAYLOAD_BYTES_MAX, 'journal: a record is at most 256 MiB')
    if (this.file === undefined || this.fileBytes > SEGMENT_BYTES) this.roll()
    const sequence = this.lastSequence + 1
    const head = new Uint8Array(HEAD_BYTES)
    writeUint32BE(head, 0, payloadBytes)
    writeUint64BE(head, 8, sequence)
    head[16] = kind
    writeUint32BE(head, 4, checksum(head, parts))
    this.io(() => writeAll(this.file!, [head, ...parts]))
    this.fileBytes += HEAD_BYTES + payloadBytes
    this.lastSequence = sequence
    if (this.sync.mode === 'os') this.settle(sequence)
    return sequence
  }

  /** Makes all records durable before it returns. Cost: an fdatasync. @throws VarveError JOURNAL_IO */
  flush(): void {
    this.checkUsable()
    const sequence = this.lastSequence
    if (this.durableSequence >= sequence) return
    this.io(() => fdatasyncSync(this.file!))
    this.settle(sequence)
  }

  /** Resolves once a record is durable by the journal's mode. @throws VarveError JOURNAL_IO */
  async whenDurable(sequence: number): Promise<void> {
    this.checkUsable()
    if (this.durableSequence >= sequence) return
    await new Promise<void>((resolve, reject) => {
      this.waiting.push({ sequence, resolve, reject })
      this.schedule()
    })
  }

  /** Records after a number, oldest first. @throws VarveError JOURNAL_CORRUPT, JOURNAL_IO */
  *records(after: number): Iterable<JournalRecord> {
    // Whoever takes records in may cut those behind.
    const segments = [...this.segments]
    for (const [index, segment] of segments.entries()) {
      const next = segments[index + 1]
      if (next !== undefined && next.first <= after + 1) continue
      for (const { record } of readSegment(segment)) {
        if (record === undefined) throw damaged(segment.path, 0)
        if (record.sequence > after) yield record
      }
    }
  }

  /** Begins a new file, so that the ones before can be cut. Records so far are durable then. */
  roll(): void {
    this.checkUsable()
    if (this.file !== undefined) {
      if (this.fileBytes === 0) return
      if (this.sync.mode !== 'os') this.flush()
      closeSync(this.file)
      this.file = undefined
    }
    const first = this.lastSequence + 1
    const path = join(this.folder, `${String(first).padStart(16, '0')}.log`)
    this.io(() => {
      this.file = openSync(path, 'a')
      syncFolder(this.folder)
    })
    this.fileBytes = 0
    if (this.segments.at(-1)?.first !== first) this.segments.push({ first, path })
  }

  /** Deletes the files whose records all have a number up to this one. */
  cut(sequence: number): void {
    this.checkUsable()
    this.io(() => {
      while (this.segments.length > 1 && this.segments[1]!.first <= sequence + 1)
        unlinkSync(this.segments.shift()!.path)
      syncFolder(this.folder)
    })
  }

  /** Numbers go on after this one, where the journal's own are behind: its files were lost, the store has their records. */
  startAfter(sequence: number): void {
    if (sequence <= this.lastSequence) return
    this.lastSequence = sequence
    this.durableSequence = sequence
    this.roll()
    this.cut(sequence)
  }

  /** Ends the journal. Records that nobody waited for are durable first, but for `os`. */
  close(): void {
    if (this.file === undefined) return
    if (this.failure === undefined && this.sync.mode !== 'os') this.flush()
    closeSync(this.file)
    this.file = undefined
    this.failure ??= new VarveError<JournalErrorCode>('JOURNAL_IO', 'the journal was closed')
  }

  /** Reads everything once: sets the last number, cuts a torn end off. */
  private check(): void {
    for (const [index, segment] of this.segments.entries()) {
      const isLast = index === this.segments.length - 1
      if (index > 0 && segment.first !== this.lastSequence + 1) throw damaged(segment.path, 0)
      this.lastSequence = segment.first - 1
      for (const { record, offset, isFollowed } of readSegment(segment)) {
        if (record !== undefined && record.sequence === this.lastSequence + 1) {
          this.lastSequence++
          continue
        }
        if (!isLast || isFollowed || record !== undefined) throw damaged(segment.path, offset)
        this.io(() => truncate(segment.path, offset))
        break
      }
    }
  }

  private schedule(): void {
    if (this.isSyncing || this.waiting.length === 0) return
    this.isSyncing = true
    if (this.sync.mode === 'group') setTimeout(() => this.syncSoon(), this.sync.milliseconds)
    else this.syncSoon()
  }

  private syncSoon(): void {
    const { file } = this
    const sequence = this.lastSequence
    if (file === undefined || this.failure !== undefined) {
      // Whoever waited was answered by what ended the journal.
      this.isSyncing = false
      return
    }
    fdatasync(file, (error) => {
      this.isSyncing = false
      // A file that was closed meanwhile was made durable before.
      if (error !== null && file === this.file) this.fail(error)
      else this.settle(sequence)
      this.schedule()
    })
  }

  private settle(sequence: number): void {
    this.durableSequence = Math.max(this.durableSequence, sequence)
    const ready = this.waiting.filter((each) => each.sequence <= this.durableSequence)
    const rest = this.waiting.filter((each) => each.sequence > this.durableSequence)
    this.waiting.splice(0, this.waiting.length, ...rest)
    for (const { resolve } of ready) resolve()
  }

  private io(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.fail(error)
      throw this.failure
    }
  }

  private fail(cause: unknown): void {
    const message = cause instanceof Error ? cause.message : String(cause)
    this.failure ??= new VarveError<JournalErrorCode>(
      'JOURNAL_IO',
      `journal ${this.folder}: expected the disk to do its work, got ${message}`,
      { folder: this.folder },
      { cause },
    )
    for (const { reject } of this.waiting.splice(0)) reject(this.failure)
  }

  private checkUsable(): void {
    if (this.failure !== undefined) throw this.failure
  }
}

/** What lies at a place of a file: a record, or what is none. */
type Found = {
  readonly record: JournalRecord | undefined
  readonly offset: number
  /** Of what is no record: whether one follows where its length says, so that it is not the torn end. */
  readonly isFollowed: boolean
}

/** All records of a file, and where there is something else, that as the last. */
function* readSegment({ path }: Segment): Iterable<Found> {
  const file = openSync(path, 'r')
  try {
    const end = sizeOf(path)
    for (let offset = 0; offset < end; ) {
      const { record, bytes } = readRecord(file, offset, end)
      if (record === undefined) {
        const isFollowed = bytes > 0 && readRecord(file, offset + bytes, end).record !== undefined
        yield { record, offset, isFollowed }
        return
      }
      yield { record, offset, isFollowed: false }
      offset += bytes
    }
  } finally {
    closeSync(file)
  }
}

/** `bytes` is the length that it says it has, 0 where that leads beyond the file. */
function readRecord(
  file: number,
  offset: number,
  end: number,
): { record: JournalRecord | undefined; bytes: number } {
  const head = readAt(file, offset, HEAD_BYTES)
  if (head.length < HEAD_BYTES) return { record: undefined, bytes: 0 }
  const payloadBytes = readUint32BE(head, 0)
  const bytes = HEAD_BYTES + payloadBytes
  if (offset + bytes > end || payloadBytes > JOURNAL_PAYLOAD_BYTES_MAX)
    return { record: undefined, bytes: 0 }
  const payload = readAt(file, offset + HEAD_BYTES, payloadBytes)
  if (readUint32BE(head, 4) !== checksum(head, [payload])) return { record: undefined, bytes }
  const sequence = readUint64BE(head, 8)
  return { record: { sequence, kind: head[16]!, payload }, bytes }
}

function checksum(head: Uint8Array, parts: readonly Uint8Array[]): number {
  let sum = crc32c(head.subarray(8))
  for (const part of parts) sum = crc32c(part, 0, part.length, sum)
  return sum
}

function writeAll(file: number, parts: readonly Uint8Array[]): void {
  let rest = parts.filter((part) => part.length > 0)
  while (rest.length > 0) {
    let written = writevSync(file, rest)
    const next: Uint8Array[] = []
    for (const part of rest) {
      if (written >= part.length) written -= part.length
      else {
        next.push(part.subarray(written))
        written = 0
      }
    }
    rest = next
  }
}

function readAt(file: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let done = 0
  while (done < length) {
    const count = readSync(file, bytes, done, length - done, offset + done)
    if (count === 0) break
    done += count
  }
  return bytes.subarray(0, done)
}

function sizeOf(path: string): number {
  return statSync(path).size
}

function truncate(path: string, bytes: number): void {
  const file = openSync(path, 'r+')
  ftruncateSync(file, bytes)
  fsyncSync(file)
  closeSync(file)
}

/** A new or deleted file is durable with its folder. */
function syncFolder(folder: string): void {
  const file = openSync(folder, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function damaged(path: string, offset: number): VarveError<JournalErrorCode> {
  return new VarveError(
    'JOURNAL_CORRUPT',
    `journal ${path}: byte ${offset}: expected a whole record with the next number`,
    { path, offset },
  )
}

/** Error codes of this module. */
export type JournalErrorCode =
  /** A record that is not the torn end of the journal does not check. */
  | 'JOURNAL_CORRUPT'
  /** The disk failed; the journal takes no more records. */
  | 'JOURNAL_IO'
