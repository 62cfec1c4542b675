/** Hexadecimal text and the two forms of JSON-RPC: DATA (`0x` and byte pairs) and QUANTITY (no leading zeros). */
import { VarveError } from './errors.ts'

/** Text that starts with `0x`, as in the public interface and in JSON. */
export type Hex = `0x${string}`

const BYTE_TEXT: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
)

/** Value of each ASCII hex digit, -1 for any other code below 128. */
const DIGIT_VALUE = new Int8Array(128).fill(-1)
for (let digit = 0; digit < 16; digit++) {
  DIGIT_VALUE[digit.toString(16).charCodeAt(0)] = digit
  DIGIT_VALUE[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}

/** Lower-case DATA: `0x` and two digits a byte. */
export function toHex(bytes: Uint8Array): Hex {
  return `0x${toBareHex(bytes)}`
}

/** Two lower-case digits a byte, without prefix. Serves as a key of a `Map`. */
export function toBareHex(bytes: Uint8Array): string {
  let text = ''
  for (let index = 0; index < bytes.length; index++) text += BYTE_TEXT[bytes[index]!]
  return text
}

/**
 * Reads DATA: `0x` and an even number of digits of either case.
 * @throws VarveError HEX_INVALID naming the position of the first wrong character
 */
export function fromHex(text: string): Uint8Array {
  if (!text.startsWith('0x')) throw hexFault(text, 0, 'expected the prefix 0x')
  return fromBareHex(text, 2)
}

/** Reads byte pairs from `start` on. @throws VarveError HEX_INVALID */
export function fromBareHex(text: string, start = 0): Uint8Array {
  const digitCount = text.length - start
  if (digitCount % 2 !== 0) throw hexFault(text, text.length, 'expected an even number of digits')
  const bytes = new Uint8Array(digitCount / 2)
  for (let index = 0, at = start; index < bytes.length; index++, at += 2) {
    const high = digitValue(text, at)
    const low = digitValue(text, at + 1)
    bytes[index] = (high << 4) | low
  }
  return bytes
}

/** QUANTITY: `0x0`, else no leading zero. */
export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}

function digitValue(text: string, at: number): number {
  const code = text.charCodeAt(at)
  const value = code < 128 ? DIGIT_VALUE[code]! : -1
  if (value < 0) throw hexFault(text, at, 'expected a hex digit')
  return value
}

function hexFault(text: string, position: number, problem: string): VarveError<HexErrorCode> {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text
  return new VarveError('HEX_INVALID', `hex text "${shown}": ${problem} at character ${position}`, {
    position,
  })
}

/** Error codes of this module. */
export type HexErrorCode =
  /** Text that should be hexadecimal is not. */
  'HEX_INVALID'
