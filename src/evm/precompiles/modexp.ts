/** modexp (0x05): reads the operands that the header declares and raises. Arithmetic: `modPow.ts`. */
import { bigintFromBytes, EMPTY_BYTES } from '../../base/index.ts'
import { readPadded } from './input.ts'
import { MODEXP_HEADER_BYTES, readModexpLengths } from './modexpGas.ts'
import { modPow } from './modPow.ts'
import { failure, type PrecompileFailure } from './precompile.ts'

/** Longest operand from Osaka on (EIP-7823). */
const OPERAND_BYTES_MAX_OSAKA = 1024n
/**
 * Longest operand before Osaka that we compute. The protocol's only bound there is gas: the cheapest call with a
 * longer operand (one byte of modulus, a huge exponent) costs 27 million gas under EIP-198 and 179 million under
 * EIP-2565, and a longer modulus costs above 10^13; no block had room for them.
 */
const OPERAND_BYTES_MAX_EARLIER = 64n * 1024n * 1024n

const OPERAND_TOO_LONG_OSAKA = failure(
  'one or more of base/exponent/modulus length exceeded 1024 bytes',
)
const OPERAND_TOO_LONG_EARLIER = failure('modexp operand above 64 MiB')

/** EIP-198: `base ** exponent % modulus`, as wide as the modulus was declared; modulus 0 gives 0. */
export function modexp(input: Uint8Array): Uint8Array | PrecompileFailure {
  return raise(input, OPERAND_BYTES_MAX_EARLIER, OPERAND_TOO_LONG_EARLIER)
}

/** The same with the input limit of EIP-7823, which is checked before all else. */
export function modexpOsaka(input: Uint8Array): Uint8Array | PrecompileFailure {
  return raise(input, OPERAND_BYTES_MAX_OSAKA, OPERAND_TOO_LONG_OSAKA)
}

function raise(
  input: Uint8Array,
  operandBytesMax: bigint,
  tooLong: PrecompileFailure,
): Uint8Array | PrecompileFailure {
  const lengths = readModexpLengths(input)
  const isOsaka = tooLong === OPERAND_TOO_LONG_OSAKA
  // Before Osaka this case is free whatever the exponent's length, so it must not meet our own limit.
  if (!isOsaka && lengths.base === 0n && lengths.modulus === 0n) return EMPTY_BYTES
  if (
    lengths.base > operandBytesMax ||
    lengths.exponent > operandBytesMax ||
    lengths.modulus > operandBytesMax
  )
    return tooLong
  const modulusBytes = Number(lengths.modulus)
  if (modulusBytes === 0) return EMPTY_BYTES
  const exponentOffset = MODEXP_HEADER_BYTES + Number(lengths.base)
  const modulusOffset = exponentOffset + Number(lengths.exponent)
  const modulus = toBigint(readPadded(input, modulusOffset, modulusBytes))
  const base = toBigint(readPadded(input, MODEXP_HEADER_BYTES, Number(lengths.base)))
  const exponent = readPadded(input, exponentOffset, Number(lengths.exponent))
  return toBytes(modPow(base, exponent, modulus), modulusBytes)
}

/** Through hex text, which V8 parses in linear time; shifting words in is quadratic. */
function toBigint(bytes: Uint8Array): bigint {
  if (bytes.length <= 32) return bigintFromBytes(bytes)
  return BigInt(`0x${viewBuffer(bytes).toString('hex')}`)
}

function toBytes(value: bigint, width: number): Uint8Array {
  const bytes = new Uint8Array(width)
  if (value === 0n) return bytes
  const text = value.toString(16)
  const digits = text.length % 2 === 0 ? text : `0${text}`
  viewBuffer(bytes).write(digits, width - digits.length / 2, 'hex')
  return bytes
}

function viewBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
