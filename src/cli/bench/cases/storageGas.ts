/** Gas of the programs of storage cases in Prague, by which they prove what ran. */

/** A first load in a transaction, and each after it (EIP-2929). */
export const COLD_LOAD = 2100
export const WARM = 100
/** A first change of a cold cell that holds something, and of one that holds nothing (EIP-2200, EIP-2929). */
export const COLD_RESET = 5000
export const COLD_SET = 22_100

/** Puts the stack's top out as 32 bytes. */
export const RETURN_TOP = '0 MSTORE 32 0 RETURN'

const PRICES: Readonly<Record<string, number>> = {
  0: 2,
  POP: 2,
  GAS: 2,
  JUMPI: 10,
  MUL: 5,
  STOP: 0,
  RETURN: 0,
  // By what they touch.
  SLOAD: 0,
  SSTORE: 0,
  // With the first word of memory.
  MSTORE: 6,
}

/** Gas of a text's words but for its storage, each run once. What is not priced above costs 3; places of jumps 1. */
export function staticGas(text: string): number {
  const words = text.split(/\s+/).filter(Boolean)
  return words.reduce((sum, word) => sum + (word.endsWith(':') ? 1 : (PRICES[word] ?? 3)), 0)
}
