/** Operands of DUPN, SWAPN and EXCHANGE (EIP-8024): no byte that would be a JUMPDEST or a PUSH is one. */

/** The byte is no operand. */
export const DEEP_INVALID: usize = 0

/** Depth that a DUPN or SWAPN reaches, 17 to 235. */
export function deepSingle(operand: u8): usize {
  if (operand > 90 && operand < 128) return DEEP_INVALID
  return (usize(operand) + 145) & 0xff
}

/** The upper of the two words that EXCHANGE swaps, counted from 0 at the top. The operand is valid. */
export function pairUpper(operand: u8): usize {
  const row = (usize(operand) ^ 143) >> 4
  const column = (usize(operand) ^ 143) & 15
  return row < column ? row + 1 : column + 1
}

/** The lower of the two. */
export function pairLower(operand: u8): usize {
  if (operand > 81 && operand < 128) return DEEP_INVALID
  const row = (usize(operand) ^ 143) >> 4
  const column = (usize(operand) ^ 143) & 15
  return row < column ? column + 1 : 29 - row
}
