/**
 * Memory for many owners that each come, grow and go as a whole: chunks of 1 KiB in segments of 256 KiB. An owner
 * links its chunks into a chain, allocates inside them by bumping, and gives the whole chain back at once, whatever
 * its length: the chain is put in front of the free list by one write.
 *
 *     segments   [ 256 KiB ][ 256 KiB ][ - given back - ][ 256 KiB ] …
 *     segment    256 chunks ──▶ chunk:  | next chunk of the owner, or of the free list (8 bytes) | 1016 bytes |
 *     handle     index of an 8-byte unit over all segments: segment = handle >>> 15, its unit = handle & 0x7fff
 *
 * Segments never move and never grow, so a word array fetched once stays right, and threads can share them. Owner:
 * the thread that made it; others may read what stands still. A handle dies when its chain is released. Under `VERIFY`
 * a released chain is filled with a pattern, which is checked when a chunk is given out again.
 *
 * Not here: what lies in a chunk, and when an owner goes.
 */
import { assert, VarveError, VERIFY } from '../base/index.ts'

declare const chunkHandleBrand: unique symbol
/** Names 8 bytes of a chunk arena. 0 is nothing: the first unit of a chunk is its link. */
export type ChunkHandle = number & { readonly [chunkHandleBrand]: 'ChunkHandle' }

export const NO_CHUNK = 0 as ChunkHandle

/** Bytes of a handle's unit. */
export const CHUNK_UNIT_BYTES = 8
/** Units of a chunk, the link included. */
export const CHUNK_UNITS = 128
export const CHUNK_BYTES = CHUNK_UNITS * CHUNK_UNIT_BYTES
/** handle >>> this is the segment. */
export const SEGMENT_SHIFT = 15
/** handle & this is the unit in its segment. */
export const SEGMENT_MASK = 2 ** SEGMENT_SHIFT - 1
const SEGMENT_UNITS = 2 ** SEGMENT_SHIFT
const SEGMENT_BYTES = SEGMENT_UNITS * CHUNK_UNIT_BYTES
const SEGMENT_CHUNKS = SEGMENT_UNITS / CHUNK_UNITS
/** Handles stay below 2^31, where they are small integers to every engine: 16 GiB. */
const ARENA_BYTES_LIMIT = 2 ** 31 * CHUNK_UNIT_BYTES
const ARENA_BYTES_DEFAULT = 2 ** 30
const POISON = 0xdbdbdbdb
const NO_WORDS = new Uint32Array(0)

export type ChunkArenaOptions = {
  /** Most bytes that the segments may take, at most 16 GiB; 1 GiB without it. Taken as needed. */
  readonly bytesMax?: number
}

export class ChunkArena {
  /** Words of each segment; empty where one was given back. Fetched anew by whoever holds a new handle. */
  readonly segments: Uint32Array[] = []
  /** Most bytes that the segments may take. */
  readonly bytesMax: number
  private readonly emptyPlaces: number[] = []
  private freeHead: ChunkHandle = NO_CHUNK
  private usedCount = 0
  private segmentCount = 0

  constructor(options: ChunkArenaOptions = {}) {
    this.bytesMax = options.bytesMax ?? ARENA_BYTES_DEFAULT
    assert(this.bytesMax >= SEGMENT_BYTES, 'chunk arena: bytesMax holds at least one segment')
    assert(this.bytesMax <= ARENA_BYTES_LIMIT, 'chunk arena: bytesMax is at most 16 GiB')
  }

  /** Bytes of the chunks that have an owner. Exact. */
  get usedBytes(): number {
    return this.usedCount * CHUNK_BYTES
  }

  /** Bytes taken from the system. */
  get reservedBytes(): number {
    return this.segmentCount * SEGMENT_BYTES
  }

  /**
   * Gives out a chunk whose link says `next`; the rest holds what was there before. Cost: O(1), but for a new segment.
   * @throws VarveError ARENA_CHUNKS_FULL; nothing has changed then
   */
  take(next: ChunkHandle): ChunkHandle {
    if (this.freeHead === NO_CHUNK) this.addSegment()
    const chunk = this.freeHead
    const words = this.segments[chunk >>> SEGMENT_SHIFT]!
    const word = (chunk & SEGMENT_MASK) * 2
    this.freeHead = words[word] as ChunkHandle
    this.usedCount++
    if (VERIFY)
      for (let index = word + 2; index < word + CHUNK_UNITS * 2; index++)
        assert(words[index] === POISON, 'chunk arena: a released chunk was written to')
    words[word] = next
    return chunk
  }

  /**
   * Takes a chain back, from `head`, the chunk taken last, to `tail`, the one taken first. Cost: one write.
   * All handles into it are dead from here on.
   */
  release(head: ChunkHandle, tail: ChunkHandle, chunkCount: number): void {
    if (VERIFY) this.poison(head, tail, chunkCount)
    const words = this.segments[tail >>> SEGMENT_SHIFT]!
    words[(tail & SEGMENT_MASK) * 2] = this.freeHead
    this.freeHead = head
    this.usedCount -= chunkCount
  }

  /**
   * Gives segments back that no owner uses, for an engine that falls idle. Returns the bytes given back.
   * Cost: one step a free chunk.
   */
  trim(): number {
    const freeCounts = new Uint32Array(this.segments.length)
    for (let chunk = this.freeHead; chunk !== NO_CHUNK; chunk = this.linkOf(chunk))
      freeCounts[chunk >>> SEGMENT_SHIFT]!++
    let head = NO_CHUNK
    for (let chunk = this.freeHead; chunk !== NO_CHUNK; ) {
      const next = this.linkOf(chunk)
      if (freeCounts[chunk >>> SEGMENT_SHIFT] !== ownedChunks(chunk >>> SEGMENT_SHIFT)) {
        this.segments[chunk >>> SEGMENT_SHIFT]![(chunk & SEGMENT_MASK) * 2] = head
        head = chunk
      }
      chunk = next
    }
    this.freeHead = head
    const before = this.reservedBytes
    freeCounts.forEach((free, place) => {
      if (this.segments[place] === NO_WORDS || free !== ownedChunks(place)) return
      this.segments[place] = NO_WORDS
      this.emptyPlaces.push(place)
      this.segmentCount--
    })
    return before - this.reservedBytes
  }

  private linkOf(chunk: ChunkHandle): ChunkHandle {
    return this.segments[chunk >>> SEGMENT_SHIFT]![(chunk & SEGMENT_MASK) * 2] as ChunkHandle
  }

  private addSegment(): void {
    if ((this.segmentCount + 1) * SEGMENT_BYTES > this.bytesMax) throw this.fullError()
    const words = this.newWords()
    const place = this.emptyPlaces.pop() ?? this.segments.length
    this.segments[place] = words
    this.segmentCount++
    if (VERIFY) words.fill(POISON)
    // The very first chunk would have handle 0.
    const first = SEGMENT_CHUNKS - ownedChunks(place)
    for (let index = SEGMENT_CHUNKS - 1; index >= first; index--) {
      words[index * CHUNK_UNITS * 2] = this.freeHead
      this.freeHead = (place * SEGMENT_UNITS + index * CHUNK_UNITS) as ChunkHandle
    }
  }

  private newWords(): Uint32Array {
    try {
      // A browser page that is not isolated has no shared memory: one thread then.
      return typeof SharedArrayBuffer === 'undefined'
        ? new Uint32Array(SEGMENT_BYTES / 4)
        : new Uint32Array(new SharedArrayBuffer(SEGMENT_BYTES))
    } catch {
      throw this.fullError()
    }
  }

  private fullError(): VarveError {
    return new VarveError<ChunkArenaErrorCode>(
      'ARENA_CHUNKS_FULL',
      `chunk arena: a segment of ${SEGMENT_BYTES} bytes asked, ${this.usedBytes} in use, ${this.reservedBytes} taken, limit ${this.bytesMax}`,
      { usedBytes: this.usedBytes, reservedBytes: this.reservedBytes, bytesMax: this.bytesMax },
    )
  }

  private poison(head: ChunkHandle, tail: ChunkHandle, chunkCount: number): void {
    let count = 1
    for (let chunk = head; ; chunk = this.linkOf(chunk), count++) {
      const words = this.segments[chunk >>> SEGMENT_SHIFT]!
      const word = (chunk & SEGMENT_MASK) * 2
      words.fill(POISON, word + 2, word + CHUNK_UNITS * 2)
      if (chunk === tail) break
      assert(count < chunkCount, 'chunk arena: the chain is as long as its owner says')
    }
    assert(count === chunkCount, 'chunk arena: the chain is as long as its owner says')
  }
}

/** Chunks of the segment at a place: the first one is without its first chunk. */
function ownedChunks(place: number): number {
  return place === 0 ? SEGMENT_CHUNKS - 1 : SEGMENT_CHUNKS
}

/** Error codes of this module. */
export type ChunkArenaErrorCode =
  /** The segments have reached their limit, or the system refuses memory. */
  'ARENA_CHUNKS_FULL'
