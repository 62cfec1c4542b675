/** `Math.min` and `Math.max` of bigints, which JavaScript lacks. */

export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

export function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
