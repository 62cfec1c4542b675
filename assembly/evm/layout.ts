/**
 * Memory map of the EVM kernel. One instance owns one memory; everything a block's execution touches lies in it, so
 * that nothing is converted or allocated on the way from the stack to a storage slot.
 *
 *     0x0000_1000  rules of the fork: static gas, stack needs, parameters   (uploaded by the loader)
 *     0x0000_1800  environment words of block and transaction, 32 bytes each
 *     0x0000_2000  scratch of keccak; 0x2800 scratch of arithmetic
 *     0x0000_3000  mailbox: arguments and results of calls between kernel and host
 *     0x0000_4000  blob hashes of the transaction
 *     0x0001_0000  frames, 256 bytes each, one a call depth
 *     0x0006_0000  operand stacks: a child's stack starts at its parent's top, at most 1,024 words a frame
 *     0x0208_0000  heap: blocks of powers of two (tables, journal, logs, code, call memory)
 *
 * A 256-bit word is four little-endian u64 limbs, least significant first. Addresses are words of which the low 20
 * bytes count. Hashes and code are plain byte strings.
 */

export const RULES: usize = 0x1000
/** u16 a opcode: gas that does not depend on the operands. */
export const RULES_GAS: usize = RULES
/** u8 a opcode: words the opcode needs on the stack; 255 marks an opcode the fork does not know. */
export const RULES_NEED: usize = RULES + 0x200
/** u8 a opcode: words the stack may grow by. */
export const RULES_GROW: usize = RULES + 0x300
/** u32 parameters, by the P_ numbers of `rules.ts`. */
export const RULES_PARAMETERS: usize = RULES + 0x400

export const ENVIRONMENT: usize = 0x1800
export const HASH_SCRATCH: usize = 0x2000
export const SCRATCH: usize = 0x2800
export const MAILBOX: usize = 0x3000
export const BLOB_HASHES: usize = 0x4000
export const BLOB_HASH_COUNT_MAX: u32 = 256

export const FRAMES: usize = 0x10000
export const FRAME_BYTES: usize = 256
/** Deepest call: the outermost frame has depth 0, its callees may reach 1,024. */
export const DEPTH_MAX: i32 = 1024

export const STACKS: usize = 0x60000
/** 1,024 words. */
export const STACK_BYTES: usize = 32768

export const HEAP: usize = 0x2080000

// Words of the environment.
export const ENV_ORIGIN: usize = ENVIRONMENT
export const ENV_GAS_PRICE: usize = ENVIRONMENT + 32
export const ENV_COINBASE: usize = ENVIRONMENT + 64
export const ENV_NUMBER: usize = ENVIRONMENT + 96
export const ENV_TIMESTAMP: usize = ENVIRONMENT + 128
export const ENV_GAS_LIMIT: usize = ENVIRONMENT + 160
export const ENV_RANDOM: usize = ENVIRONMENT + 192
export const ENV_CHAIN_ID: usize = ENVIRONMENT + 224
export const ENV_BASE_FEE: usize = ENVIRONMENT + 256
export const ENV_BLOB_BASE_FEE: usize = ENVIRONMENT + 288
/** u32: blob hashes of the transaction. */
export const ENV_BLOB_COUNT: usize = ENVIRONMENT + 320
/** i64: gas a byte of new state (EIP-8037), 0 before Amsterdam. */
export const ENV_STATE_BYTE: usize = ENVIRONMENT + 328
/** u32: 1 where state gas follows the draft before bal@v5.7 (see stateGas.ts). */
export const ENV_STATE_DRAFT: usize = ENVIRONMENT + 336
export const ENV_SLOT_NUMBER: usize = ENVIRONMENT + 352
/** Eight u64 secrets of the keyed hash. */
export const ENV_HASH_KEYS: usize = ENVIRONMENT + 384

// Fields of a frame.
/** u32: offset of the next opcode in the code. */
export const F_PC: usize = 0
/** u32: address of the first free stack word. */
export const F_SP: usize = 4
/** i64: gas left. */
export const F_GAS: usize = 8
/** u32: address of the code block (see codes.ts). */
export const F_CODE: usize = 16
/** u32: address of the first stack word. */
export const F_STACK: usize = 20
/** u32: address of the frame's memory while it waits, 0 before it has any. */
export const F_MEMORY: usize = 24
/** u32: size of the frame's memory, a multiple of 32. */
export const F_MEMORY_SIZE: usize = 28
/** u32: account whose storage and balance the frame acts on. */
export const F_SELF: usize = 32
/** u32: account seen by CALLER. */
export const F_CALLER: usize = 36
/** u32: bit 0 static, bit 1 creates a contract. */
export const F_FLAGS: usize = 40
/** u32: journal length to go back to. */
export const F_SNAPSHOT: usize = 44
/** u32, u32: address and size of the input, in the caller's memory. */
export const F_INPUT: usize = 48
export const F_INPUT_SIZE: usize = 52
/** u32, u32: where the caller wants the output, in the caller's memory. */
export const F_OUTPUT: usize = 56
export const F_OUTPUT_SIZE: usize = 60
/** u32: opcode that made the frame. */
export const F_KIND: usize = 64
/** u32: account whose code runs. */
export const F_CODE_ACCOUNT: usize = 68
/** word: value seen by CALLVALUE. */
export const F_VALUE: usize = 80
/** u32: heap class of the memory's block. */
export const F_MEMORY_CLASS: usize = 72
/** u32: which engine runs the frame, by the E_ numbers of `engine.ts`. */
export const F_ENGINE: usize = 76
/** i64: gas at the start. */
export const F_GAS_START: usize = 112
/** i64, i64, i64: state gas charged, given back, and to be given back to the frame below (see stateGas.ts). */
export const F_STATE_USED: usize = 120
export const F_STATE_REFUND: usize = 128
export const F_STATE_PENDING: usize = 136

export const FLAG_STATIC: u32 = 1
export const FLAG_CREATE: u32 = 2

// Mailbox of `execute`.
export const M_GAS: usize = MAILBOX
export const M_CALLER: usize = MAILBOX + 8
export const M_TARGET: usize = MAILBOX + 12
export const M_VALUE: usize = MAILBOX + 16
export const M_SALT: usize = MAILBOX + 48
export const M_INPUT_SIZE: usize = MAILBOX + 80
export const M_KIND: usize = MAILBOX + 84
export const M_STATIC: usize = MAILBOX + 88
/** u32 results. */
export const M_CREATED: usize = MAILBOX + 92
/** i64: the state gas that a message may use. */
export const M_STATE_GAS: usize = MAILBOX + 96
/** Mailbox of a precompile: gas offered and gas used, u64. */
export const M_PRECOMPILE_GAS: usize = MAILBOX + 128
export const M_PRECOMPILE_USED: usize = MAILBOX + 136
/** word: any address or hash handed to the host or taken from it. */
export const M_WORD: usize = MAILBOX + 160
export const M_WORD2: usize = MAILBOX + 192
/** i64: gas that belongs to a trace event. */
export const M_TRACE_GAS: usize = MAILBOX + 224
