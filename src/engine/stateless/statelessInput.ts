/**
 * The bytes that a stateless validator of EIP-8025 is given and answers with: SSZ, as in the fixtures of execution-specs'
 * zkevm releases up to 0.3.
 *
 *     input    StatelessInput { newPayloadRequest, witness, chainConfig { chainId }, publicKeys }
 *     output   32 bytes hash_tree_root(newPayloadRequest) ‖ 1 byte valid ‖ 8 bytes chainId
 *
 * Releases from 0.4 on put two bytes of schema in front and hash by progressive lists; they are not read here.
 */
import {
  type Block,
  type SszValue,
  sszBoolean,
  sszByteList,
  sszBytes,
  sszContainer,
  sszList,
  sszUint,
} from '../../codec/index.ts'
import { blockOfPayload } from '../payload.ts'
import type { BlockWitness } from './witness.ts'

const hash = sszBytes(32)
const address = sszBytes(20)
const uint64 = sszUint(8)

const withdrawal = sszContainer({
  index: uint64,
  validatorIndex: uint64,
  address,
  amount: uint64,
})

/** ExecutionPayload of Amsterdam. */
const executionPayload = sszContainer({
  parentHash: hash,
  feeRecipient: address,
  stateRoot: hash,
  receiptsRoot: hash,
  logsBloom: sszBytes(256),
  prevRandao: hash,
  blockNumber: uint64,
  gasLimit: uint64,
  gasUsed: uint64,
  timestamp: uint64,
  extraData: sszByteList(32),
  baseFeePerGas: sszUint(32),
  blockHash: hash,
  transactions: sszList(sszByteList(2 ** 30), 2 ** 20),
  withdrawals: sszList(withdrawal, 2 ** 16),
  blobGasUsed: uint64,
  excessBlobGas: uint64,
  blockAccessList: sszByteList(2 ** 24),
  slotNumber: uint64,
})

const newPayloadRequest = sszContainer({
  executionPayload,
  versionedHashes: sszList(hash, 4096),
  parentBeaconBlockRoot: hash,
  executionRequests: sszList(sszByteList(2 ** 23), 2 ** 4),
})

const statelessInput = sszContainer({
  newPayloadRequest,
  witness: sszContainer({
    state: sszList(sszByteList(2 ** 20), 2 ** 20),
    codes: sszList(sszByteList(2 ** 24), 2 ** 16),
    headers: sszList(sszByteList(2 ** 10), 256),
  }),
  chainConfig: sszContainer({ chainId: uint64 }),
  publicKeys: sszList(sszByteList(48), 2 ** 20),
})

const statelessOutput = sszContainer({
  newPayloadRequestRoot: hash,
  isValid: sszBoolean,
  chainConfig: sszContainer({ chainId: uint64 }),
})

/** A decoded input. */
export type StatelessInput = {
  readonly request: SszValue<typeof newPayloadRequest>
  readonly witness: BlockWitness
  readonly chainId: bigint
}

/** The answer to an input. */
export type StatelessOutput = {
  /** hash_tree_root of the request, 32 bytes. */
  readonly requestRoot: Uint8Array
  readonly isValid: boolean
  readonly chainId: bigint
}

/** Decodes an input; its byte strings are views. @throws VarveError SSZ_INVALID */
export function decodeStatelessInput(bytes: Uint8Array): StatelessInput {
  const { newPayloadRequest: request, witness, chainConfig } = statelessInput.decode(bytes, 'input')
  return { request, witness, chainId: chainConfig.chainId }
}

/** The block that an input asks about. @throws VarveError PAYLOAD_* */
export function blockOfStatelessInput({ request }: StatelessInput): Block {
  const { executionPayload: payload, ...extras } = request
  return blockOfPayload(payload, extras)
}

/** hash_tree_root of an input's request, by which the consensus layer knows what was answered. */
export function requestRootOf({ request }: StatelessInput): Uint8Array {
  return newPayloadRequest.root(request)
}

/** Encodes an answer: 41 bytes. */
export function encodeStatelessOutput(output: StatelessOutput): Uint8Array {
  return statelessOutput.encode({
    newPayloadRequestRoot: output.requestRoot,
    isValid: output.isValid,
    chainConfig: { chainId: output.chainId },
  })
}
