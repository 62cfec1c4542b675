/** Why a frame failed, in the words of geth's virtual machine, with the details that it gives. */
import { bytesAreZero, Fork } from '../base/index.ts'
import {
  OPCODES,
  opcodeName,
  type Precompile,
  type PrecompileSet,
  precompileAt,
  STATUS_TEXTS,
  Status,
  type StepEvent,
} from '../evm/index.ts'

const SSTORE = 0x55
/** EIP-2200: with no more gas than this a store fails. */
const SSTORE_SENTRY_GAS = 2_300n
/** Precompiles have addresses of at most two bytes. */
const PRECOMPILE_PREFIX_BYTES = 18

/**
 * @param step that failed, where the failure was one of a step
 * @param fork decides which opcodes are known
 */
export function faultText(status: Status, step: StepEvent | undefined, fork: Fork): string {
  const text = STATUS_TEXTS[status]!
  if (step === undefined) return text
  if (status === Status.StackUnderflow)
    return `${text} (${step.stackSize} <=> ${OPCODES[step.opcode]?.pops ?? 0})`
  if (status === Status.InvalidOpcode) return `${text}: ${opcodeName(step.opcode, fork)}`
  const isSentry =
    status === Status.OutOfGas &&
    step.opcode === SSTORE &&
    step.gas <= SSTORE_SENTRY_GAS &&
    fork >= Fork.Istanbul
  return isSentry ? `${text}: not enough gas for reentrancy sentry` : text
}

/** Why a call of a precompile failed: it is asked again, since its frame does not say. */
export function precompileFaultText(
  address: Uint8Array,
  input: Uint8Array,
  gas: bigint,
  fork: Fork,
  set?: PrecompileSet,
): string {
  const result = precompileOf(address, fork, set)?.run(input, gas)
  if (result?.kind === 'outOfGas') return STATUS_TEXTS[Status.OutOfGas]!
  return result?.kind === 'failure' ? result.reason : STATUS_TEXTS[Status.PrecompileFailed]!
}

/** The precompile at an address of 20 bytes, or `undefined`. */
export function precompileOf(
  address: Uint8Array,
  fork: Fork,
  set?: PrecompileSet,
): Precompile | undefined {
  if (!bytesAreZero(address.subarray(0, PRECOMPILE_PREFIX_BYTES))) return undefined
  return precompileAt((address[18]! << 8) | address[19]!, fork, set)
}
