/** A small chain that the tests of this folder share: a genesis with storage and code, and blocks with uncles. */
import { toHex } from '../base/index.ts'
import { type Genesis, headerAfter, parseGenesisJson } from '../chain/index.ts'
import { type Block, type Header, sealHeader } from '../codec/index.ts'
import { memoryStore, type Store, TABLES } from '../store/index.ts'
import { openEngine } from './engine.ts'

/** Address made of one repeated byte. */
export function addressOf(byte: number): Uint8Array {
  return new Uint8Array(20).fill(byte)
}

/** Genesis with `accountCount` plain accounts, one contract with three slots, and Byzantium at block 10. */
export function testGenesis(accountCount = 30, chainId = 5): Genesis {
  const alloc: Record<string, unknown> = {}
  for (let index = 1; index <= accountCount; index++)
    alloc[toHex(addressOf(index))] = { balance: `${index}` }
  alloc[toHex(addressOf(0xcc))] = {
    balance: '0x0',
    nonce: '0x1',
    code: '0x6001600055',
    storage: { '0x00': '0x01', '0x01': '0xff00', '0x02': `0x${'ee'.repeat(32)}` },
  }
  const config = {
    chainId,
    homesteadBlock: 2,
    eip150Block: 4,
    eip155Block: 6,
    eip158Block: 6,
    byzantiumBlock: 10,
  }
  return parseGenesisJson(
    JSON.stringify({ config, difficulty: '0x20000', gasLimit: '0x1c9c380', alloc }),
  )
}

/** Makes blocks 1 to `count` on a genesis; every third names an uncle. */
export async function testBlocks(genesis: Genesis, count: number): Promise<Block[]> {
  const engine = await openEngine({ store: memoryStore(), genesis })
  const blocks: Block[] = []
  let grandparent: Header | undefined
  for (let number = 1; number <= count; number++) {
    const parent = engine.head.header
    const uncles =
      grandparent !== undefined && number % 3 === 0 ? [uncleAfter(grandparent, genesis)] : []
    blocks.push(
      engine.produce({
        coinbase: addressOf(0x80 + (number % 7)),
        timestamp: parent.timestamp + 10n,
        uncles,
      }),
    )
    grandparent = parent
  }
  return blocks
}

/** A valid block on the same parent as the block that won. */
export function uncleAfter(parent: Header, genesis: Genesis): Header {
  const choices = { coinbase: addressOf(0xaa), timestamp: parent.timestamp + 11n }
  return sealHeader(headerAfter(parent, genesis.spec, choices))
}

/** All rows of a store as text, to compare two stores byte for byte. */
export function dumpStore(store: Store): string {
  const lines: string[] = []
  for (const table of TABLES)
    for (const { key, value } of store.range(table))
      lines.push(`${table} ${toHex(key)} ${toHex(value)}`)
  return lines.join('\n')
}
