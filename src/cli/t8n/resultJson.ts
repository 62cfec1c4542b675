/** `result.json`, with geth's names, order and forms. */
import { toHex } from '../../base/index.ts'
import type { T8nBlock } from './environment.ts'
import type { Executed, TransitionResult } from './transition.ts'

/** geth's stand-in for the hash of a block that has no header. */
const BLOCK_HASH = `0x1337${'0'.repeat(60)}`

export function resultJson(result: TransitionResult, block: T8nBlock): object {
  const { withdrawalsRoot, requests, rejected } = result
  const hasBlobs = block.excessBlobGas !== undefined
  let logIndex = 0
  const receipts = result.executed.map((executed, index) => {
    const json = receiptJson(executed, index, logIndex, block)
    logIndex += executed.receipt.logs.length
    return json
  })
  return {
    stateRoot: toHex(result.stateRoot),
    txRoot: toHex(result.transactionsRoot),
    receiptsRoot: toHex(result.receiptsRoot),
    logsHash: toHex(result.logsHash),
    logsBloom: toHex(result.logsBloom),
    receipts,
    ...(rejected.length === 0 ? {} : { rejected }),
    currentDifficulty: block.difficulty === undefined ? null : quantity(block.difficulty),
    gasUsed: quantity(result.gasUsed),
    ...(block.baseFee === undefined ? {} : { currentBaseFee: quantity(block.baseFee) }),
    ...(withdrawalsRoot === undefined ? {} : { withdrawalsRoot: toHex(withdrawalsRoot) }),
    ...(hasBlobs
      ? {
          currentExcessBlobGas: quantity(block.excessBlobGas),
          blobGasUsed: quantity(result.blobGasUsed),
        }
      : {}),
    ...(result.requestsHash === undefined ? {} : { requestsHash: toHex(result.requestsHash) }),
    requests: requests === undefined ? null : requests.map(toHex),
  }
}

function receiptJson(
  { transaction, outcome, receipt, contractAddress }: Executed,
  index: number,
  firstLogIndex: number,
  block: T8nBlock,
): object {
  const { type, logs } = receipt
  const { blobBaseFee, number, timestamp } = block.execution
  const hasRoot = typeof receipt.outcome !== 'number'
  const place = {
    blockHash: BLOCK_HASH,
    blockNumber: quantity(number),
    transactionHash: toHex(transaction.hash),
    transactionIndex: quantity(index),
  }
  return {
    ...(type === 0 ? {} : { type: quantity(type) }),
    root: hasRoot ? toHex(receipt.outcome) : '0x',
    status: outcome.status === 0 ? '0x1' : '0x0',
    cumulativeGasUsed: quantity(receipt.cumulativeGasUsed),
    logsBloom: toHex(receipt.logsBloom),
    logs: logs.map(({ address, topics, data }, offset) => ({
      address: toHex(address),
      topics: topics.map(toHex),
      data: toHex(data),
      blockNumber: place.blockNumber,
      transactionHash: place.transactionHash,
      transactionIndex: place.transactionIndex,
      blockHash: place.blockHash,
      blockTimestamp: quantity(timestamp),
      logIndex: quantity(firstLogIndex + offset),
      removed: false,
    })),
    transactionHash: place.transactionHash,
    contractAddress: toHex(contractAddress),
    gasUsed: quantity(outcome.gasUsed),
    effectiveGasPrice: null,
    ...(type === 3
      ? { blobGasUsed: quantity(outcome.blobGasUsed), blobGasPrice: quantity(blobBaseFee) }
      : {}),
    blockHash: place.blockHash,
    blockNumber: place.blockNumber,
    transactionIndex: place.transactionIndex,
  }
}

function quantity(value: bigint | number): string {
  return `0x${value.toString(16)}`
}
