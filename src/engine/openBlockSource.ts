/** Which kind of source a file is. */
import type { BlockSource } from './blockSource.ts'
import { ChainFileSource } from './chainFileSource.ts'
import { Era1Source } from './era1Source.ts'

/** Opens a file by its form: `.era1`, anything else as geth's export of RLP blocks, plain or gzip. @throws VarveError */
export function openBlockSource(path: string): BlockSource {
  return path.endsWith('.era1') ? new Era1Source(path) : new ChainFileSource(path)
}
