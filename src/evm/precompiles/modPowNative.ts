/**
 * Modular exponentiation by OpenSSL, whose only door in Node is Diffie-Hellman: "the secret shared with the public
 * key `base`" is `base ** private % prime`, and nobody checks that the prime is one.
 *
 * The door has limits. It takes 512 to 10,000 bits, odd; it refuses the public keys 0, 1 and p-1; it rejects the
 * secrets 0, 1 and p-1; and where OpenSSL fails, Node may hand out bytes that were never written. So we raise
 * modulo `modulus * check * filler` in its place and reduce afterwards:
 *
 * - `check` is a small safe prime, and the base's residue there is chosen so that its power is none of 0, 1, -1;
 *   then neither the base nor the secret is one of the refused numbers, whatever they are modulo `modulus`.
 * - The power modulo `check` is also computed in doubles. An answer that disagrees is dropped, so unwritten bytes
 *   cannot become a result.
 * - `filler` is 2^n + 1 with odd n: it brings small moduli to 512 bits, and being divisible by 3 it ends OpenSSL's
 *   test for a prime at the first trial division, which otherwise costs as much as the exponentiation.
 */
import { createDiffieHellman } from 'node:crypto'
import { modPowSmall, remainderSmall } from './modPowSmall.ts'

const PRODUCT_BITS_MIN = 512
const PRODUCT_BITS_MAX = 10_000
/** The largest safe primes below 2^26: powers other than +-1 have an order above 2^24. */
const CHECK_PRIMES: readonly number[] = [67_108_187, 67_107_983, 67_107_539]
const GENERATOR = Uint8Array.of(2)

/**
 * `base ** exponent % modulus`, or `undefined` where OpenSSL cannot serve: the caller falls back.
 * @param base 2 to `modulus`-1
 * @param exponent big-endian, not 0
 * @param modulus odd, at least 3
 * Cost: 20 to 40 µs and 0.1 µs a bit of exponent at 512 bits, 0.3 at 1024, 1.2 at 2048.
 */
export function modPowNative(
  base: bigint,
  exponent: Uint8Array,
  modulus: bigint,
): bigint | undefined {
  for (const check of CHECK_PRIMES) {
    const lifted = liftBase(base, exponent, modulus, check)
    if (lifted === undefined) continue
    const product = fill(modulus * BigInt(check))
    const power = product === undefined ? undefined : raise(lifted.base, exponent, product)
    if (power === undefined || Number(power % BigInt(check)) !== lifted.power) return undefined
    return power % modulus
  }
  return undefined
}

/** A number equal to `base` modulo `modulus` whose power modulo `check` is none of 0, 1, -1; and that power. */
function liftBase(
  base: bigint,
  exponent: Uint8Array,
  modulus: bigint,
  check: number,
): { base: bigint; power: number } | undefined {
  const exponentRest = remainderSmall(exponent, check - 1)
  const digits = Uint8Array.of(
    exponentRest >>> 24,
    exponentRest >>> 16,
    exponentRest >>> 8,
    exponentRest,
  )
  let candidate = base
  for (let attempt = 0; attempt < 3; attempt++, candidate += modulus) {
    const residue = Number(candidate % BigInt(check))
    if (residue === 0) continue
    const power = modPowSmall(residue, digits, check)
    if (power !== 1 && power !== check - 1) return { base: candidate, power }
  }
  return undefined
}

/** Times 2^n + 1 with the least odd n that reaches OpenSSL's smallest size; `undefined` above its largest. */
function fill(product: bigint): bigint | undefined {
  const bits = product.toString(16).length * 4
  const wanted = Math.max(1, PRODUCT_BITS_MIN + 4 - bits)
  const shift = wanted | 1
  if (bits + shift + 1 > PRODUCT_BITS_MAX) return undefined
  return (product << BigInt(shift)) + product
}

function raise(base: bigint, exponent: Uint8Array, product: bigint): bigint | undefined {
  try {
    const exchange = createDiffieHellman(toBytes(product), GENERATOR)
    exchange.setPrivateKey(exponent)
    const secret = exchange.computeSecret(toBytes(base))
    return BigInt(`0x${secret.toString('hex')}`)
  } catch {
    return undefined
  }
}

function toBytes(value: bigint): Buffer {
  const text = value.toString(16)
  return Buffer.from(text.length % 2 === 0 ? text : `0${text}`, 'hex')
}
