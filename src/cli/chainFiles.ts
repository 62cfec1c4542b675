/** Files that blocks are imported from, and the beginning of their chain. */
import type { Genesis } from '../chain/index.ts'
import { type BlockSource, encodedBlockSource, openBlockSource } from '../engine/index.ts'
import { loadGenesis } from './genesis.ts'
import { readJsonBlocks } from './jsonBlocks.ts'

/** A file to import, and the chain's beginning where it brings one. */
export type ChainFile = { readonly genesis: Genesis | undefined; open(): BlockSource }

/** JSON is read at once, since it may say what the chain starts from; the others when their turn comes. */
export function openChainFile(path: string): ChainFile {
  if (!path.endsWith('.json')) return { genesis: undefined, open: () => openBlockSource(path) }
  const { genesis, blocks } = readJsonBlocks(path)
  return { genesis, open: () => encodedBlockSource(path, blocks) }
}

/** What was named, or what a file brings, or, for a chain that has not begun, mainnet's. */
export async function genesisOf(
  name: string | undefined,
  files: readonly ChainFile[],
  isFresh: boolean,
): Promise<Genesis | undefined> {
  if (name !== undefined) return await loadGenesis(name)
  const own = files.find(({ genesis }) => genesis !== undefined)?.genesis
  return own ?? (isFresh ? await loadGenesis('mainnet') : undefined)
}
