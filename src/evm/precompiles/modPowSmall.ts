/** Modular exponentiation of small numbers in doubles: 2 to 4 ns a bit of exponent, no allocation. */

/** Moduli are below this, so that products stay below 2^52 and doubles are exact. */
export const MODULUS_SMALL_MAX = 1n << 26n

/**
 * `base ** exponent % modulus`.
 * @param base 0 to `modulus`-1
 * @param exponent big-endian; empty is 0
 * @param modulus 1 to 2^26-1
 */
export function modPowSmall(base: number, exponent: Uint8Array, modulus: number): number {
  const reciprocal = 1 / modulus
  let result = 1 % modulus
  for (const byte of exponent)
    for (let bit = 128; bit > 0; bit >>= 1) {
      result = mulMod(result, result, modulus, reciprocal)
      if ((byte & bit) !== 0) result = mulMod(result, base, modulus, reciprocal)
    }
  return result
}

/**
 * By the reciprocal, since `%` on doubles of this size costs five times as much. With a, b < m < 2^26 the quotient is
 * wrong by less than m * 2^-52 < 1/m, so it never reaches the next integer; it can only fall short of an exact one.
 */
function mulMod(a: number, b: number, modulus: number, reciprocal: number): number {
  const product = a * b
  const rest = product - Math.floor(product * reciprocal) * modulus
  return rest >= modulus ? rest - modulus : rest
}

/** Big-endian number modulo `modulus` (1 to 2^26-1). */
export function remainderSmall(bytes: Uint8Array, modulus: number): number {
  let rest = 0
  for (const byte of bytes) rest = (rest * 256 + byte) % modulus
  return rest
}
