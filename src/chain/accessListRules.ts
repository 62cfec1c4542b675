/** Whether an access list is the one that a block's header names (EIP-7928). */
import { bytesEqual } from '../base/index.ts'
import {
  accessItemCount,
  type BlockAccessList,
  blockAccessListHash,
  type Header,
} from '../codec/index.ts'
import { blockFault } from './blockFault.ts'

/** Gas of the block's limit for each account and slot on its list. */
const GAS_PER_ACCESS_ITEM = 2000n

/**
 * Checks the list that execution yields, or one that came with the block.
 * @throws VarveError with an `AccessListRuleErrorCode`
 */
export function validateAccessList(header: Header, list: BlockAccessList): void {
  const { number, gasLimit } = header
  const itemCount = accessItemCount(list)
  const itemCountMax = gasLimit / GAS_PER_ACCESS_ITEM
  if (BigInt(itemCount) > itemCountMax)
    throw blockFault<AccessListRuleErrorCode>(
      'BLOCK_ACCESS_LIST_TOO_LONG',
      number,
      'accounts and slots on the access list',
      `at most ${itemCountMax}`,
      itemCount,
    )
  const hash = blockAccessListHash(list)
  if (header.blockAccessListHash !== undefined && bytesEqual(header.blockAccessListHash, hash))
    return
  throw blockFault<AccessListRuleErrorCode>(
    'BLOCK_ACCESS_LIST_HASH_INVALID',
    number,
    'hash of the access list',
    header.blockAccessListHash,
    hash,
  )
}

/** Error codes of this module. */
export type AccessListRuleErrorCode =
  /** The block reads more accounts and slots than its gas limit allows (EIP-7928). */
  | 'BLOCK_ACCESS_LIST_TOO_LONG'
  /** The access list is not the one of the header. */
  | 'BLOCK_ACCESS_LIST_HASH_INVALID'
