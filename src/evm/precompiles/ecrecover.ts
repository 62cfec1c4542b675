/**
 * ecrecover (0x01): the address that signed a hash. Yellow Paper, appendix E.1.
 *
 *     0      32     64     96     128
 *     | hash | v    | r    | s    |      v is 27 or 28 as a word, zeros past the end
 */
import { EMPTY_BYTES, fromBareHex } from '../../base/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import { isBelow, isZero, readPadded } from './input.ts'
import { publicKeyRecovery } from './secp256k1.ts'

const INPUT_BYTES = 128
const V_OFFSET = 63
/** Order of the group of secp256k1 (SEC 2). */
const GROUP_ORDER = fromBareHex('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141')

/** The address in 32 bytes, or nothing where no key could have signed: never a failure. s may be high. */
export function ecrecover(input: Uint8Array): Uint8Array {
  const bytes = readPadded(input, 0, INPUT_BYTES)
  const v = bytes[V_OFFSET]!
  if ((v !== 27 && v !== 28) || !isZero(bytes, 32, 31)) return EMPTY_BYTES
  if (!isScalar(bytes, 64) || !isScalar(bytes, 96)) return EMPTY_BYTES
  const parity = v === 27 ? 0 : 1
  const key = publicKeyRecovery()(bytes.subarray(0, 32), bytes.subarray(64, 128), parity)
  if (key === undefined) return EMPTY_BYTES
  const word = keccak256(key.subarray(1))
  word.fill(0, 0, 12)
  return word
}

/** 1 to n-1. */
function isScalar(bytes: Uint8Array, offset: number): boolean {
  return isBelow(bytes, offset, GROUP_ORDER) && !isZero(bytes, offset, 32)
}
