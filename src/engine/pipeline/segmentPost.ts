/**
 * Layers on their way to another thread. Their memory is shared, so a message carries which segments there are; each is
 * sent once, and again where another one has come to its place.
 */
import type { DiffSource } from '../../state/index.ts'

/** A `DiffSource` without its segments. */
export type PostedSource = Omit<DiffSource, 'segments'>

/** A segment and its place. */
export type PostedSegment = readonly [index: number, words: Uint32Array]

/** The sender's side: remembers what the other thread has. */
export class SegmentSender {
  private readonly sent: Uint32Array[] = []

  /** The segments that the other thread lacks. */
  missing({ segments }: DiffSource): PostedSegment[] {
    const missing: PostedSegment[] = []
    segments.forEach((words, index) => {
      if (this.sent[index] === words) return
      this.sent[index] = words
      missing.push([index, words])
    })
    return missing
  }
}

export function posted({ accounts, baseNumber }: DiffSource): PostedSource {
  return { accounts, baseNumber }
}

/** The receiver's side. */
export class SegmentShelf {
  private readonly segments: Uint32Array[] = []

  add(segments: readonly PostedSegment[]): void {
    for (const [index, words] of segments) this.segments[index] = words
  }

  source(source: PostedSource): DiffSource {
    return { ...source, segments: this.segments }
  }
}
