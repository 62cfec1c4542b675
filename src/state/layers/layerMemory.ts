/**
 * The memory of one layer: a chain of chunks that is filled from one end and given back as a whole.
 * Not here: what is written into it (`trieWriter.ts`).
 */
import {
  CHUNK_UNITS,
  type ChunkArena,
  type ChunkHandle,
  NO_CHUNK,
  SEGMENT_MASK,
  SEGMENT_SHIFT,
} from '../../arena/index.ts'
import { assert } from '../../base/index.ts'

export class LayerMemory {
  private readonly arena: ChunkArena
  private head: ChunkHandle = NO_CHUNK
  private tail: ChunkHandle = NO_CHUNK
  private next = 0
  private end = 0
  private chunkCount = 0

  constructor(arena: ChunkArena) {
    this.arena = arena
  }

  /** Chunks taken. */
  get size(): number {
    return this.chunkCount
  }

  /**
   * Room for a node; its words hold what was there before.
   * @param wordCount even, at most a chunk without its link
   * @throws VarveError ARENA_CHUNKS_FULL
   */
  allocate(wordCount: number): ChunkHandle {
    const units = wordCount >>> 1
    if (this.next + units > this.end) this.addChunk(units)
    const handle = this.next
    this.next += units
    return handle as ChunkHandle
  }

  /** Words of the segment in which a handle lies; its first word there is `wordOf(handle)`. */
  wordsOf(handle: ChunkHandle): Uint32Array {
    return this.arena.segments[handle >>> SEGMENT_SHIFT]!
  }

  /** Gives everything back. Cost: O(1). */
  release(): void {
    if (this.chunkCount > 0) this.arena.release(this.head, this.tail, this.chunkCount)
    this.head = NO_CHUNK
    this.tail = NO_CHUNK
    this.next = 0
    this.end = 0
    this.chunkCount = 0
  }

  private addChunk(units: number): void {
    assert(units < CHUNK_UNITS, 'layer memory: a node fits a chunk')
    const chunk = this.arena.take(this.head)
    if (this.head === NO_CHUNK) this.tail = chunk
    this.head = chunk
    this.chunkCount++
    this.next = chunk + 1
    this.end = chunk + CHUNK_UNITS
  }
}

/** Word of a handle in its segment. */
export function wordOf(handle: ChunkHandle): number {
  return (handle & SEGMENT_MASK) * 2
}
