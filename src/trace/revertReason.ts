/**
 * The reason that Solidity encodes in the output of a revert.
 *
 *     08c379a0 ‖ word 32 ‖ word length ‖ UTF-8 bytes       Error(string)
 *     4e487b71 ‖ word code                                Panic(uint256)
 */
import { bigintFromBytes } from '../base/index.ts'

const ERROR_SELECTOR = 0x08c379a0
const PANIC_SELECTOR = 0x4e487b71
const WORD_BYTES = 32

/** Solidity's documentation, section "Panic via assert and Error via require". */
const PANICS = new Map<bigint, string>([
  [0x00n, 'generic panic'],
  [0x01n, 'assert(false)'],
  [0x11n, 'arithmetic underflow or overflow'],
  [0x12n, 'division or modulo by zero'],
  [0x21n, 'enum overflow'],
  [0x22n, 'invalid encoded storage byte array accessed'],
  [0x31n, 'out-of-bounds array access; popping on an empty array'],
  [0x32n, 'out-of-bounds access of an array or bytesN'],
  [0x41n, 'out of memory'],
  [0x51n, 'uninitialized function'],
])

/** The reason as text, or `undefined` where the output encodes none. Any bytes are allowed. */
export function revertReason(output: Uint8Array): string | undefined {
  if (output.length < 4 + WORD_BYTES) return undefined
  const selector = new DataView(output.buffer, output.byteOffset).getUint32(0)
  const data = output.subarray(4)
  if (selector === PANIC_SELECTOR) {
    const code = bigintFromBytes(data.subarray(0, WORD_BYTES))
    return PANICS.get(code) ?? `unknown panic code: 0x${code.toString(16)}`
  }
  return selector === ERROR_SELECTOR ? readString(data) : undefined
}

function readString(data: Uint8Array): string | undefined {
  const offset = bigintFromBytes(data.subarray(0, WORD_BYTES))
  if (offset + 32n > BigInt(data.length)) return undefined
  const start = Number(offset) + WORD_BYTES
  const length = bigintFromBytes(data.subarray(start - WORD_BYTES, start))
  if (length > BigInt(data.length - start)) return undefined
  return new TextDecoder().decode(data.subarray(start, start + Number(length)))
}
