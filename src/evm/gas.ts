/**
 * Gas numbers, by the name of the Yellow Paper's fee schedule (appendix G) or the EIP that set them. Those that
 * changed are lists of [since fork, gas], oldest first; `gasAt` reads one.
 */
import { Fork } from '../base/index.ts'

export type GasHistory = readonly (readonly [since: Fork, gas: number])[]

/** The gas that holds at `fork`; 0 before the first entry. */
export function gasAt(history: GasHistory, fork: Fork): number {
  let gas = 0
  for (const [since, amount] of history) if (fork >= since) gas = amount
  return gas
}

const {
  Frontier,
  TangerineWhistle,
  SpuriousDragon,
  Constantinople,
  Petersburg,
  Istanbul,
  Berlin,
  London,
  Amsterdam,
} = Fork

// Tiers of opcodes.
export const GAS_BASE = 2
export const GAS_VERY_LOW = 3
export const GAS_LOW = 5
export const GAS_MID = 8
export const GAS_HIGH = 10
export const GAS_JUMPDEST = 1
export const GAS_BLOCKHASH = 20
/** Warm access of state from EIP-2929 on. */
export const GAS_WARM = 100
export const GAS_TRANSIENT = 100

// Memory, copies, hashing, logs. The kernel has its own copies of these; a test compares them.
export const GAS_MEMORY_WORD = 3
/** Divisor of the square of the words of memory. */
export const GAS_MEMORY_SQUARE = 512
export const GAS_COPY_WORD = 3
export const GAS_KECCAK = 30
export const GAS_KECCAK_WORD = 6
export const GAS_LOG = 375
export const GAS_LOG_TOPIC = 375
export const GAS_LOG_BYTE = 8
export const GAS_EXP = 10

// Calls and creations.
export const GAS_CALL_VALUE = 9000
export const GAS_CALL_STIPEND = 2300
export const GAS_NEW_ACCOUNT = 25000
export const GAS_CREATE = 32000
export const GAS_CODE_BYTE = 200
export const GAS_INIT_CODE_WORD = 2
/** EIP-170. Init code may be twice as long (EIP-3860). */
export const CODE_BYTES_MAX = 24576
/** EIP-7954. */
export const CODE_BYTES_MAX_AMSTERDAM = 32768

// biome-ignore format: a table reads by its columns
export const GAS_HISTORIES = {
  /** EIP-150, EIP-1884, EIP-2929 (warm part). */
  sload: [[Frontier, 50], [TangerineWhistle, 200], [Istanbul, 800], [Berlin, GAS_WARM]],
  balance: [[Frontier, 20], [TangerineWhistle, 400], [Istanbul, 700], [Berlin, GAS_WARM]],
  extCode: [[Frontier, 20], [TangerineWhistle, 700], [Berlin, GAS_WARM]],
  extCodeHash: [[Constantinople, 400], [Istanbul, 700], [Berlin, GAS_WARM]],
  create: [[Frontier, GAS_CREATE], [Amsterdam, 9000]],
  call: [[Frontier, 40], [TangerineWhistle, 700], [Berlin, GAS_WARM]],
  selfDestruct: [[Frontier, 0], [TangerineWhistle, 5000]],
  /** EIP-8037 makes new accounts, slots and code a matter of state gas. */
  selfDestructNewAccount: [[TangerineWhistle, GAS_NEW_ACCOUNT], [Amsterdam, 0]],
  newAccount: [[Frontier, GAS_NEW_ACCOUNT], [Amsterdam, 0]],
  codeByte: [[Frontier, GAS_CODE_BYTE], [Amsterdam, 0]],
  /** EIP-3529 ends it. */
  selfDestructRefund: [[Frontier, 24000], [London, 0]],
  /** EIP-160. */
  expByte: [[Frontier, 10], [SpuriousDragon, 50]],
  /** EIP-2929: on top of a warm access. */
  coldAccount: [[Berlin, 2600 - GAS_WARM]],
  coldSlot: [[Berlin, 2100 - GAS_WARM]],
  /** EIP-1283, taken back in Petersburg, then EIP-2200 and EIP-2929. */
  sstoreNoop: [[Constantinople, 200], [Petersburg, 0], [Istanbul, 800], [Berlin, GAS_WARM]],
  sstoreSet: [[Frontier, 20000], [Amsterdam, 5000 - 2100]],
  sstoreReset: [[Frontier, 5000], [Berlin, 5000 - 2100]],
  /** EIP-3529: what clearing a slot gives back. */
  sstoreClearRefund: [[Frontier, 15000], [London, 4800]],
  /** Writing the original value back: 0, or another. */
  sstoreRestoreZeroRefund: [[Constantinople, 19800], [Petersburg, 0], [Istanbul, 19200], [Berlin, 19900], [Amsterdam, 2800]],
  sstoreRestoreRefund: [[Constantinople, 4800], [Petersburg, 0], [Istanbul, 4200], [Berlin, 2800]],
} as const satisfies Record<string, GasHistory>
