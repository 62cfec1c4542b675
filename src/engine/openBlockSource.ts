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
