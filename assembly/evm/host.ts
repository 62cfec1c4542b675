import { M_TRACE_GAS } from './layout'

/** What the kernel asks of TypeScript. Numbers are addresses in the kernel's memory; answers are written there. */

/** Fills nonce, balance and code hash of the account at `record`; 0 where it does not exist. */
// @ts-ignore: decorator
@external("host", "loadAccount")
export declare function hostLoadAccount(record: usize): i32

/** 1 where the account has storage before this block. */
// @ts-ignore: decorator
@external("host", "hasStorage")
export declare function hostHasStorage(record: usize): i32

/** Opens the storage of account `owner`, whose record is at `record`, for `hostLoadSlot`; 0 where it has no slots. */
// @ts-ignore: decorator
@external("host", "openStorage")
export declare function hostOpenStorage(owner: u32, record: usize): i32

/** Writes the value of the slot with the key at `key` of account `owner`, which is open, to `to`, as a word. */
// @ts-ignore: decorator
@external("host", "loadSlot")
export declare function hostLoadSlot(owner: u32, key: usize, to: usize): void

/** Puts the code with the 32-byte hash at `hash` in a block taken with `codeBlock`, and returns that block. */
// @ts-ignore: decorator
@external("host", "loadCode")
export declare function hostLoadCode(hash: usize): usize

/** Writes the hash of the block whose number is the word at `number` to `to`, as a word; 0 where unknown. */
// @ts-ignore: decorator
@external("host", "blockHash")
export declare function hostBlockHash(number: usize, to: usize): void

/**
 * Runs a precompile on the input; gas is in the mailbox. The output goes to a place taken with `returnDataSpace`.
 * 0 where it failed.
 */
// @ts-ignore: decorator
@external("host", "precompile")
export declare function hostPrecompile(id: u32, input: usize, size: u32): i32

// The baseline arm of storage, for comparison: values as trimmed bytes on the host's side (`trimmedStorage.ts`).

/** Writes the slot's value as a word to `to`. */
// @ts-ignore: decorator
@external("host", "trimmedLoad")
export declare function hostTrimmedLoad(slot: u32, to: usize): void

/** Writes the value the slot had at the start of the transaction as a word to `to`. */
// @ts-ignore: decorator
@external("host", "trimmedOriginal")
export declare function hostTrimmedOriginal(slot: u32, to: usize): void

/** Takes the word at `from` as the slot's value. */
// @ts-ignore: decorator
@external("host", "trimmedStore")
export declare function hostTrimmedStore(slot: u32, from: usize): void

/** Takes the newest store back. */
// @ts-ignore: decorator
@external("host", "trimmedUndo")
export declare function hostTrimmedUndo(slot: u32): void

/** The slot's value is what its record says: its account's storage was cleared. */
// @ts-ignore: decorator
@external("host", "trimmedForget")
export declare function hostTrimmedForget(slot: u32): void

/** Tracing only: an event that `src/evm/traceReader.ts` decodes; its gas is in the mailbox. */
// @ts-ignore: decorator
@external("host", "trace")
declare function hostTraceEvent(event: u32, a: u32, b: u32, c: u32): void

export function hostTrace(event: u32, a: u32, b: u32, c: u32, gas: i64): void {
  store<i64>(M_TRACE_GAS, gas)
  hostTraceEvent(event, a, b, c)
}
