/** Makes headers that follow the rules, for tests that then break one. Published chains check the rules themselves. */
import { bytesEqual, EMPTY_LIST_HASH, EMPTY_TRIE_ROOT, Fork, ZERO_HASH } from '../base/index.ts'
import { type Header, type HeaderFields, sealHeader } from '../codec/index.ts'
import { difficultyAt } from './difficulty.ts'
import { gasLimitReference, nextBaseFee, nextExcessBlobGas } from './gasRules.ts'
import { EMPTY_REQUESTS_HASH } from './genesis.ts'
import { type ChainSpec, rulesAt } from './spec.ts'

/** A block 0 of a chain, with the optional fields of `fork`. */
export function makeFirst(fork: Fork, overrides: Partial<HeaderFields> = {}): Header {
  return sealHeader({ ...plainFields(0, 1_000_000n), ...laterFields(fork), ...overrides })
}

/** The next block, valid unless `overrides` say otherwise; twelve seconds after its parent. */
export function makeChild(
  parent: Header,
  spec: ChainSpec,
  overrides: Partial<HeaderFields> = {},
): Header {
  const number = parent.number + 1
  const timestamp = overrides.timestamp ?? parent.timestamp + 12n
  const { fork, blob } = rulesAt(spec, number, timestamp)
  const difficulty =
    fork >= Fork.Paris
      ? 0n
      : difficultyAt(fork, {
          number,
          secondsSinceParent: Number(timestamp - parent.timestamp),
          parentDifficulty: parent.difficulty,
          parentHasUncles: !bytesEqual(parent.uncleHash, EMPTY_LIST_HASH),
        })
  return sealHeader({
    ...plainFields(number, timestamp),
    parentHash: parent.hash,
    difficulty,
    gasLimit: gasLimitReference(parent, fork),
    ...laterFields(fork),
    ...(fork >= Fork.London ? { baseFeePerGas: nextBaseFee(parent) } : {}),
    ...(blob === undefined ? {} : { excessBlobGas: nextExcessBlobGas(parent, fork, blob) }),
    ...overrides,
  })
}

function plainFields(number: number, timestamp: bigint): HeaderFields {
  return {
    parentHash: ZERO_HASH,
    uncleHash: EMPTY_LIST_HASH,
    coinbase: new Uint8Array(20).fill(0xc0),
    stateRoot: EMPTY_TRIE_ROOT,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: 1_000_000n,
    number,
    gasLimit: 30_000_000n,
    gasUsed: 0n,
    timestamp,
    extraData: new Uint8Array(0),
    mixHash: ZERO_HASH,
    nonce: new Uint8Array(8),
  }
}

function laterFields(fork: Fork): Partial<HeaderFields> {
  return {
    ...(fork >= Fork.London ? { baseFeePerGas: 1_000_000_000n } : {}),
    ...(fork >= Fork.Shanghai ? { withdrawalsRoot: EMPTY_TRIE_ROOT } : {}),
    ...(fork >= Fork.Cancun
      ? { blobGasUsed: 0n, excessBlobGas: 0n, parentBeaconBlockRoot: ZERO_HASH }
      : {}),
    ...(fork >= Fork.Prague ? { requestsHash: EMPTY_REQUESTS_HASH } : {}),
    ...(fork >= Fork.Amsterdam ? { blockAccessListHash: EMPTY_LIST_HASH, slotNumber: 0n } : {}),
  }
}
