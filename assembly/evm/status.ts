/**
 * How a message ended, and the faults of the kernel itself. `src/evm/status.ts` names the same numbers, and a test
 * compares the two.
 */
export const SUCCESS: i32 = 0
export const REVERT: i32 = 1
export const OUT_OF_GAS: i32 = 2
export const STACK_UNDERFLOW: i32 = 3
export const STACK_OVERFLOW: i32 = 4
export const INVALID_JUMP: i32 = 5
export const INVALID_OPCODE: i32 = 6
export const WRITE_PROTECTION: i32 = 7
export const RETURN_DATA_BOUNDS: i32 = 8
export const CODE_TOO_LARGE: i32 = 9
export const CODE_STARTS_WITH_EF: i32 = 10
export const INIT_CODE_TOO_LARGE: i32 = 11
export const NONCE_OVERFLOW: i32 = 12
export const ADDRESS_COLLISION: i32 = 13
export const DEPTH_EXCEEDED: i32 = 14
export const BALANCE_TOO_LOW: i32 = 15
export const CODE_DEPOSIT_OUT_OF_GAS: i32 = 16
export const GAS_OVERFLOW: i32 = 17
export const PRECOMPILE_FAILED: i32 = 18
/** Not an end: the loop goes on in another frame. */
export const SWITCH_FRAME: i32 = 32

/** Not an end: the frame has jumped so often that the fast engine should go on. */
export const HOT: i32 = 33

/** The memory cannot grow, or a structure is at its limit. */
export const FAULT_MEMORY: i32 = 1
/** A rule of the kernel's own was broken; a bug. */
export const FAULT_BUG: i32 = 2

/** Why the kernel trapped, for the loader to read. */
export let fault: i32 = 0

/** Ends execution by a trap that the loader turns into a typed error. */
export function fail(code: i32): void {
  fault = code
  unreachable()
}

export function takeFault(): i32 {
  const code = fault
  fault = 0
  return code
}
