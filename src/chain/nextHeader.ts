/**
 * The header of a new block: every field that follows from the parent and the rules, so that whoever makes blocks
 * chooses only what is theirs to choose. What such a header says passes `validateHeader`.
 */
import { bytesEqual, EMPTY_LIST_HASH, EMPTY_TRIE_ROOT, Fork, ZERO_HASH } from '../base/index.ts'
import {
  EMPTY_BLOOM,
  type Header,
  type HeaderFields,
  NONCE_BYTES,
  type Transaction,
  uncleHashOf,
  type Withdrawal,
} from '../codec/index.ts'
import { blobGasOf, transactionsRootOf, withdrawalsRootOf } from './bodyRules.ts'
import { difficultyAt } from './difficulty.ts'
import { gasLimitReference, nextBaseFee, nextExcessBlobGas } from './gasRules.ts'
import { EMPTY_REQUESTS_HASH } from './genesis.ts'
import { type ChainSpec, rulesAt } from './spec.ts'

/** What the maker of a block chooses. A list that is left out is empty. */
export type HeaderChoices = {
  /** 20 bytes. */
  readonly coinbase: Uint8Array
  /** Seconds since 1970, after the parent's. */
  readonly timestamp: bigint
  /** At most 32 bytes. */
  readonly extraData?: Uint8Array
  readonly uncles?: readonly Header[]
  readonly transactions?: readonly Transaction[]
  /** From Shanghai on. */
  readonly withdrawals?: readonly Withdrawal[]
  /** 32 bytes: PREVRANDAO from Paris on. */
  readonly mixHash?: Uint8Array
  /** 8 bytes; before Paris only. */
  readonly nonce?: Uint8Array
  readonly parentBeaconBlockRoot?: Uint8Array
  /** Slot of the beacon chain (EIP-7843), from Amsterdam on; the parent's next one without it. */
  readonly slotNumber?: bigint
  /** Whether the parent's total difficulty reached the terminal one, as in `HeaderContext`. */
  readonly isMerged?: boolean
}

/**
 * Header of a block before its execution: the state root is the parent's, no gas is used, there are no receipts and no
 * requests. Execution puts its own in their place, see `receiptFields`.
 */
export function headerAfter(parent: Header, spec: ChainSpec, choices: HeaderChoices): HeaderFields {
  const number = parent.number + 1
  const { fork, blob } = rulesAt(spec, number, choices.timestamp, choices.isMerged)
  const { uncles = [], transactions = [], withdrawals = [] } = choices
  const fields: HeaderFields = {
    parentHash: parent.hash,
    uncleHash: uncles.length === 0 ? EMPTY_LIST_HASH : uncleHashOf(uncles),
    coinbase: choices.coinbase,
    stateRoot: parent.stateRoot,
    transactionsRoot: transactionsRootOf(transactions),
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: EMPTY_BLOOM,
    difficulty: fork >= Fork.Paris ? 0n : nextDifficulty(parent, fork, choices.timestamp),
    number,
    gasLimit: gasLimitReference(parent, fork),
    gasUsed: 0n,
    timestamp: choices.timestamp,
    extraData: choices.extraData ?? new Uint8Array(0),
    mixHash: choices.mixHash ?? ZERO_HASH,
    nonce: choices.nonce ?? new Uint8Array(NONCE_BYTES),
  }
  return {
    ...fields,
    ...(fork >= Fork.London ? { baseFeePerGas: nextBaseFee(parent) } : {}),
    ...(fork >= Fork.Shanghai ? { withdrawalsRoot: withdrawalsRootOf(withdrawals) } : {}),
    ...(blob === undefined
      ? {}
      : {
          blobGasUsed: blobGasOf(transactions),
          excessBlobGas: nextExcessBlobGas(parent, fork, blob),
          parentBeaconBlockRoot: choices.parentBeaconBlockRoot ?? ZERO_HASH,
        }),
    ...(fork >= Fork.Prague ? { requestsHash: EMPTY_REQUESTS_HASH } : {}),
    ...(fork >= Fork.Amsterdam
      ? {
          blockAccessListHash: EMPTY_LIST_HASH,
          slotNumber: choices.slotNumber ?? (parent.slotNumber ?? 0n) + 1n,
        }
      : {}),
  }
}

function nextDifficulty(parent: Header, fork: Fork, timestamp: bigint): bigint {
  return difficultyAt(fork, {
    number: parent.number + 1,
    secondsSinceParent: Number(timestamp - parent.timestamp),
    parentDifficulty: parent.difficulty,
    parentHasUncles: !bytesEqual(parent.uncleHash, EMPTY_LIST_HASH),
  })
}
