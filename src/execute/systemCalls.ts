/**
 * Calls that the protocol itself makes at the ends of a block: EIP-4788, EIP-2935 before the transactions, EIP-7002
 * and EIP-7251 after them. Each is a transaction without fee, nonce or place in the block.
 */
import { Fork, fromBareHex } from '../base/index.ts'
import type { Machine, Status } from '../evm/index.ts'

/** Who calls (EIP-4788). */
export const SYSTEM_ADDRESS = fromBareHex('fffffffffffffffffffffffffffffffffffffffe')
/** Keeps roots of beacon blocks (EIP-4788). */
export const BEACON_ROOTS_ADDRESS = fromBareHex('000f3df6d732807ef1319fb7b8bb8522d0beac02')
/** Keeps hashes of blocks (EIP-2935). */
export const HISTORY_STORAGE_ADDRESS = fromBareHex('0000f90827f1c53a10cb7a02335b175320002935')
/** Queues withdrawal requests (EIP-7002). */
export const WITHDRAWAL_REQUESTS_ADDRESS = fromBareHex('00000961ef480eb55e80d19ad83579a64c007002')
/** Queues consolidation requests (EIP-7251). */
export const CONSOLIDATION_REQUESTS_ADDRESS = fromBareHex(
  '0000bbddc7ce488642fb579f8b00f3a590007251',
)

/** Gas of a system call; none of the block's. */
const SYSTEM_CALL_GAS = 30_000_000n

export type SystemCallResult = {
  /** False where there is no contract: the call has done nothing. */
  readonly hasCode: boolean
  readonly status: Status
  /** Fresh bytes. */
  readonly output: Uint8Array
}

/** What the contracts are told before a block's transactions; `undefined` for what nobody knows. */
export type BlockOpening = {
  /** 32 bytes; from Cancun on. */
  readonly parentBeaconBlockRoot: Uint8Array | undefined
  /** 32 bytes; from Prague on. */
  readonly parentHash: Uint8Array | undefined
}

/**
 * Makes one system call. The machine has begun the block and no transaction runs.
 * @throws what the host throws
 */
export function callSystemContract(
  machine: Machine,
  target: Uint8Array,
  input: Uint8Array,
): SystemCallResult {
  machine.beginTransaction({ origin: SYSTEM_ADDRESS, gasPrice: 0n })
  machine.warmAddress(target)
  const hasCode = machine.getCodeSize(target) > 0
  const { status, output } = machine.call({
    caller: SYSTEM_ADDRESS,
    target,
    input,
    value: 0n,
    gas: SYSTEM_CALL_GAS,
  })
  machine.finishTransaction()
  return { hasCode, status, output }
}

/** The calls before a block's transactions. A contract that is missing or fails changes nothing, and is no fault. */
export function openBlock(machine: Machine, fork: Fork, opening: BlockOpening): void {
  const { parentBeaconBlockRoot, parentHash } = opening
  if (fork >= Fork.Cancun && parentBeaconBlockRoot !== undefined)
    callSystemContract(machine, BEACON_ROOTS_ADDRESS, parentBeaconBlockRoot)
  if (fork >= Fork.Prague && parentHash !== undefined)
    callSystemContract(machine, HISTORY_STORAGE_ADDRESS, parentHash)
}
