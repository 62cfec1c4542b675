/**
 * The benchmark's token written out: ERC-20 `transfer` with what its code in `contracts.ts` does and costs, step by
 * step. A refusal, or any other call, is the EVM's.
 */
import { bigintFromBytes, bigintToBytes, Fork, U256_MAX } from '../../base/index.ts'
import type { NativeCall, NativeContract, NativeResult, NativeSlot } from '../../execute/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import { hashKey } from '../../state/index.ts'
import {
  CONTRACTS,
  holdingSlot,
  TOKEN_TRANSFER_GAS,
  TRANSFER_SELECTOR,
  TRANSFER_TOPIC,
  wordOf,
} from './contracts.ts'

const WORD_BYTES = 32
const SELECTOR_BYTES = 4

/** Recognised by the hash of its code, wherever it stands. */
export const NATIVE_TOKEN: NativeContract = {
  codeHash: keccak256(CONTRACTS.token),
  // The code has PUSH0.
  since: Fork.Shanghai,
  run: transfer,
}

function transfer({ caller, target, input, storage }: NativeCall): NativeResult | undefined {
  if (!TRANSFER_SELECTOR.every((byte, at) => input[at] === byte)) return undefined
  const from = wordOf(caller)
  // As the code reads it: a whole word, whatever stands before the address, and zeros after the end of the input.
  const to = inputWord(input, SELECTOR_BYTES)
  const amount = bigintFromBytes(inputWord(input, SELECTOR_BYTES + WORD_BYTES))
  const holding = (owner: Uint8Array): NativeSlot =>
    storage.slot(hashKey(owner), () => holdingSlot(owner, 0n))
  const source = holding(from)
  const has = storage.load(source)
  if (has < amount) return undefined
  storage.store(source, has - amount)
  const destination = holding(to)
  storage.store(destination, (storage.load(destination) + amount) & U256_MAX)
  const data = bigintToBytes(amount, WORD_BYTES)
  return {
    gas: TOKEN_TRANSFER_GAS,
    logs: [{ address: target, topics: [TRANSFER_TOPIC, from, to], data }],
  }
}

function inputWord(input: Uint8Array, offset: number): Uint8Array {
  const word = new Uint8Array(WORD_BYTES)
  word.set(input.subarray(offset, offset + WORD_BYTES))
  return word
}
