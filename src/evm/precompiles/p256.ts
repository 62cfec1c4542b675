/** P256VERIFY (0x100): EIP-7951. */
import { EMPTY_BYTES } from '../../base/index.ts'
import {
  P256_FIELD_MODULUS,
  P256_GROUP_ORDER,
  P256_INPUT_BYTES,
  R_OFFSET,
  S_OFFSET,
  X_OFFSET,
  Y_OFFSET,
} from './curves/p256Engine.ts'
import { p256Slot } from './engines.ts'
import { isBelow, isZero, wordOf } from './input.ts'

/** The word 1 where the signature holds, else nothing: never a failure. s may be high. */
export function p256Verify(input: Uint8Array): Uint8Array {
  const isValid = areOperandsValid(input) && p256Slot.call((engine) => engine.verify(input))
  return isValid ? wordOf(true) : EMPTY_BYTES
}

function areOperandsValid(input: Uint8Array): boolean {
  return (
    input.length === P256_INPUT_BYTES &&
    isScalar(input, R_OFFSET) &&
    isScalar(input, S_OFFSET) &&
    isBelow(input, X_OFFSET, P256_FIELD_MODULUS) &&
    isBelow(input, Y_OFFSET, P256_FIELD_MODULUS) &&
    !isZero(input, X_OFFSET, 64)
  )
}

/** 1 to n-1. */
function isScalar(input: Uint8Array, offset: number): boolean {
  return isBelow(input, offset, P256_GROUP_ORDER) && !isZero(input, offset, 32)
}
