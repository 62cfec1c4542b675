/** How traces write numbers and addresses. */
import { toHex } from '../base/index.ts'

/** `0x` and the fewest digits; `0x0` for zero. */
export function quantity(value: bigint | number): string {
  return `0x${value.toString(16)}`
}

/** `0x` and 40 digits in lower case. */
export function addressText(address: Uint8Array): string {
  return toHex(address)
}

/** `0x` and 64 digits. */
export function wordText(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`
}
