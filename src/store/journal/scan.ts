/**
 * Finds out which records of a journal are whole, and whether what follows them is a tail that was torn, or damage.
 *
 *     records 1 2 3 │ 4 bad │ …     a later header that says "durable: 4 or more" ─▶ JOURNAL_CORRUPT
 *                   │               none                                         ─▶ torn: the journal ends at 3
 *
 * Before a sync the disk may take the pages of a file in any order, so a whole record behind a bad one proves nothing;
 * only what it says of the bad one does. The newest durable record has no later one to speak for it: damage of that one
 * reads as a torn tail.
 *
 * Opening goes from header to header. A payload is read there only where no later header says that it was durable, since
 * only such a one may be torn; the others are checked when they are read.
 */
import { corruptJournal, wrongVersion } from './faults.ts'
import { type JournalFile, type JournalFiles, withFile } from './files.ts'
import {
  decodeRecordHeader,
  decodeSegmentHeader,
  firstOfName,
  payloadCrcOf,
  RECORD_HEADER_BYTES,
  type RecordHeader,
  SEGMENT_HEADER_BYTES,
} from './layout.ts'

/** A record as it lies in the journal. The payload belongs to the reader. */
export type JournalRecord = {
  /** 1 up, without a gap. */
  readonly sequence: number
  /** What the payload is, in the words of whoever wrote it. 0 to 2^32-1. */
  readonly kind: number
  readonly payload: Uint8Array
}

export type Segment = {
  readonly name: string
  readonly salt: number
  /** Sequence of its first record, whether it has one or not. */
  readonly first: number
  /** Sequence after that of its last record. */
  readonly next: number
  /** Bytes of its header and of its whole records. */
  readonly byteCount: number
}

export type Scan = {
  /** Oldest first. */
  readonly segments: readonly Segment[]
  /** Names of files that hold nothing but torn records. */
  readonly tornNames: readonly string[]
  /** Bytes behind the last whole record. */
  readonly tornBytes: number
}

/** Files of a layout before the first version. */
const EARLIER_NAME = /^\d{16}\.log$/
/** Bytes that the search for later headers holds in memory. */
const SEARCH_BYTES = 1024 * 1024

/**
 * Looks at all segments. Changes nothing. Cost: a read of 36 bytes a record, and the payloads that may be torn.
 * @throws VarveError JOURNAL_CORRUPT, JOURNAL_VERSION
 */
export function scanJournal(files: JournalFiles): Scan {
  const found = files.list()
  const earlier = found.find((name) => EARLIER_NAME.test(name))
  if (earlier !== undefined) throw wrongVersion(pathOf(files, earlier), 0)
  const names = found.filter((name) => firstOfName(name) !== undefined).sort()
  const unproven = new UnprovenRecords()
  return withoutTorn(files, names, scanHeaders(files, names, unproven), unproven.places)
}

/** Where a record lies whose payload nobody vouches for. */
type Place = {
  readonly segmentIndex: number
  readonly offset: number
  readonly header: RecordHeader
}

/** Records that no later one calls durable. */
class UnprovenRecords {
  places: Place[] = []
  private durable = 0

  add(place: Place): void {
    const { durable } = place.header
    if (durable > this.durable) {
      this.durable = durable
      this.places = this.places.filter(({ header }) => header.sequence > durable)
    }
    this.places.push(place)
  }
}

/** As far as headers lead. */
function scanHeaders(
  files: JournalFiles,
  names: readonly string[],
  unproven: UnprovenRecords,
): Scan {
  const segments: Segment[] = []
  for (const [index, name] of names.entries()) {
    const file = files.open(name, false)
    try {
      const isLast = index === names.length - 1
      const segment = scanSegment(file, { files, name, isLast }, (offset, header) =>
        unproven.add({ segmentIndex: index, offset, header }),
      )
      if (segment === undefined) return { segments, tornNames: [name], tornBytes: file.size() }
      const before = segments.at(-1)
      if (before !== undefined && before.next !== segment.first)
        throw corruptJournal(
          pathOf(files, name),
          0,
          `record ${before.next} first`,
          `record ${segment.first}`,
        )
      segments.push(segment)
      if (file.size() === segment.byteCount) continue
      return tornAfter(files, segments, names.slice(index + 1))
    } finally {
      file.close()
    }
  }
  return { segments, tornNames: [], tornBytes: 0 }
}

/** A scan that ends before the first payload that is not whole. */
function withoutTorn(
  files: JournalFiles,
  names: readonly string[],
  scan: Scan,
  places: readonly Place[],
): Scan {
  for (const { segmentIndex, offset, header } of places) {
    const segment = scan.segments[segmentIndex]!
    const payload = withFile(files, segment.name, false, (file) =>
      readPayload(file, offset, header, segment.salt),
    )
    if (payload !== undefined) continue
    const last = { ...segment, next: header.sequence, byteCount: offset }
    const segments = [...scan.segments.slice(0, segmentIndex), last]
    return tornAfter(files, segments, names.slice(segmentIndex + 1))
  }
  return scan
}

/** A scan that ends with the last of these segments, unless what follows says that it was durable. */
function tornAfter(
  files: JournalFiles,
  segments: readonly Segment[],
  tornNames: readonly string[],
): Scan {
  const last = segments.at(-1)!
  checkTorn(files, last, tornNames)
  const tornBytes = sizesOf(files, [last.name, ...tornNames]) - last.byteCount
  return { segments, tornNames, tornBytes }
}

/**
 * The whole records of a segment, in their order. Payloads of those before `from` are not read.
 * @throws VarveError JOURNAL_CORRUPT where one is not whole
 */
export function* segmentRecords(
  files: JournalFiles,
  segment: Segment,
  from: number,
): Generator<JournalRecord> {
  const file = files.open(segment.name, false)
  try {
    let offset = SEGMENT_HEADER_BYTES
    const size = file.size()
    for (let sequence = segment.first; sequence < segment.next; sequence++) {
      const header = readHeader(file, size, offset, segment.salt)
      if (header?.sequence === sequence && sequence < from) {
        offset += RECORD_HEADER_BYTES + header.payloadBytes
        continue
      }
      const payload =
        header?.sequence === sequence ? readPayload(file, offset, header, segment.salt) : undefined
      if (header === undefined || payload === undefined)
        throw corruptJournal(
          pathOf(files, segment.name),
          offset,
          `record ${sequence}`,
          'other bytes',
        )
      offset += RECORD_HEADER_BYTES + payload.length
      yield { sequence, kind: header.kind, payload }
    }
  } finally {
    file.close()
  }
}

/** A segment as far as its headers lead; `undefined` where it was torn while it was made. */
function scanSegment(
  file: JournalFile,
  which: { readonly files: JournalFiles; readonly name: string; readonly isLast: boolean },
  onRecord: (offset: number, header: RecordHeader) => void,
): Segment | undefined {
  const { files, name, isLast } = which
  const first = firstOfName(name)!
  const size = file.size()
  const header = readSegmentHeader(file)
  if (typeof header === 'number') throw wrongVersion(pathOf(files, name), header)
  if (header?.first !== first) {
    // The header is synced before anything follows it, and a later segment made only then.
    if (isLast && size <= SEGMENT_HEADER_BYTES) return undefined
    throw corruptJournal(pathOf(files, name), 0, `the header of ${name}`, 'other bytes')
  }
  let next = first
  let byteCount = SEGMENT_HEADER_BYTES
  for (;;) {
    const found = readHeader(file, size, byteCount, header.salt)
    if (found?.sequence !== next) break
    onRecord(byteCount, found)
    next++
    byteCount += RECORD_HEADER_BYTES + found.payloadBytes
  }
  return { name, salt: header.salt, first, next, byteCount }
}

/** The header of a record that ends within the file, or `undefined`. */
function readHeader(
  file: JournalFile,
  size: number,
  offset: number,
  salt: number,
): RecordHeader | undefined {
  const bytes = new Uint8Array(RECORD_HEADER_BYTES)
  if (file.read(bytes, offset) < bytes.length) return undefined
  const header = decodeRecordHeader(bytes, 0, salt)
  // Before memory is taken for its payload.
  if (header === undefined || offset + RECORD_HEADER_BYTES + header.payloadBytes > size)
    return undefined
  return header
}

/** The payload behind a header, or `undefined` where it is not the one that was written. */
function readPayload(
  file: JournalFile,
  offset: number,
  { payloadBytes, payloadCrc }: RecordHeader,
  salt: number,
): Uint8Array | undefined {
  const payload = new Uint8Array(payloadBytes)
  if (file.read(payload, offset + RECORD_HEADER_BYTES) < payloadBytes) return undefined
  return payloadCrcOf([payload], salt) === payloadCrc ? payload : undefined
}

/** Throws where anything behind the whole records of a segment says that the next one was durable. */
function checkTorn(files: JournalFiles, segment: Segment, later: readonly string[]): void {
  const damaged = segment.next
  const path = pathOf(files, segment.name)
  const check = (found: RecordHeader): void => {
    if (found.sequence <= damaged || found.durable < damaged) return
    const evidence = `other bytes, though record ${found.sequence} says that it was durable`
    throw corruptJournal(path, segment.byteCount, `record ${damaged}`, evidence)
  }
  const visit = (name: string, salt: number, from: number): void =>
    withFile(files, name, false, (file) => {
      for (const header of headersFrom(file, from, salt)) check(header)
    })
  visit(segment.name, segment.salt, segment.byteCount)
  for (const name of later) {
    const salt = saltOf(files, name)
    if (salt !== undefined) visit(name, salt, SEGMENT_HEADER_BYTES)
  }
}

/** All headers of records, wherever they begin. */
function* headersFrom(file: JournalFile, from: number, salt: number): Generator<RecordHeader> {
  const size = file.size()
  for (let start = from; start < size; start += SEARCH_BYTES) {
    const bytes = new Uint8Array(Math.min(size - start, SEARCH_BYTES + RECORD_HEADER_BYTES - 1))
    file.read(bytes, start)
    for (let offset = 0; offset < SEARCH_BYTES; offset++) {
      const header = decodeRecordHeader(bytes, offset, salt)
      if (header !== undefined) yield header
    }
  }
}

function saltOf(files: JournalFiles, name: string): number | undefined {
  const header = withFile(files, name, false, readSegmentHeader)
  return typeof header === 'object' && header.first === firstOfName(name) ? header.salt : undefined
}

/** As `decodeSegmentHeader`, of a file that may be shorter. */
function readSegmentHeader(file: JournalFile): ReturnType<typeof decodeSegmentHeader> {
  const bytes = new Uint8Array(SEGMENT_HEADER_BYTES)
  return decodeSegmentHeader(bytes.subarray(0, file.read(bytes, 0)))
}

function sizesOf(files: JournalFiles, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + withFile(files, name, false, (file) => file.size()), 0)
}

function pathOf(files: JournalFiles, name: string): string {
  return `${files.folder}/${name}`
}
