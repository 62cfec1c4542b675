/**
 * Loader of the EVM kernel: its memory, its exports, and the addresses in its memory map that TypeScript reads and
 * writes (`assembly/evm/layout.ts`; a test compares the two). What the numbers mean to the protocol is `evm/`'s.
 *
 * Not here: rules of forks, accounts by address, messages; see `src/evm/machine.ts`.
 */
import { assert, U64_MAX, VarveError } from '../base/index.ts'
import { evmModule } from './generated/evm.ts'
import { createKernelMemory, type KernelMemory, KernelModule } from './wasm.ts'

/** Offsets of `assembly/evm/layout.ts` and of the records of `accounts.ts`, `slots.ts` and `codes.ts`. */
export const EvmLayout = {
  RULES: 0x1000,
  ENVIRONMENT: 0x1800,
  MAILBOX: 0x3000,
  BLOB_HASHES: 0x4000,
  BLOB_HASH_COUNT_MAX: 256,
  FRAMES: 0x10000,
  FRAME_BYTES: 256,
  STACKS: 0x60000,
  HEAP: 0x2080000,
  // Words of the environment, from ENVIRONMENT.
  ENV_ORIGIN: 0,
  ENV_GAS_PRICE: 32,
  ENV_COINBASE: 64,
  ENV_NUMBER: 96,
  ENV_TIMESTAMP: 128,
  ENV_GAS_LIMIT: 160,
  ENV_RANDOM: 192,
  ENV_CHAIN_ID: 224,
  ENV_BASE_FEE: 256,
  ENV_BLOB_BASE_FEE: 288,
  ENV_BLOB_COUNT: 320,
  ENV_STATE_BYTE: 328,
  ENV_STATE_DRAFT: 336,
  ENV_SLOT_NUMBER: 352,
  ENV_HASH_KEYS: 384,
  // Mailbox, from MAILBOX.
  M_GAS: 0,
  M_CALLER: 8,
  M_TARGET: 12,
  M_VALUE: 16,
  M_SALT: 48,
  M_INPUT_SIZE: 80,
  M_KIND: 84,
  M_STATIC: 88,
  M_CREATED: 92,
  M_STATE_GAS: 96,
  M_PRECOMPILE_GAS: 128,
  M_PRECOMPILE_USED: 136,
  M_WORD: 160,
  M_WORD2: 192,
  M_TRACE_GAS: 224,
  // Account record.
  A_FLAGS: 20,
  A_NONCE: 24,
  A_BALANCE: 32,
  A_CODE_HASH: 64,
  A_CODE: 96,
  A_CREATED_IN: 104,
  A_STORAGE_GENERATION: 116,
  A_NONCE_BEFORE: 120,
  A_BALANCE_BEFORE: 128,
  A_CODE_HASH_BEFORE: 160,
  AF_EXISTS: 1,
  AF_EXISTED: 2,
  AF_CLEARED: 4,
  AF_LOADED: 8,
  // Slot record.
  SLOT_BYTES: 160,
  S_VALUE: 32,
  S_BEFORE: 96,
  S_ACCOUNT: 128,
  S_GENERATION: 140,
  S_LOADED: 144,
  // Code block.
  C_BYTES: 80,
  // Frame.
  F_PC: 0,
  F_SP: 4,
  F_STACK: 20,
  F_SELF: 32,
  F_KIND: 64,
  F_CODE_ACCOUNT: 68,
} as const

/**
 * What runs a message: the plain loop, the one with trace events, or the predecoded engine for code that is used a
 * lot and the plain one for the rest. `FastAlways` predecodes everything at once, for tests.
 */
export const EvmEngine = { Plain: 0, Traced: 1, Fast: 2, FastAlways: 3 } as const
export type EvmEngine = (typeof EvmEngine)[keyof typeof EvmEngine]

/** Functions the kernel calls; numbers are addresses in its memory. See `assembly/evm/host.ts`. */
export type EvmHostFunctions = {
  loadAccount(record: number): number
  hasStorage(record: number): number
  openStorage(owner: number, record: number): number
  loadSlot(owner: number, key: number, to: number): void
  loadCode(hash: number): number
  blockHash(number: number, to: number): void
  precompile(id: number, input: number, size: number): number
  trimmedLoad(slot: number, to: number): void
  trimmedOriginal(slot: number, to: number): void
  trimmedStore(slot: number, from: number): void
  trimmedUndo(slot: number): void
  trimmedForget(slot: number): void
  trace(event: number, a: number, b: number, c: number): void
}

/** What `assembly/evm/index.ts` exports. Accounts and slots are named by number, words by address. */
export type EvmExports = {
  init(): void
  beginBlock(): void
  forgetCodes(): void
  beginTransaction(): void
  finishTransaction(): void
  abandon(): void
  execute(engine: EvmEngine): number
  takeFault(): number
  setTrimmed(on: number): void
  /** Number of the running transaction, for tests of what happens when numbers run out. */
  setEpoch(number: number): void
  accountAt(word: number): number
  accountNumber(word: number): number
  accountRecord(index: number): number
  accountCount(): number
  addBalance(index: number, amount: number): void
  subtractBalance(index: number, amount: number): void
  ensureExists(index: number): void
  setNonce(index: number, nonce: bigint): void
  touchByNothing(index: number): void
  warmAccount(index: number): number
  warmSlot(index: number): number
  codeOf(index: number): number
  codeBlock(size: number): number
  setCode(index: number, from: number, size: number): void
  slotAt(owner: number, key: number): number
  slotNumber(owner: number, key: number): number
  slotRecord(index: number): number
  slotCount(): number
  writeSlot(index: number, value: number): void
  inputSpace(size: number): number
  gasLeft(): bigint
  gasAfterCharge: { readonly value: bigint }
  returnData(): number
  returnDataSpace(size: number): number
  returnSize: { readonly value: number }
  memoryAt: { readonly value: number }
  memorySize: { readonly value: number }
  depth: { readonly value: number }
  refund: { readonly value: bigint }
  reservoir: { readonly value: bigint }
  stateGasUsed: { readonly value: bigint }
  stateGasSpilled: { readonly value: bigint }
  destructedStateBytes(): number
  logsBase(): number
  logsBytes(): number
  journalLength(): number
  journalBase(): number
  revertTo(length: number): void
  touchedLengthNow(): number
  touchedNow(position: number): number
  heapBytes(): number
  // Arithmetic on words, for tests.
  add(a: number, b: number, to: number): void
  subtract(a: number, b: number, to: number): void
  multiply(a: number, b: number, to: number): void
  divide(a: number, b: number, to: number): void
  divideSigned(a: number, b: number, to: number): void
  modulo(a: number, b: number, to: number): void
  moduloSigned(a: number, b: number, to: number): void
  addModulo(a: number, b: number, m: number, to: number): void
  multiplyModulo(a: number, b: number, m: number, to: number): void
  power(a: number, b: number, to: number): void
  signExtend(index: number, value: number, to: number): void
  byteAt(index: number, value: number, to: number): void
  shiftLeft(shift: number, value: number, to: number): void
  shiftRight(shift: number, value: number, to: number): void
  shiftRightSigned(shift: number, value: number, to: number): void
  leadingZeros(value: number, to: number): void
}

/** Pages the memory starts with: all fixed areas and 4 MiB of heap. Untouched pages cost address space only. */
const PAGES_START = 0x2080000 / 65_536 + 64
/** 2 GiB at most: addresses are positive numbers on both sides. */
const PAGES_MAX = 32_768

/** Up to this length bytes are copied out one by one. */
const COPY_BYTES_BY_LOOP = 64

/** An export. Four parameters are the most that one has; those it lacks are ignored, and a fixed list allocates nothing. */
type KernelCall = (a: unknown, b: unknown, c: unknown, d: unknown) => unknown

const wasmModule = new KernelModule<EvmExports>(evmModule)

/** Why the kernel trapped (`assembly/evm/status.ts`). */
const FAULT_NONE = 0
const FAULT_MEMORY = 1

/**
 * One kernel with a memory of its own. Belongs to the thread that made it.
 *
 * Any call may need memory that is not there: code, slots and journal grow wherever they are used. Then the call, and
 * each one after it, throws EVM_OUT_OF_MEMORY, as the trap may have cut a table's growth in two.
 */
export class EvmKernel {
  /** All calls go through the guard that turns traps into typed errors; what the host throws passes unchanged. */
  readonly exports: EvmExports
  readonly memory: KernelMemory
  private outOfMemory: VarveError | undefined
  private buffer: ArrayBufferLike
  private bytesView: Uint8Array
  private wordsView: DataView

  /** @throws VarveError EVM_NO_WEBASSEMBLY where this machine lacks WebAssembly, its SIMD or shared memory */
  constructor(host: EvmHostFunctions) {
    this.memory = createKernelMemory(PAGES_START, PAGES_MAX)
    const exports = wasmModule.instantiate(this.memory, host)
    if (exports === undefined)
      throw new VarveError('EVM_NO_WEBASSEMBLY', 'the EVM needs WebAssembly with SIMD and threads')
    this.exports = this.guardAll(exports)
    this.buffer = this.memory.buffer
    this.bytesView = new Uint8Array(this.buffer)
    this.wordsView = new DataView(this.buffer)
  }

  /** True once it ran out of memory: only a new kernel goes on. */
  get isLost(): boolean {
    return this.outOfMemory !== undefined
  }

  private guardAll(exports: EvmExports): EvmExports {
    const guarded: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(exports))
      guarded[name] = typeof value === 'function' ? this.guard(exports, value as KernelCall) : value
    return guarded as EvmExports
  }

  private guard(exports: EvmExports, call: KernelCall): KernelCall {
    return (a, b, c, d) => {
      if (this.outOfMemory !== undefined) throw this.outOfMemory
      try {
        return call(a, b, c, d)
      } catch (error) {
        throw this.explain(exports.takeFault(), error)
      }
    }
  }

  /** The error to throw for one that came out of a call. A call within a host function has taken the fault already. */
  private explain(fault: number, error: unknown): unknown {
    if (fault === FAULT_NONE) return error
    assert(fault === FAULT_MEMORY, 'evm: the kernel broke a rule of its own')
    this.outOfMemory = new VarveError(
      'EVM_OUT_OF_MEMORY',
      'expected the block to fit the 2 GiB of the EVM kernel, it needs more',
    )
    return this.outOfMemory
  }

  /** The whole memory as bytes. Good until the next call into the kernel, which may grow the memory. */
  get bytes(): Uint8Array {
    if (this.memory.buffer !== this.buffer) this.refresh()
    return this.bytesView
  }

  /** The whole memory as numbers, as long-lived as `bytes`. All of the kernel's numbers are little-endian. */
  get view(): DataView {
    if (this.memory.buffer !== this.buffer) this.refresh()
    return this.wordsView
  }

  private refresh(): void {
    this.buffer = this.memory.buffer
    this.bytesView = new Uint8Array(this.buffer)
    this.wordsView = new DataView(this.buffer)
  }

  /** Reads the word at `address`. */
  readWord(address: number): bigint {
    const view = this.view
    // Each operation on big integers allocates, and most words are small.
    if (!this.isZero(address + 16, 16))
      return (
        view.getBigUint64(address, true) |
        (view.getBigUint64(address + 8, true) << 64n) |
        (view.getBigUint64(address + 16, true) << 128n) |
        (view.getBigUint64(address + 24, true) << 192n)
      )
    const low = view.getBigUint64(address, true)
    return this.isZero(address + 8, 8) ? low : low | (view.getBigUint64(address + 8, true) << 64n)
  }

  /** Whether `length` bytes, a multiple of 4, are all zero. */
  private isZero(address: number, length: number): boolean {
    const view = this.view
    for (let at = address; at < address + length; at += 4)
      if (view.getUint32(at, true) !== 0) return false
    return true
  }

  /** Whether `length` bytes, a multiple of 4, are the same at both addresses. */
  areEqual(a: number, b: number, length: number): boolean {
    const view = this.view
    for (let at = 0; at < length; at += 4)
      if (view.getUint32(a + at, true) !== view.getUint32(b + at, true)) return false
    return true
  }

  /** Writes `value` modulo 2^256 as the word at `address`. */
  writeWord(address: number, value: bigint): void {
    const view = this.view
    view.setBigUint64(address, value, true)
    let rest = value
    for (let at = address + 8; at < address + 32; at += 8)
      if (rest >= 0n && rest <= U64_MAX) {
        view.setUint32(at, 0, true)
        view.setUint32(at + 4, 0, true)
        rest = 0n
      } else {
        rest >>= 64n
        view.setBigUint64(at, rest, true)
      }
  }

  /** Writes up to 32 big-endian bytes as the word at `address`: the one place where byte order turns. */
  writeWordBytes(address: number, bytes: Uint8Array): void {
    const memory = this.bytes
    const length = bytes.length
    for (let index = 0; index < length; index++)
      memory[address + index] = bytes[length - 1 - index]!
    memory.fill(0, address + length, address + 32)
  }

  /** Copies the low `length` bytes of the word at `address` out, big-endian. */
  readWordBytes(address: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length)
    this.readWordBytesInto(address, bytes)
    return bytes
  }

  /** The same, as many as `bytes` holds. */
  readWordBytesInto(address: number, bytes: Uint8Array): void {
    const memory = this.bytes
    const last = bytes.length - 1
    for (let index = 0; index <= last; index++) bytes[last - index] = memory[address + index]!
  }

  /** Whether the memory at `address` is the same as `bytes`. */
  holds(address: number, bytes: Uint8Array): boolean {
    const memory = this.bytes
    for (let index = 0; index < bytes.length; index++)
      if (memory[address + index] !== bytes[index]) return false
    return true
  }

  /** Copies `length` bytes out. */
  copyOut(address: number, length: number): Uint8Array {
    // slice() of a view over shared memory would give shared bytes; a fresh array is the caller's alone.
    const copy = new Uint8Array(length)
    const memory = this.bytes
    // A view costs more than the loop over a hash or an address.
    if (length > COPY_BYTES_BY_LOOP) copy.set(memory.subarray(address, address + length))
    else for (let index = 0; index < length; index++) copy[index] = memory[address + index]!
    return copy
  }
}

/** Error codes of this module. */
export type EvmKernelErrorCode =
  /** WebAssembly, its SIMD or its shared memory is missing. */
  | 'EVM_NO_WEBASSEMBLY'
  /** The kernel's memory is full. */
  | 'EVM_OUT_OF_MEMORY'
