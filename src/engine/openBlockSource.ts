/** Which kind of source a file is. */
import type { BlockSource } from './blockSource.ts'
import { ChainFileSource } from './chainFileSource.ts'
import { Era1Source } from './era1Source.ts'

/**
 * Opens a file by its name: `.era1`, anything else as geth's export of RLP blocks, which must be unpacked.
 * @throws VarveError FILE_UNREADABLE, CHAIN_FILE_GZIP, ERA1_*
 */
export function openBlockSource(path: string): BlockSource {
  return path.endsWith('.era1') ? new Era1Source(path) : new ChainFileSource(path)
}

/**
 * Blocks that are at hand as RLP, as a source.
 * @param name stands for a path in messages
 * @throws VarveError CHAIN_FILE_*
 */
export function encodedBlockSource(name: string, blocks: readonly Uint8Array[]): BlockSource {
  const bytes = new Uint8Array(blocks.reduce((sum, block) => sum + block.length, 0))
  let offset = 0
  for (const block of blocks) {
    bytes.set(block, offset)
    offset += block.length
  }
  return new ChainFileSource(name, bytes)
}
