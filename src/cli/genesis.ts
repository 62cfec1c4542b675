/** Reading what `--genesis` names: a public network, a geth genesis.json, or a file with an allocation alone. */
import { brotliDecompressSync } from 'node:zlib'
import { VarveError } from '../base/index.ts'
import {
  GENESIS_CHAR_COUNT_MAX,
  type Genesis,
  type GenesisAccount,
  isNetworkName,
  NETWORK_NAMES,
  namedGenesis,
  readGenesisFile,
} from '../chain/index.ts'
import { networkOfAccounts } from '../engine/index.ts'
import { readBounded } from './boundedRead.ts'

/**
 * Loads a genesis. A bare allocation belongs to the public network whose genesis state it makes.
 * @throws VarveError GENESIS_*, JSON_*, FILE_UNREADABLE; UsageError
 */
export async function loadGenesis(nameOrPath: string): Promise<Genesis> {
  if (isNetworkName(nameOrPath)) return namedGenesis(nameOrPath)
  const file = readGenesisFile(readText(nameOrPath))
  if (file.kind === 'genesis') return file.genesis
  return genesisOfAlloc(nameOrPath, file.accounts)
}

async function genesisOfAlloc(path: string, accounts: readonly GenesisAccount[]): Promise<Genesis> {
  const name = networkOfAccounts(accounts)
  if (name === undefined)
    throw new VarveError(
      'GENESIS_CHAIN_UNKNOWN',
      `${path}: an allocation alone, and its state root is that of none of ${NETWORK_NAMES.join(', ')}: give a genesis.json`,
      { path },
    )
  return namedGenesis(name, accounts)
}

function readText(path: string): string {
  try {
    const bytes = readBounded(path, GENESIS_CHAR_COUNT_MAX)
    const plain = path.endsWith('.br')
      ? brotliDecompressSync(bytes, { maxOutputLength: GENESIS_CHAR_COUNT_MAX })
      : bytes
    return plain.toString('utf8')
  } catch (cause) {
    throw new VarveError(
      'GENESIS_FILE_UNREADABLE',
      `--genesis ${path}: expected a network (${NETWORK_NAMES.join(', ')}) or a readable file: ${cause instanceof Error ? cause.message : cause}`,
      { path },
      { cause },
    )
  }
}

/** Error codes of this module. */
export type GenesisFileErrorCode =
  /** What --genesis names is neither a network nor a file that can be read. */
  | 'GENESIS_FILE_UNREADABLE'
  /** A bare allocation is that of no known network. */
  | 'GENESIS_CHAIN_UNKNOWN'
