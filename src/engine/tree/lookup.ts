/**
 * Blocks by name: the newest one, a canonical one by number, any by hash; whether it waits for a write, lies in the
 * store, is kept with its state or not any more.
 */
import { bytesEqual, HASH_BYTES, toHex, VarveError } from '../../base/index.ts'
import { type Block, joinDecoded, type Receipt } from '../../codec/index.ts'
import type { StoredHeader } from '../chainRecords.ts'
import type { BlockNode } from './blockTree.ts'
import type { KeptChain } from './keptChain.ts'
import { stateNotKept } from './keptState.ts'

/** Names a block: the newest one, a canonical one by number, any by hash. */
export type BlockId = 'latest' | number | Uint8Array

/** A block whose state is kept. @throws VarveError ENGINE_STATE_NOT_KEPT */
export function nodeOf(chain: KeptChain, block: BlockId): BlockNode {
  if (block === 'latest') return chain.head
  const hash = hashOf(chain, block)
  const node = hash && chain.tree.get(hash)
  if (node !== undefined) return node
  throw stateNotKept(`block ${nameOf(block)}`, chain.tree)
}

/** A header with its total difficulty, or `undefined` where there is no such block. */
export function headerOf(chain: KeptChain, block: BlockId): StoredHeader | undefined {
  if (block === 'latest') return chain.head
  const hash = hashOf(chain, block)
  if (hash === undefined) return undefined
  const node = chain.tree.get(hash)
  if (node !== undefined) return node
  const number = typeof block === 'number' ? block : chain.rows.numberOf(hash)
  return number === undefined ? undefined : chain.rows.header(number, hash)
}

/** A whole block, or `undefined` where there is none. */
export function blockOf(chain: KeptChain, block: BlockId): Block | undefined {
  const found = headerOf(chain, block)
  return found && joinDecoded(found.header, chain.rows.body(found.header))
}

/** Receipts of a canonical block, `undefined` for any other. */
export function receiptsOf(chain: KeptChain, block: BlockId): Receipt[] | undefined {
  const header = headerOf(chain, block)?.header
  if (header === undefined || !isCanonical(chain, header.number, header.hash)) return undefined
  return chain.rows.receipts(header, true)
}

/** @throws VarveError ENGINE_BLOCK_ID_INVALID where a program without types names a block by something else */
function hashOf(chain: KeptChain, block: number | Uint8Array): Uint8Array | undefined {
  if (typeof block === 'number') return chain.canonical.hash(block)
  if (block instanceof Uint8Array && block.length === HASH_BYTES) return block
  throw new VarveError<LookupErrorCode>(
    'ENGINE_BLOCK_ID_INVALID',
    `expected 'latest', a number or a hash of ${HASH_BYTES} bytes, got ${typeof block} ${String(block).slice(0, 80)}`,
  )
}

/** Whether a block is part of the chain that ends with the head. */
export function isCanonical(chain: KeptChain, number: number, hash: Uint8Array): boolean {
  const canonical = chain.canonical.hash(number)
  return canonical !== undefined && bytesEqual(canonical, hash)
}

/** A block's name for a message. */
export function nameOf(block: BlockId): string {
  return typeof block === 'object' ? toHex(block) : `${block}`
}

/** Error codes of this module. */
export type LookupErrorCode =
  /** A block is named by what is neither a number nor a hash. */
  'ENGINE_BLOCK_ID_INVALID'
