/** The opcodes: name, stack needs, and the fork that brought each. Gas is in `forkTable.ts`. */
import { Fork } from '../base/index.ts'

export type Opcode = {
  readonly code: number
  readonly name: string
  /** Words taken from the stack. A DUP or SWAP takes and puts back all it reaches over. */
  readonly pops: number
  readonly pushes: number
  readonly since: Fork
}

const {
  Frontier,
  Homestead,
  Byzantium,
  Constantinople,
  Istanbul,
  London,
  Shanghai,
  Cancun,
  Osaka,
  Amsterdam,
} = Fork

// biome-ignore format: a table reads by its columns
const ROWS: readonly (readonly [number, string, number, number, Fork])[] = [
  [0x00, 'STOP', 0, 0, Frontier], [0x01, 'ADD', 2, 1, Frontier], [0x02, 'MUL', 2, 1, Frontier],
  [0x03, 'SUB', 2, 1, Frontier], [0x04, 'DIV', 2, 1, Frontier], [0x05, 'SDIV', 2, 1, Frontier],
  [0x06, 'MOD', 2, 1, Frontier], [0x07, 'SMOD', 2, 1, Frontier], [0x08, 'ADDMOD', 3, 1, Frontier],
  [0x09, 'MULMOD', 3, 1, Frontier], [0x0a, 'EXP', 2, 1, Frontier], [0x0b, 'SIGNEXTEND', 2, 1, Frontier],
  [0x10, 'LT', 2, 1, Frontier], [0x11, 'GT', 2, 1, Frontier], [0x12, 'SLT', 2, 1, Frontier],
  [0x13, 'SGT', 2, 1, Frontier], [0x14, 'EQ', 2, 1, Frontier], [0x15, 'ISZERO', 1, 1, Frontier],
  [0x16, 'AND', 2, 1, Frontier], [0x17, 'OR', 2, 1, Frontier], [0x18, 'XOR', 2, 1, Frontier],
  [0x19, 'NOT', 1, 1, Frontier], [0x1a, 'BYTE', 2, 1, Frontier], [0x1b, 'SHL', 2, 1, Constantinople],
  [0x1c, 'SHR', 2, 1, Constantinople], [0x1d, 'SAR', 2, 1, Constantinople], [0x1e, 'CLZ', 1, 1, Osaka],
  [0x20, 'KECCAK256', 2, 1, Frontier],
  [0x30, 'ADDRESS', 0, 1, Frontier], [0x31, 'BALANCE', 1, 1, Frontier], [0x32, 'ORIGIN', 0, 1, Frontier],
  [0x33, 'CALLER', 0, 1, Frontier], [0x34, 'CALLVALUE', 0, 1, Frontier], [0x35, 'CALLDATALOAD', 1, 1, Frontier],
  [0x36, 'CALLDATASIZE', 0, 1, Frontier], [0x37, 'CALLDATACOPY', 3, 0, Frontier], [0x38, 'CODESIZE', 0, 1, Frontier],
  [0x39, 'CODECOPY', 3, 0, Frontier], [0x3a, 'GASPRICE', 0, 1, Frontier], [0x3b, 'EXTCODESIZE', 1, 1, Frontier],
  [0x3c, 'EXTCODECOPY', 4, 0, Frontier], [0x3d, 'RETURNDATASIZE', 0, 1, Byzantium],
  [0x3e, 'RETURNDATACOPY', 3, 0, Byzantium], [0x3f, 'EXTCODEHASH', 1, 1, Constantinople],
  [0x40, 'BLOCKHASH', 1, 1, Frontier], [0x41, 'COINBASE', 0, 1, Frontier], [0x42, 'TIMESTAMP', 0, 1, Frontier],
  [0x43, 'NUMBER', 0, 1, Frontier], [0x44, 'DIFFICULTY', 0, 1, Frontier], [0x45, 'GASLIMIT', 0, 1, Frontier],
  [0x46, 'CHAINID', 0, 1, Istanbul], [0x47, 'SELFBALANCE', 0, 1, Istanbul], [0x48, 'BASEFEE', 0, 1, London],
  [0x49, 'BLOBHASH', 1, 1, Cancun], [0x4a, 'BLOBBASEFEE', 0, 1, Cancun],
  [0x4b, 'SLOTNUM', 0, 1, Amsterdam],
  [0x50, 'POP', 1, 0, Frontier], [0x51, 'MLOAD', 1, 1, Frontier], [0x52, 'MSTORE', 2, 0, Frontier],
  [0x53, 'MSTORE8', 2, 0, Frontier], [0x54, 'SLOAD', 1, 1, Frontier], [0x55, 'SSTORE', 2, 0, Frontier],
  [0x56, 'JUMP', 1, 0, Frontier], [0x57, 'JUMPI', 2, 0, Frontier], [0x58, 'PC', 0, 1, Frontier],
  [0x59, 'MSIZE', 0, 1, Frontier], [0x5a, 'GAS', 0, 1, Frontier], [0x5b, 'JUMPDEST', 0, 0, Frontier],
  [0x5c, 'TLOAD', 1, 1, Cancun], [0x5d, 'TSTORE', 2, 0, Cancun], [0x5e, 'MCOPY', 3, 0, Cancun],
  [0x5f, 'PUSH0', 0, 1, Shanghai],
  ...series(32, (n) => [0x5f + n, `PUSH${n}`, 0, 1, Frontier]),
  ...series(16, (n) => [0x7f + n, `DUP${n}`, n, n + 1, Frontier]),
  ...series(16, (n) => [0x8f + n, `SWAP${n}`, n + 1, n + 1, Frontier]),
  [0xa0, 'LOG0', 2, 0, Frontier], ...series(4, (n) => [0xa0 + n, `LOG${n}`, 2 + n, 0, Frontier]),
  // EIP-8024: how deep they reach is told by the byte that follows.
  [0xe6, 'DUPN', 0, 1, Amsterdam], [0xe7, 'SWAPN', 0, 0, Amsterdam], [0xe8, 'EXCHANGE', 0, 0, Amsterdam],
  [0xf0, 'CREATE', 3, 1, Frontier], [0xf1, 'CALL', 7, 1, Frontier], [0xf2, 'CALLCODE', 7, 1, Frontier],
  [0xf3, 'RETURN', 2, 0, Frontier], [0xf4, 'DELEGATECALL', 6, 1, Homestead],
  [0xf5, 'CREATE2', 4, 1, Constantinople], [0xfa, 'STATICCALL', 6, 1, Byzantium],
  [0xfd, 'REVERT', 2, 0, Byzantium], [0xff, 'SELFDESTRUCT', 1, 0, Frontier],
]

function series(
  count: number,
  row: (n: number) => readonly [number, string, number, number, Fork],
): (readonly [number, string, number, number, Fork])[] {
  return Array.from({ length: count }, (_, index) => row(index + 1))
}

/** All opcodes by their byte; `undefined` where no fork defines one. 0xfe (INVALID) is among the undefined. */
export const OPCODES: readonly (Opcode | undefined)[] = (() => {
  const byCode = new Array<Opcode | undefined>(256).fill(undefined)
  for (const [code, name, pops, pushes, since] of ROWS)
    byCode[code] = { code, name, pops, pushes, since }
  return byCode
})()

/**
 * Name of an opcode under the rules of `fork`, as EIP-3155 traces print it: PREVRANDAO is the later name of
 * DIFFICULTY, and an undefined byte is named by its number.
 */
export function opcodeName(code: number, fork: Fork): string {
  if (code === 0x44 && fork >= Fork.Paris) return 'PREVRANDAO'
  if (code === 0xfe) return 'INVALID'
  const opcode = OPCODES[code]
  if (opcode === undefined || opcode.since > fork)
    return `opcode 0x${code.toString(16)} not defined`
  return opcode.name
}
