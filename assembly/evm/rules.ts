/** The rules of the fork: numbers that `src/evm/forkTable.ts` writes once and the loader uploads. */
import { RULES_PARAMETERS } from './layout'

// Indices of the parameters. `src/evm/forkTable.ts` has the same list; a test compares them.
export const P_FORK: usize = 0
/** 0: before EIP-2929. Else the gas a cold account costs on top of a warm one. */
export const P_COLD_ACCOUNT: usize = 1
export const P_COLD_SLOT: usize = 2
/** Gas of a warm access after EIP-2929. */
export const P_WARM: usize = 3
/** 1: EIP-150's all but one 64th. */
export const P_KEEP_64TH: usize = 4
/** 1: EIP-161, empty accounts vanish, contracts start with nonce 1. */
export const P_EMPTY_VANISH: usize = 5
/** 1: a deposit without gas fails the creation (EIP-2). */
export const P_DEPOSIT_MUST_PAY: usize = 6
/** Bytes of a contract's code, 0: no limit (EIP-170). */
export const P_CODE_MAX: usize = 7
/** Bytes of init code, 0: no limit and no gas a word (EIP-3860). */
export const P_INIT_CODE_MAX: usize = 8
/** 1: code may not start with 0xEF (EIP-3541). */
export const P_REFUSE_EF: usize = 9
/** 1: SELFDESTRUCT deletes only what the same transaction created (EIP-6780). */
export const P_DESTRUCT_ONLY_NEW: usize = 10
/** 1: delegated code (EIP-7702). */
export const P_DELEGATION: usize = 11
export const P_EXP_BYTE: usize = 12
/** Gas SELFDESTRUCT pays to bring an account to life (0 before EIP-150). */
export const P_DESTRUCT_NEW_ACCOUNT: usize = 13
export const P_DESTRUCT_REFUND: usize = 14
/** 1: net metering of SSTORE (EIP-1283, EIP-2200 and later), 0: by current and new value alone. */
export const P_SSTORE_NET: usize = 15
/** Gas left at or below which SSTORE fails, plus 1; 0: no such rule (EIP-2200). */
export const P_SSTORE_STIPEND: usize = 16
export const P_SSTORE_NOOP: usize = 17
export const P_SSTORE_SET: usize = 18
export const P_SSTORE_RESET: usize = 19
export const P_SSTORE_CLEAR_REFUND: usize = 20
export const P_SSTORE_RESTORE_ZERO_REFUND: usize = 21
export const P_SSTORE_RESTORE_REFUND: usize = 22
/** Bit n: the address n is a precompile, for 1 to 31. */
export const P_PRECOMPILES: usize = 23
/** 1: address 0x100 is the precompile of EIP-7951. */
export const P_PRECOMPILE_256: usize = 24
/** Gas of the precompile 0x04, the identity: of a call, and of each started word. */
export const P_IDENTITY: usize = 25
export const P_IDENTITY_WORD: usize = 26

/** Gas of CALL with value, or CALL at all before EIP-161, that brings an account to life; 0 where it is state gas. */
export const P_NEW_ACCOUNT: usize = 27
/** Gas of a byte of deployed code; 0 where it is state gas, and its words pay for their hash. */
export const P_CODE_BYTE: usize = 28
/** 1: moves of wei are logged (EIP-7708). */
export const P_TRANSFER_LOGS: usize = 29

// @ts-ignore: decorator
@inline
export function parameter(index: usize): i64 {
  return i64(load<u32>(RULES_PARAMETERS + (index << 2)))
}

// Gas that no fork has changed. `src/evm/gas.ts` has the same numbers, and a test compares them.
export const GAS_MEMORY_WORD: u64 = 3
export const GAS_MEMORY_SQUARE: u64 = 512
export const GAS_COPY_WORD: i64 = 3
export const GAS_KECCAK_WORD: i64 = 6
export const GAS_LOG_TOPIC: i64 = 375
export const GAS_LOG_BYTE: i64 = 8
export const GAS_CALL_VALUE: i64 = 9000
export const GAS_CALL_STIPEND: i64 = 2300
export const GAS_INIT_CODE_WORD: i64 = 2
