/**
 * Requests of a block to the consensus layer (EIP-7685): deposits from logs (EIP-6110), withdrawals (EIP-7002) and
 * consolidations (EIP-7251) from the queues of system contracts.
 *
 *     request = type byte ‖ data            left out where the data are empty
 *     requestsHash = sha256(sha256(request 0) ‖ sha256(request 1) ‖ …)
 */
import {
  assert,
  bigintFromBytes,
  bytesConcat,
  bytesEqual,
  EMPTY_BYTES,
  Fork,
  fromBareHex,
  isVarveError,
  VarveError,
} from '../base/index.ts'
import type { Log } from '../codec/index.ts'
import { type Machine, precompileAt, Status } from '../evm/index.ts'
import {
  CONSOLIDATION_REQUESTS_ADDRESS,
  callSystemContract,
  WITHDRAWAL_REQUESTS_ADDRESS,
} from './systemCalls.ts'

const DEPOSIT_TYPE = 0
const WITHDRAWAL_TYPE = 1
const CONSOLIDATION_TYPE = 2

/** Topic of `DepositEvent(bytes,bytes,bytes,bytes,bytes)`. */
const DEPOSIT_TOPIC = fromBareHex(
  '649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5',
)
/** The event's five byte strings: public key, withdrawal credentials, amount, signature, index. */
const DEPOSIT_FIELD_BYTES = [48, 32, 8, 96, 8] as const
const DEPOSIT_EVENT_BYTES = 576
const WORD_BYTES = 32
const SHA256_PRECOMPILE = 2

export type RequestOptions = {
  /** 20 bytes. */
  readonly depositContract: Uint8Array
  /** A queue without its contract makes the block invalid (EIP-7002, EIP-7251); false takes it as empty. */
  readonly mustHaveContracts: boolean
}

/**
 * Requests of the block whose transactions have all run, in the order of their types; changes the queues.
 * @param logs of all transactions, in order
 * @throws VarveError with a RequestErrorCode, which makes the block invalid
 */
export function collectRequests(
  machine: Machine,
  logs: readonly Log[],
  options: RequestOptions,
): Uint8Array[] {
  const { depositContract, mustHaveContracts } = options
  const queue = (target: Uint8Array, name: string) =>
    readQueue(machine, target, name, mustHaveContracts)
  return [
    request(DEPOSIT_TYPE, depositsOf(logs, depositContract)),
    request(WITHDRAWAL_TYPE, queue(WITHDRAWAL_REQUESTS_ADDRESS, 'withdrawal requests')),
    request(CONSOLIDATION_TYPE, queue(CONSOLIDATION_REQUESTS_ADDRESS, 'consolidation requests')),
  ].filter(({ length }) => length > 1)
}

/** The header's `requestsHash`, 32 fresh bytes. */
export function requestsHash(requests: readonly Uint8Array[]): Uint8Array {
  return sha256(bytesConcat(...requests.map(sha256)))
}

function request(type: number, data: Uint8Array): Uint8Array {
  return bytesConcat(Uint8Array.of(type), data)
}

function readQueue(
  machine: Machine,
  target: Uint8Array,
  name: string,
  mustExist: boolean,
): Uint8Array {
  const { hasCode, status, output } = callSystemContract(machine, target, EMPTY_BYTES)
  if (!hasCode && mustExist)
    throw requestFault('EXECUTE_CONTRACT_MISSING', `${name}: there is no contract`)
  if (status !== Status.Success)
    throw requestFault('EXECUTE_CALL_FAILED', `${name}: the call ended with status ${status}`)
  return output
}

/** Deposits that the contract has logged, one after the other. */
export function depositsOf(logs: readonly Log[], depositContract: Uint8Array): Uint8Array {
  const deposits = logs
    .filter(
      ({ address, topics }) =>
        bytesEqual(address, depositContract) &&
        topics[0] !== undefined &&
        bytesEqual(topics[0], DEPOSIT_TOPIC),
    )
    .map(({ data }) => depositOf(data))
  return bytesConcat(...deposits)
}

/** The event's fields without ABI padding. EIP-6110 allows one layout only. */
function depositOf(data: Uint8Array): Uint8Array {
  if (data.length !== DEPOSIT_EVENT_BYTES)
    throw depositFault(`expected ${DEPOSIT_EVENT_BYTES} bytes, got ${data.length}`)
  const parts: Uint8Array[] = []
  let at = DEPOSIT_FIELD_BYTES.length * WORD_BYTES
  DEPOSIT_FIELD_BYTES.forEach((size, index) => {
    expectWord(data, index * WORD_BYTES, at, 'offset')
    expectWord(data, at, size, 'size')
    parts.push(data.subarray(at + WORD_BYTES, at + WORD_BYTES + size))
    at += WORD_BYTES + Math.ceil(size / WORD_BYTES) * WORD_BYTES
  })
  return bytesConcat(...parts)
}

function expectWord(data: Uint8Array, at: number, expected: number, name: string): void {
  const found = bigintFromBytes(data.subarray(at, at + WORD_BYTES))
  if (found !== BigInt(expected))
    throw depositFault(`expected ${name} ${expected} at byte ${at}, got ${found}`)
}

/** SHA-256 is a precompile, so the hash is at hand on every platform. */
function sha256(bytes: Uint8Array): Uint8Array {
  const result = precompileAt(SHA256_PRECOMPILE, Fork.Prague)!.run(bytes, 1n << 62n)
  assert(result.kind === 'success', 'sha-256 has gas enough')
  return result.output
}

/** Narrows an unknown thrown value to a fault of a block's requests. */
export function isRequestFault(error: unknown): error is VarveError<RequestErrorCode> {
  return isVarveError(error) && CODES.has(error.code)
}

function depositFault(problem: string): VarveError<RequestErrorCode> {
  return requestFault('EXECUTE_DEPOSIT_INVALID', `deposit: ${problem}`)
}

function requestFault(code: RequestErrorCode, problem: string): VarveError<RequestErrorCode> {
  return new VarveError(code, `requests: ${problem}`)
}

const CODES: ReadonlySet<string> = new Set<RequestErrorCode>([
  'EXECUTE_DEPOSIT_INVALID',
  'EXECUTE_CONTRACT_MISSING',
  'EXECUTE_CALL_FAILED',
])

/** Error codes of this module. */
export type RequestErrorCode =
  /** The deposit contract has logged an event that is not laid out as EIP-6110 says. */
  | 'EXECUTE_DEPOSIT_INVALID'
  /** The contract of a queue does not exist (EIP-7002, EIP-7251). */
  | 'EXECUTE_CONTRACT_MISSING'
  /** The call of a queue's contract failed. */
  | 'EXECUTE_CALL_FAILED'
