/**
 * Blocks in JSON, as `varve import` takes them:
 *
 *     ["0x…", …]   or   {"blocks": ["0x…" or {"rlp": "0x…"}, …]}      blocks as RLP; --genesis says what they start from
 *     {"a name": {"pre", "genesisBlockHeader", "network", "blocks", …}}   a blockchain test: its state is where it starts
 *
 * A file with several tests is no chain; `varve blocktest` runs those.
 */
import { fromHex, isVarveError, VarveError } from '../base/index.ts'
import type { Genesis } from '../chain/index.ts'
import { encodeBlock } from '../codec/index.ts'
import { isBlockTest, readBlockTest } from './blocktest/blockTest.ts'
import { FileTooLargeError, readBounded } from './boundedRead.ts'

/** Bytes of a JSON file that are read. */
const JSON_BYTES_MAX = 256 * 1024 * 1024

/** Blocks, and what they start from where the file says it. */
export type JsonBlocks = {
  readonly genesis: Genesis | undefined
  /** RLP, in the file's order. */
  readonly blocks: readonly Uint8Array[]
}

/** @throws VarveError JSON_BLOCKS_INVALID, FILE_UNREADABLE, TESTFILE_* */
export function readJsonBlocks(path: string): JsonBlocks {
  const value = parse(path)
  if (Array.isArray(value)) return { genesis: undefined, blocks: readBlocks(path, value) }
  if (typeof value !== 'object' || value === null) throw invalid(path, 'a list of blocks or a test')
  if ('blocks' in value && Array.isArray(value.blocks) && !isBlockTest(value))
    return { genesis: undefined, blocks: readBlocks(path, value.blocks) }
  const tests = Object.entries(value).filter(([, test]) => isBlockTest(test))
  if (tests.length !== 1) throw invalid(path, `one blockchain test, found ${tests.length}`)
  const [name, test] = tests[0]!
  const { genesis, blocks } = readBlockTest(name, test, () => undefined)
  return { genesis, blocks: blocks.map(({ decode }) => encodeBlock(decode())) }
}

function parse(path: string): unknown {
  let text: string
  try {
    text = readBounded(path, JSON_BYTES_MAX).toString('utf8')
  } catch (cause) {
    if (cause instanceof FileTooLargeError) throw invalid(path, cause.message)
    throw new VarveError(
      'FILE_UNREADABLE',
      `${path}: expected a readable file, got ${cause instanceof Error ? cause.message : cause}`,
      { path },
      { cause },
    )
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid(path, `JSON: ${cause instanceof Error ? cause.message : cause}`)
  }
}

function readBlocks(path: string, items: readonly unknown[]): Uint8Array[] {
  return items.map((item, index) => {
    const rlp = typeof item === 'object' && item !== null && 'rlp' in item ? item.rlp : item
    if (typeof rlp !== 'string') throw invalid(path, `block ${index} as hex text or {"rlp": …}`)
    try {
      return fromHex(rlp)
    } catch (error) {
      throw isVarveError(error) ? invalid(path, `block ${index} as hex: ${error.message}`) : error
    }
  })
}

function invalid(path: string, expected: string): VarveError<JsonBlocksErrorCode> {
  return new VarveError('JSON_BLOCKS_INVALID', `${path}: expected ${expected}`, { path, expected })
}

/** Error codes of this module. */
export type JsonBlocksErrorCode =
  /** A JSON file holds no blocks in a form that import knows. */
  'JSON_BLOCKS_INVALID'
