/**
 * Where blocks come from: a file of any known form, as one kind of thing. A source is checked as a whole before any
 * of it reaches the database, so that a damaged file changes nothing.
 *
 *     openBlockSource(path) ─▶ check() ─▶ blocks(from) ─▶ engine.import
 */
import type { Block, Header } from '../codec/index.ts'

/** A file of consecutive blocks. */
export type BlockSource = {
  readonly path: string
  /** Form of the file, for messages. */
  readonly kind: 'era1' | 'chain file'
  /** Number of the first block. */
  readonly firstNumber: number
  /** Number of the last block. */
  readonly lastNumber: number
  /**
   * Checks everything that needs no state: form, checksums, the chain of headers, each body against its header.
   * Yields the number of each block it is done with; only an iteration to the end is a check of the file.
   * @throws VarveError naming file, byte and block
   */
  check(): Iterable<number>
  /** Header of one block of the file, `firstNumber` to `lastNumber`. */
  headerAt(number: number): Header
  /** Blocks from a number on, in their order. */
  blocks(from: number): Iterable<Block>
  close(): void
}
