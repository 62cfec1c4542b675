/**
 * Blocks that a source's check has decoded, kept for the import that follows as long as they are small: it saves
 * decoding them twice. Past the limit nothing is kept and the import reads the file again.
 */
import type { Block } from '../codec/index.ts'

/** Bytes of encoded blocks that may be kept. Decoded they take about three times as much. */
const KEPT_BYTES_MAX = 48 * 1024 * 1024

export class KeptBlocks {
  private blocks: Block[] | undefined = []
  private byteCount = 0

  /** Keeps the next block of the file. @param byteCount of its encoding */
  add(block: Block, byteCount: number): void {
    this.byteCount += byteCount
    if (this.byteCount > KEPT_BYTES_MAX) this.blocks = undefined
    this.blocks?.push(block)
  }

  /** All blocks of the file from one of them on, or `undefined` where they were not kept. */
  from(index: number): readonly Block[] | undefined {
    return this.blocks?.slice(index)
  }
}
