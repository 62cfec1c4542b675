/**
 * The rules of each fork as the kernel reads them: static gas and stack needs a opcode, and a list of parameters.
 *
 *     u16[256] gas │ u8[256] words needed (255: undefined) │ u8[256] words of growth │ u32[] parameters
 */
import { Fork } from '../base/index.ts'
import {
  CODE_BYTES_MAX,
  CODE_BYTES_MAX_AMSTERDAM,
  GAS_BASE,
  GAS_BLOCKHASH,
  GAS_EXP,
  GAS_HIGH,
  GAS_HISTORIES,
  GAS_JUMPDEST,
  GAS_KECCAK,
  GAS_LOG,
  GAS_LOG_TOPIC,
  GAS_LOW,
  GAS_MID,
  GAS_TRANSIENT,
  GAS_VERY_LOW,
  GAS_WARM,
  gasAt,
} from './gas.ts'
import { OPCODES } from './opcodes.ts'
import { IDENTITY_PRICE } from './precompiles/gas.ts'
import { type PrecompileSet, precompileAddresses } from './precompiles/index.ts'

/** Names of the parameters in their order; `assembly/evm/rules.ts` numbers them the same way. */
export const RULE_PARAMETERS = [
  'FORK',
  'COLD_ACCOUNT',
  'COLD_SLOT',
  'WARM',
  'KEEP_64TH',
  'EMPTY_VANISH',
  'DEPOSIT_MUST_PAY',
  'CODE_MAX',
  'INIT_CODE_MAX',
  'REFUSE_EF',
  'DESTRUCT_ONLY_NEW',
  'DELEGATION',
  'EXP_BYTE',
  'DESTRUCT_NEW_ACCOUNT',
  'DESTRUCT_REFUND',
  'SSTORE_NET',
  'SSTORE_STIPEND',
  'SSTORE_NOOP',
  'SSTORE_SET',
  'SSTORE_RESET',
  'SSTORE_CLEAR_REFUND',
  'SSTORE_RESTORE_ZERO_REFUND',
  'SSTORE_RESTORE_REFUND',
  'PRECOMPILES',
  'PRECOMPILE_256',
  'IDENTITY',
  'IDENTITY_WORD',
  'NEW_ACCOUNT',
  'CODE_BYTE',
  'TRANSFER_LOGS',
] as const
export type RuleParameter = (typeof RULE_PARAMETERS)[number]

const GAS_OFFSET = 0
const NEED_OFFSET = 512
const GROW_OFFSET = 768
const PARAMETER_OFFSET = 1024
/** Words needed by an opcode that the fork does not define. */
const UNDEFINED_NEED = 255

/** Static gas of an opcode: all that does not depend on its operands or the state. */
export function staticGas(code: number, fork: Fork): number {
  if (code >= 0x60 && code <= 0x9f) return GAS_VERY_LOW
  if (code >= 0xa0 && code <= 0xa4) return GAS_LOG + GAS_LOG_TOPIC * (code - 0xa0)
  const history = HISTORY_OF.get(code)
  if (history !== undefined) return gasAt(GAS_HISTORIES[history], fork)
  return CONSTANT_GAS.get(code) ?? GAS_VERY_LOW
}

const HISTORY_OF = new Map<number, keyof typeof GAS_HISTORIES>([
  [0x31, 'balance'],
  [0x3b, 'extCode'],
  [0x3c, 'extCode'],
  [0x3f, 'extCodeHash'],
  [0x54, 'sload'],
  [0xf0, 'create'],
  [0xf5, 'create'],
  [0xf1, 'call'],
  [0xf2, 'call'],
  [0xf4, 'call'],
  [0xfa, 'call'],
  [0xff, 'selfDestruct'],
])

/** Opcodes that do not cost 3. */
const CONSTANT_GAS = new Map<number, number>([
  // Free of static gas: STOP, SSTORE (all dynamic), RETURN, REVERT.
  ...each([0x00, 0x55, 0xf3, 0xfd], 0),
  ...each([0x5b], GAS_JUMPDEST),
  ...each([0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d], GAS_BASE),
  ...each([0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x48, 0x4a, 0x4b], GAS_BASE),
  ...each([0x50, 0x58, 0x59, 0x5a, 0x5f], GAS_BASE),
  ...each([0x02, 0x04, 0x05, 0x06, 0x07, 0x0b, 0x1e, 0x47], GAS_LOW),
  ...each([0x08, 0x09, 0x56], GAS_MID),
  ...each([0x57], GAS_HIGH),
  ...each([0x0a], GAS_EXP),
  ...each([0x20], GAS_KECCAK),
  ...each([0x40], GAS_BLOCKHASH),
  ...each([0x5c, 0x5d], GAS_TRANSIENT),
])

function each(codes: readonly number[], gas: number): [number, number][] {
  return codes.map((code) => [code, gas])
}

/** All parameters at a fork. */
export function ruleParameters(fork: Fork, set?: PrecompileSet): Record<RuleParameter, number> {
  const since = (first: Fork, value = 1): number => (fork >= first ? value : 0)
  const gas = (name: keyof typeof GAS_HISTORIES): number => gasAt(GAS_HISTORIES[name], fork)
  const precompiles = precompileAddresses(fork, set)
  const codeMax = fork >= Fork.Amsterdam ? CODE_BYTES_MAX_AMSTERDAM : CODE_BYTES_MAX
  const isNet = fork === Fork.Constantinople || fork >= Fork.Istanbul
  return {
    FORK: fork,
    COLD_ACCOUNT: gas('coldAccount'),
    COLD_SLOT: gas('coldSlot'),
    WARM: since(Fork.Berlin, GAS_WARM),
    KEEP_64TH: since(Fork.TangerineWhistle),
    EMPTY_VANISH: since(Fork.SpuriousDragon),
    DEPOSIT_MUST_PAY: since(Fork.Homestead),
    CODE_MAX: since(Fork.SpuriousDragon, codeMax),
    INIT_CODE_MAX: since(Fork.Shanghai, 2 * codeMax),
    REFUSE_EF: since(Fork.London),
    DESTRUCT_ONLY_NEW: since(Fork.Cancun),
    DELEGATION: since(Fork.Prague),
    EXP_BYTE: gas('expByte'),
    DESTRUCT_NEW_ACCOUNT: gas('selfDestructNewAccount'),
    DESTRUCT_REFUND: gas('selfDestructRefund'),
    SSTORE_NET: isNet ? 1 : 0,
    // EIP-2200: fails with 2300 gas or less.
    SSTORE_STIPEND: since(Fork.Istanbul, 2301),
    SSTORE_NOOP: gas('sstoreNoop'),
    SSTORE_SET: gas('sstoreSet'),
    SSTORE_RESET: gas('sstoreReset'),
    SSTORE_CLEAR_REFUND: gas('sstoreClearRefund'),
    SSTORE_RESTORE_ZERO_REFUND: gas('sstoreRestoreZeroRefund'),
    SSTORE_RESTORE_REFUND: gas('sstoreRestoreRefund'),
    PRECOMPILES: precompiles.reduce((bits, at) => (at < 32 ? bits | (1 << at) : bits), 0),
    PRECOMPILE_256: precompiles.includes(0x100) ? 1 : 0,
    IDENTITY: IDENTITY_PRICE.base,
    IDENTITY_WORD: IDENTITY_PRICE.word,
    NEW_ACCOUNT: gas('newAccount'),
    CODE_BYTE: gas('codeByte'),
    TRANSFER_LOGS: since(Fork.Amsterdam),
  }
}

/** The whole table, ready to be copied to the kernel's memory. Made once a fork and set; never write to it. */
export function forkTable(fork: Fork, set: PrecompileSet = 'final'): Uint8Array {
  let table = tables[set].get(fork)
  if (table === undefined) {
    table = makeTable(fork, set)
    tables[set].set(fork, table)
  }
  return table
}

const tables: Readonly<Record<PrecompileSet, Map<Fork, Uint8Array>>> = {
  final: new Map(),
  'eip2537-april-2024': new Map(),
}

function makeTable(fork: Fork, set: PrecompileSet): Uint8Array {
  const table = new Uint8Array(PARAMETER_OFFSET + 4 * RULE_PARAMETERS.length)
  const view = new DataView(table.buffer)
  table.fill(UNDEFINED_NEED, NEED_OFFSET, GROW_OFFSET)
  for (const opcode of OPCODES) {
    if (opcode === undefined || opcode.since > fork) continue
    const { code, pops, pushes } = opcode
    view.setUint16(GAS_OFFSET + 2 * code, staticGas(code, fork), true)
    table[NEED_OFFSET + code] = pops
    table[GROW_OFFSET + code] = Math.max(0, pushes - pops)
  }
  const values = ruleParameters(fork, set)
  RULE_PARAMETERS.forEach((name, index) => {
    view.setUint32(PARAMETER_OFFSET + 4 * index, values[name], true)
  })
  return table
}
