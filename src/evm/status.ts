/** How messages end. The numbers are those of the kernel (`assembly/evm/status.ts`); a test compares the two. */

export const Status = {
  Success: 0,
  /** REVERT: state undone, gas left goes back, output is the reason. All later ones consume the gas. */
  Revert: 1,
  OutOfGas: 2,
  StackUnderflow: 3,
  StackOverflow: 4,
  InvalidJump: 5,
  InvalidOpcode: 6,
  WriteProtection: 7,
  ReturnDataBounds: 8,
  CodeTooLarge: 9,
  CodeStartsWithEf: 10,
  InitCodeTooLarge: 11,
  /** This and the three below are refused before anything runs: the gas goes back, except for a collision. */
  NonceOverflow: 12,
  AddressCollision: 13,
  DepthExceeded: 14,
  BalanceTooLow: 15,
  CodeDepositOutOfGas: 16,
  GasOverflow: 17,
  PrecompileFailed: 18,
} as const
export type Status = (typeof Status)[keyof typeof Status]

/** Wording of geth's virtual machine, which traces and tools compare. */
export const STATUS_TEXTS: readonly string[] = [
  '',
  'execution reverted',
  'out of gas',
  'stack underflow',
  'stack limit reached 1024 (1023)',
  'invalid jump destination',
  'invalid opcode',
  'write protection',
  'return data out of bounds',
  'max code size exceeded',
  'invalid code: must not begin with 0xef',
  'max initcode size exceeded',
  'nonce uint64 overflow',
  'contract address collision',
  'max call depth exceeded',
  'insufficient balance for transfer',
  'contract creation code storage out of gas',
  'gas uint64 overflow',
  'precompile failed',
]
