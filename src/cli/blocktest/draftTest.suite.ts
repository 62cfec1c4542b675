/** A small blockchain test that passes: one block made by an engine, written down as a file would have it. */
import { toHex } from '../../base/index.ts'
import { networkSpec, parseGenesisJson } from '../../chain/index.ts'
import { type Block, encodeBlock, type Header } from '../../codec/index.ts'
import { openEngine } from '../../engine/index.ts'
import { memoryStore } from '../../store/index.ts'

export type Draft = {
  network: string
  genesisBlockHeader: Record<string, unknown>
  genesisRLP: string
  pre: Record<string, unknown>
  blocks: Record<string, unknown>[]
  lastblockhash: string
  postState?: Record<string, Record<string, unknown>>
  postStateHash?: string
}

export const RICH = `0x${'11'.repeat(20)}`
export const MINER = `0x${'22'.repeat(20)}`
export const CONTRACT = `0x${'33'.repeat(20)}`
const EMPTY = { nonce: '0x00', code: '0x', storage: {} }
const STORING = { balance: '0x00', nonce: '0x01', code: '0x00', storage: { '0x01': '0x02' } }

/** One empty block of Byzantium: 3 ether for the miner. */
export async function makeDraft(): Promise<{ draft: Draft; block: Block }> {
  const pre = { [RICH]: { ...EMPTY, balance: '0x64' }, [CONTRACT]: STORING }
  const file = { config: { chainId: 1 }, difficulty: '0x20000', gasLimit: '0x1c9c380', alloc: pre }
  const spec = networkSpec('Byzantium', new Map(), 1n)!
  const genesis = { ...parseGenesisJson(JSON.stringify(file)), spec }
  const engine = await openEngine({ store: memoryStore(), genesis })
  const { header } = engine.head
  const made = engine.produce({ coinbase: new Uint8Array(20).fill(0x22), timestamp: 10n })
  const draft: Draft = {
    network: 'Byzantium',
    genesisBlockHeader: headerJson(header),
    genesisRLP: toHex(encodeBlock({ header, transactions: [], uncles: [] })),
    pre,
    blocks: [{ rlp: toHex(encodeBlock(made)), blockHeader: { hash: toHex(made.header.hash) } }],
    lastblockhash: toHex(made.header.hash),
    postState: { ...pre, [MINER]: { ...EMPTY, balance: '0x29a2241af62c0000' } },
  }
  return { draft, block: made }
}

function headerJson(header: Header): Record<string, unknown> {
  const number = (value: bigint) => `0x${value.toString(16)}`
  const { parentHash, coinbase, extraData, mixHash, nonce, hash } = header
  const bytes = { parentHash, coinbase, extraData, mixHash, nonce, hash }
  return {
    ...Object.fromEntries(Object.entries(bytes).map(([key, value]) => [key, toHex(value)])),
    difficulty: number(header.difficulty),
    gasLimit: number(header.gasLimit),
    gasUsed: number(header.gasUsed),
    timestamp: number(header.timestamp),
  }
}
