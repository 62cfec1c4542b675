/** Parameters of `engine_newPayload`, as JSON, versions 1 to 5: payload, blob hashes, beacon root, requests. */
import { ADDRESS_BYTES, HASH_BYTES } from '../../base/index.ts'
import { BLOOM_BYTES, type Withdrawal } from '../../codec/index.ts'
import type { ExecutionPayload, PayloadExtras } from '../../engine/index.ts'
import {
  type JsonRecord,
  readBytes,
  readFixed,
  readList,
  readObject,
  readUint,
} from '../testfiles/jsonValue.ts'

export type PayloadParameters = {
  readonly payload: ExecutionPayload
  readonly extras: PayloadExtras
}

/** @throws VarveError TESTFILE_INVALID */
export function readPayload(params: readonly unknown[], path: string): PayloadParameters {
  const [payload, hashes, beaconRoot, requests] = params
  return {
    payload: readExecutionPayload(readObject(payload, `${path}.0`), `${path}.0`),
    extras: {
      ...(hashes === undefined
        ? {}
        : {
            versionedHashes: readList(hashes, `${path}.1`).map((hash) =>
              readFixed(hash, HASH_BYTES, `${path}.1`),
            ),
          }),
      ...(beaconRoot === undefined
        ? {}
        : { parentBeaconBlockRoot: readFixed(beaconRoot, HASH_BYTES, `${path}.2`) }),
      ...(requests === undefined
        ? {}
        : {
            executionRequests: readList(requests, `${path}.3`).map((request) =>
              readBytes(request, `${path}.3`),
            ),
          }),
    },
  }
}

function readExecutionPayload(fields: JsonRecord, path: string): ExecutionPayload {
  const hash = (key: string) => readFixed(fields[key], HASH_BYTES, `${path}.${key}`)
  const number = (key: string, bits = 64) => readUint(fields[key], bits, `${path}.${key}`)
  const { withdrawals, blobGasUsed, excessBlobGas, blockAccessList, slotNumber } = fields
  return {
    parentHash: hash('parentHash'),
    feeRecipient: readFixed(fields['feeRecipient'], ADDRESS_BYTES, `${path}.feeRecipient`),
    stateRoot: hash('stateRoot'),
    receiptsRoot: hash('receiptsRoot'),
    logsBloom: readFixed(fields['logsBloom'], BLOOM_BYTES, `${path}.logsBloom`),
    prevRandao: hash('prevRandao'),
    blockNumber: number('blockNumber'),
    gasLimit: number('gasLimit'),
    gasUsed: number('gasUsed'),
    timestamp: number('timestamp'),
    extraData: readBytes(fields['extraData'], `${path}.extraData`),
    baseFeePerGas: number('baseFeePerGas', 256),
    blockHash: hash('blockHash'),
    transactions: readList(fields['transactions'], `${path}.transactions`).map((item) =>
      readBytes(item, `${path}.transactions`),
    ),
    ...(withdrawals === undefined
      ? {}
      : { withdrawals: readWithdrawals(withdrawals, `${path}.withdrawals`) }),
    ...(blobGasUsed === undefined ? {} : { blobGasUsed: number('blobGasUsed') }),
    ...(excessBlobGas === undefined ? {} : { excessBlobGas: number('excessBlobGas') }),
    ...(blockAccessList === undefined
      ? {}
      : { blockAccessList: readBytes(blockAccessList, `${path}.blockAccessList`) }),
    ...(slotNumber === undefined ? {} : { slotNumber: number('slotNumber') }),
  }
}

function readWithdrawals(value: unknown, path: string): Withdrawal[] {
  return readList(value, path).map((item) => {
    const fields = readObject(item, path)
    const number = (key: string) => readUint(fields[key], 64, `${path}.${key}`)
    return {
      index: number('index'),
      validatorIndex: number('validatorIndex'),
      address: readFixed(fields['address'], ADDRESS_BYTES, `${path}.address`),
      amount: number('amount'),
    }
  })
}
