/**
 * Runs messages of one block after the other over a kernel that holds the block's state.
 *
 *     beginBlock ─▶ beginTransaction ─▶ call / create … ─▶ finishTransaction ─▶ … ─▶ writeSet
 *
 * Accounts, slots and code are loaded from the `Host` when first used in the block, and stay in the kernel's memory
 * until the next `beginBlock`. Fees, refunds and validity of transactions are the caller's (`execute/`).
 *
 * Any method but `beginBlock` may throw EVM_OUT_OF_MEMORY: the block is lost then, all of them throw it again, and
 * `beginBlock` starts over in a fresh memory.
 *
 * Not here: opcodes (`assembly/evm`), precompiled contracts (`precompiles/`), trace events (`hooks.ts`).
 */
import { ADDRESS_BYTES, type AmsterdamDraft, assert, Fork, VarveError } from '../base/index.ts'
import { EvmEngine, EvmKernel, EvmLayout as L } from '../kernels/index.ts'
import { forkTable } from './forkTable.ts'
import { randomHashKeys } from './hashKeys.ts'
import type { EvmHooks } from './hooks.ts'
import type { Host, StorageReader } from './host.ts'
import { hostFunctions } from './hostFunctions.ts'
import { type PrecompileSet, type PrecompileView, precompileView } from './precompiles/index.ts'
import { type AccountAccess, type AccountChange, readAccesses, readChanges } from './stateAccess.ts'
import { stateByteGas } from './stateGas.ts'
import { Status } from './status.ts'
import { TraceReader } from './traceReader.ts'
import { TrimmedStorage } from './trimmedStorage.ts'
import { readWriteSet, type WriteSet } from './writeSet.ts'

/** What code can ask of the block it runs in. Numbers are unsigned. */
export type BlockEnvironment = {
  readonly fork: Fork
  readonly number: bigint
  /** Seconds since 1970. */
  readonly timestamp: bigint
  readonly gasLimit: bigint
  /** 20 bytes. */
  readonly coinbase: Uint8Array
  /** Difficulty before Paris, the beacon chain's random value after. */
  readonly random: bigint
  readonly chainId: bigint
  /** Wei; 0 before London. */
  readonly baseFee: bigint
  /** Wei; 0 before Cancun. */
  readonly blobBaseFee: bigint
  /** Slot of the beacon chain; 0 before Amsterdam (EIP-7843). */
  readonly slotNumber?: bigint | undefined
  /** Which draft of Amsterdam the block follows; `bal@v5.7` without it. */
  readonly amsterdamDraft?: AmsterdamDraft | undefined
  /** Which precompiles the fork has: the protocol's (`final`), or those of a draft that tests were made under. */
  readonly precompileSet?: PrecompileSet | undefined
}

export type TransactionEnvironment = {
  /** Sender, 20 bytes. */
  readonly origin: Uint8Array
  /** Wei a gas that the sender pays. */
  readonly gasPrice: bigint
  /** Versioned hashes, 32 bytes each (EIP-4844). */
  readonly blobHashes?: readonly Uint8Array[]
}

export type CallMessage = {
  readonly caller: Uint8Array
  readonly target: Uint8Array
  readonly input: Uint8Array
  readonly value: bigint
  /** 0 to 2^63-1. */
  readonly gas: bigint
  /** Forbids changes of state, as STATICCALL does. */
  readonly isStatic?: boolean
  /** Gas for growth of the state alone; 0 without it, and before Amsterdam (EIP-8037). */
  readonly stateGas?: bigint
}

export type CreateMessage = {
  /** Its nonce names the contract and is raised by one, as the CREATE opcode does. */
  readonly caller: Uint8Array
  readonly initCode: Uint8Array
  readonly value: bigint
  readonly gas: bigint
  /** As in `CallMessage`. */
  readonly stateGas?: bigint
}

/** What a message did with gas for growth of the state (EIP-8037). All 0 before Amsterdam. */
export type StateGasResult = {
  /** Of what the message was given. */
  readonly left: bigint
  /** Price of what grew; 0 where the message failed. */
  readonly used: bigint
  /** What of the message's other gas went there, whether the state grew in the end or not. */
  readonly spilled: bigint
}

export type MessageResult = {
  readonly status: Status
  readonly gasLeft: bigint
  readonly stateGas: StateGasResult
  /** Output of RETURN or REVERT; the deployed code of a creation. Fresh bytes. */
  readonly output: Uint8Array
  /** Address of the contract that a successful creation made. */
  readonly created: Uint8Array | undefined
}

export type Log = {
  readonly address: Uint8Array
  readonly topics: readonly Uint8Array[]
  readonly data: Uint8Array
}

declare const snapshotBrand: unique symbol
/** A point in a transaction to go back to. Dies with the transaction; one that is dead is refused. */
export type Snapshot = number & { readonly [snapshotBrand]: 'Snapshot' }

export type MachineOptions = {
  /** Which engine runs untraced messages; `Fast` without it. All give the same results. */
  readonly engine?: EvmEngine
  /**
   * How storage values are kept while a block runs: as words in the kernel, or `trimmed`, the baseline for
   * comparisons: byte strings without leading zeros on the JavaScript heap. Same results; cannot be traced.
   */
  readonly storage?: 'words' | 'trimmed'
}

const CALL = 0xf1
const CREATE = 0xf0
const GAS_MAX = (1n << 63n) - 1n
const NO_STATE_GAS: StateGasResult = { left: 0n, used: 0n, spilled: 0n }
const SCRATCH_WORD = L.MAILBOX + L.M_WORD
/** A snapshot is the journal's length in the low 32 bits, and above them a number of its transaction that comes again. */
const SNAPSHOT_UNIT = 2 ** 32
const SNAPSHOT_TRANSACTIONS = 2 ** 20
/** Heap of a kernel that is kept for the next block; code that was cached goes with a bigger one. */
const HEAP_BYTES_KEPT = 256 << 20

/** See the file's head. Owned by one thread; one block at a time. */
export class Machine {
  private kernel: EvmKernel
  private readonly engine: EvmEngine
  private readonly reader: TraceReader
  private readonly isTrimmed: boolean
  private readonly trimmed = new TrimmedStorage()
  private readonly storages: StorageReader[] = []
  private host: Host | undefined
  /** Gas a byte of new state; 0 before Amsterdam. */
  private stateByteGas = 0n
  /** Goes up wherever snapshots die. */
  private snapshotTransaction = 0
  private hooks: EvmHooks | undefined
  private changesWatcher: ((changes: AccountChange[]) => void) | undefined
  private precompiles: PrecompileView = precompileView(Fork.Frontier)

  /** @throws VarveError EVM_NO_WEBASSEMBLY. Cost: a memory of 38 MiB of address space, about 0.3 MiB in use. */
  constructor(options: MachineOptions = {}) {
    this.engine = options.engine ?? EvmEngine.Fast
    this.reader = new TraceReader()
    this.isTrimmed = options.storage === 'trimmed'
    this.kernel = this.createKernel()
  }

  private createKernel(): EvmKernel {
    const kernel: EvmKernel = new EvmKernel(
      hostFunctions({
        kernel: () => kernel,
        host: () => this.currentHost(),
        precompiles: () => this.precompiles,
        storages: this.storages,
        trimmed: this.trimmed,
        trace: (event, a, b, c) => this.reader.read(event, a, b, c),
      }),
    )
    kernel.bytes.set(randomHashKeys(), L.ENVIRONMENT + L.ENV_HASH_KEYS)
    kernel.bytes.set(forkTable(Fork.Frontier), L.RULES)
    kernel.exports.init()
    kernel.exports.setTrimmed(this.isTrimmed ? 1 : 0)
    return kernel
  }

  /**
   * Drops the codes that are kept from earlier blocks: the next block asks its host for every one that it runs or
   * reads. Right before `beginBlock`: what the last block holds is of no more use.
   */
  forgetCodes(): void {
    this.kernel.exports.forgetCodes()
  }

  /** Bytes of the kernel's memory that hold state, code and call frames. */
  get heapBytes(): number {
    return this.kernel.exports.heapBytes()
  }

  private currentHost(): Host {
    assert(this.host !== undefined, 'evm: beginBlock comes first')
    return this.host
  }

  /** Forgets the last block's state and starts over on what `host` holds. */
  beginBlock(environment: BlockEnvironment, host: Host): void {
    // Memory of WebAssembly only grows. After a block that took much, a fresh kernel gives it back.
    if (this.kernel.isLost || this.heapBytes > HEAP_BYTES_KEPT) this.kernel = this.createKernel()
    const { kernel } = this
    this.host = host
    this.precompiles = precompileView(environment.fork, environment.precompileSet)
    if (this.hooks !== undefined) this.reader.attach(this.hooks, kernel)
    kernel.bytes.set(forkTable(environment.fork, environment.precompileSet), L.RULES)
    const word = (offset: number, value: bigint): void =>
      kernel.writeWord(L.ENVIRONMENT + offset, value)
    word(L.ENV_NUMBER, environment.number)
    word(L.ENV_TIMESTAMP, environment.timestamp)
    word(L.ENV_GAS_LIMIT, environment.gasLimit)
    word(L.ENV_RANDOM, environment.random)
    word(L.ENV_CHAIN_ID, environment.chainId)
    word(L.ENV_BASE_FEE, environment.baseFee)
    word(L.ENV_BLOB_BASE_FEE, environment.blobBaseFee)
    word(L.ENV_SLOT_NUMBER, environment.slotNumber ?? 0n)
    kernel.writeWordBytes(L.ENVIRONMENT + L.ENV_COINBASE, environment.coinbase)
    this.stateByteGas = stateByteGas(environment)
    const isOldDraft = environment.amsterdamDraft === 'bal@v5.6'
    kernel.view.setUint32(L.ENVIRONMENT + L.ENV_STATE_DRAFT, isOldDraft ? 1 : 0, true)
    kernel.view.setBigUint64(L.ENVIRONMENT + L.ENV_STATE_BYTE, this.stateByteGas, true)
    kernel.exports.beginBlock()
    this.endSnapshots()
    this.changesWatcher = undefined
    this.storages.length = 0
    this.trimmed.clear()
  }

  /**
   * Starts a transaction: nothing is warm but precompiles. The caller warms what the protocol says: sender, target,
   * coinbase (EIP-3651), access list.
   */
  beginTransaction(environment: TransactionEnvironment): void {
    const { kernel } = this
    const hashes = environment.blobHashes ?? []
    assert(hashes.length <= L.BLOB_HASH_COUNT_MAX, 'evm: more blob hashes than any block may hold')
    kernel.exports.beginTransaction()
    this.endSnapshots()
    this.trimmed.nextTransaction()
    kernel.writeWordBytes(L.ENVIRONMENT + L.ENV_ORIGIN, environment.origin)
    kernel.writeWord(L.ENVIRONMENT + L.ENV_GAS_PRICE, environment.gasPrice)
    kernel.view.setUint32(L.ENVIRONMENT + L.ENV_BLOB_COUNT, hashes.length, true)
    hashes.forEach((hash, index) => {
      kernel.writeWordBytes(L.BLOB_HASHES + 32 * index, hash)
    })
  }

  /** Reports every step of the messages that follow to `hooks`; `undefined` ends it. Never changes a result. */
  trace(hooks: EvmHooks | undefined): void {
    assert(!this.isTrimmed, 'evm: the baseline arm is not traced')
    this.hooks = hooks
    this.reader.attach(hooks, this.kernel)
  }

  /**
   * Calls `target` as the transaction itself: moves the value, runs its code, undoes all of it where that fails.
   * @throws VarveError EVM_GAS_RANGE, and what the host or a hook throws: the message is undone then, and the block may
   *   go on.
   */
  call(message: CallMessage): MessageResult {
    const { caller, value } = message
    const target = this.accountAt(message.target)
    // A call of nothing asks nothing of its caller: of that of a system call no witness and no access list says anything.
    const from = value === 0n ? this.accountNumber(caller) : this.accountAt(caller)
    const view = this.prepare(from, message.input, message)
    view.setUint32(L.MAILBOX + L.M_KIND, CALL, true)
    view.setUint32(L.MAILBOX + L.M_TARGET, target, true)
    view.setUint32(L.MAILBOX + L.M_STATIC, message.isStatic === true ? 1 : 0, true)
    return this.execute(false)
  }

  /** Creates a contract as the transaction itself; see `CreateMessage`. Throws as `call`. */
  create(message: CreateMessage): MessageResult {
    const view = this.prepare(this.accountAt(message.caller), message.initCode, message)
    view.setUint32(L.MAILBOX + L.M_KIND, CREATE, true)
    view.setUint32(L.MAILBOX + L.M_STATIC, 0, true)
    return this.execute(true)
  }

  private prepare(
    from: number,
    input: Uint8Array,
    message: { readonly value: bigint; readonly gas: bigint; readonly stateGas?: bigint },
  ): DataView {
    const { value, gas, stateGas = 0n } = message
    if (gas < 0n || gas > GAS_MAX)
      throw new VarveError('EVM_GAS_RANGE', `gas of a message is 0 to 2^63-1, got ${gas}`, { gas })
    if (stateGas < 0n || stateGas > GAS_MAX)
      throw new VarveError(
        'EVM_GAS_RANGE',
        `state gas of a message is 0 to 2^63-1, got ${stateGas}`,
        { gas: stateGas },
      )
    const { kernel } = this
    const space = kernel.exports.inputSpace(input.length)
    kernel.bytes.set(input, space)
    kernel.writeWord(L.MAILBOX + L.M_VALUE, value)
    const view = kernel.view
    view.setBigUint64(L.MAILBOX + L.M_GAS, gas, true)
    view.setBigUint64(L.MAILBOX + L.M_STATE_GAS, stateGas, true)
    view.setUint32(L.MAILBOX + L.M_CALLER, from, true)
    view.setUint32(L.MAILBOX + L.M_INPUT_SIZE, input.length, true)
    return view
  }

  private execute(isCreation: boolean): MessageResult {
    const { kernel } = this
    const before = kernel.exports.journalLength()
    const status = this.run(before)
    const created = kernel.view.getUint32(L.MAILBOX + L.M_CREATED, true)
    const { value: size } = kernel.exports.returnSize
    return {
      status,
      gasLeft: kernel.exports.gasLeft(),
      stateGas: this.stateByteGas === 0n ? NO_STATE_GAS : this.readStateGas(),
      output: kernel.copyOut(kernel.exports.returnData(), size),
      created: isCreation && status === Status.Success ? this.addressOf(created) : undefined,
    }
  }

  private readStateGas(): StateGasResult {
    const { reservoir, stateGasUsed, stateGasSpilled } = this.kernel.exports
    return { left: reservoir.value, used: stateGasUsed.value, spilled: stateGasSpilled.value }
  }

  private run(before: number): Status {
    const { kernel } = this
    try {
      const traced = this.hooks !== undefined
      return kernel.exports.execute(traced ? EvmEngine.Traced : this.engine) as Status
    } catch (error) {
      // Nothing in a lost kernel is used again. All else is an error of the host or of a hook on its way through.
      if (kernel.isLost) throw error
      kernel.exports.abandon()
      kernel.exports.revertTo(before)
      throw error
    }
  }

  /**
   * Ends the transaction: deletes what SELFDESTRUCT marked and, from EIP-161 on, touched empty accounts. Logs and
   * refund stay readable until the next `beginTransaction`; snapshots are dead. From Amsterdam on, what deleted
   * accounts still held is logged here (EIP-7708).
   */
  finishTransaction(): void {
    this.kernel.exports.finishTransaction()
    this.endSnapshots()
    this.changesWatcher?.(this.changes())
  }

  /** Hands over `changes()` at the end of each transaction and system call of this block; `undefined` ends it. */
  watchChanges(watcher: ((changes: AccountChange[]) => void) | undefined): void {
    this.changesWatcher = watcher
  }

  /**
   * Price of the state that the accounts marked for deletion would have taken (EIP-8037). To be asked once in a
   * transaction, before `finishTransaction`.
   */
  destructedStateGas(): bigint {
    return BigInt(this.kernel.exports.destructedStateBytes()) * this.stateByteGas
  }

  /** What the transaction that finished last has changed; good until the next one begins. See `stateAccess.ts`. */
  changes(): AccountChange[] {
    assert(!this.isTrimmed, 'evm: the baseline arm keeps no changes of a transaction')
    return readChanges(this.kernel)
  }

  /** All accounts and slots that the block has read so far, code that ran over or not. See `stateAccess.ts`. */
  accesses(): AccountAccess[] {
    return readAccesses(this.kernel)
  }

  /** Remembers this point of the transaction. Cost: nothing. */
  snapshot(): Snapshot {
    const length = this.kernel.exports.journalLength()
    return (this.snapshotTransaction * SNAPSHOT_UNIT + length) as Snapshot
  }

  /**
   * Undoes all changes since `snapshot`: state, warmth, logs, refund.
   * @throws AssertionFault for a snapshot of another transaction, and for one that lies ahead
   */
  revert(snapshot: Snapshot): void {
    const length = snapshot % SNAPSHOT_UNIT
    const transaction = (snapshot - length) / SNAPSHOT_UNIT
    assert(transaction === this.snapshotTransaction, 'evm: the snapshot died with its transaction')
    assert(length <= this.kernel.exports.journalLength(), 'evm: the snapshot lies ahead')
    this.kernel.exports.revertTo(length)
  }

  private endSnapshots(): void {
    this.snapshotTransaction = (this.snapshotTransaction + 1) % SNAPSHOT_TRANSACTIONS
  }

  /** Refund of the transaction so far, before the fork's cap. */
  get refund(): bigint {
    return this.kernel.exports.refund.value
  }

  /** Logs of the transaction so far, in order. */
  logs(): Log[] {
    const { kernel } = this
    const end = kernel.exports.logsBase() + kernel.exports.logsBytes()
    const logs: Log[] = []
    for (let at = kernel.exports.logsBase(); at < end; ) {
      const view = kernel.view
      const topicCount = view.getUint32(at + 4, true)
      const dataSize = view.getUint32(at + 8, true)
      const topics = Array.from({ length: topicCount }, (_, index) =>
        kernel.copyOut(at + 16 + 32 * index, 32),
      )
      const data = kernel.copyOut(at + 16 + 32 * topicCount, dataSize)
      logs.push({ address: this.addressOf(view.getUint32(at, true)), topics, data })
      at += 16 + 32 * topicCount + ((dataSize + 7) & ~7)
    }
    return logs
  }

  /** All that the block has changed so far, against the state before it; see `writeSet.ts`. */
  writeSet(): WriteSet {
    if (this.isTrimmed) this.trimmed.writeBack(this.kernel)
    return readWriteSet(this.kernel)
  }

  // Accounts, for the transaction layer. All changes are journaled and may be reverted to a snapshot.

  /** True where the account exists: an empty one may, before EIP-161. */
  exists(address: Uint8Array): boolean {
    return (this.kernel.view.getUint32(this.record(address) + L.A_FLAGS, true) & L.AF_EXISTS) !== 0
  }

  /** True without code, nonce and balance (EIP-161), existing or not. */
  isEmpty(address: Uint8Array): boolean {
    return (
      this.getNonce(address) === 0n &&
      this.getBalance(address) === 0n &&
      this.getCodeSize(address) === 0
    )
  }

  getBalance(address: Uint8Array): bigint {
    return this.kernel.readWord(this.record(address) + L.A_BALANCE)
  }

  /** Adds wei; brings the account into being and touches it, also by 0. */
  addBalance(address: Uint8Array, amount: bigint): void {
    const index = this.accountAt(address)
    this.kernel.writeWord(SCRATCH_WORD, amount)
    this.kernel.exports.addBalance(index, SCRATCH_WORD)
  }

  /** Takes wei away. The caller has checked that they are there. */
  subtractBalance(address: Uint8Array, amount: bigint): void {
    assert(this.getBalance(address) >= amount, 'evm: a balance below zero')
    const index = this.accountAt(address)
    this.kernel.writeWord(SCRATCH_WORD, amount)
    this.kernel.exports.subtractBalance(index, SCRATCH_WORD)
  }

  getNonce(address: Uint8Array): bigint {
    return this.kernel.view.getBigUint64(this.record(address) + L.A_NONCE, true)
  }

  setNonce(address: Uint8Array, nonce: bigint): void {
    this.kernel.exports.setNonce(this.accountAt(address), nonce)
  }

  /** keccak-256 of the code, 32 fresh bytes; of nothing for an account that does not exist. */
  getCodeHash(address: Uint8Array): Uint8Array {
    return this.kernel.copyOut(this.record(address) + L.A_CODE_HASH, 32)
  }

  /** The code as stored: a delegation designator is not followed. Fresh bytes. */
  getCode(address: Uint8Array): Uint8Array {
    const { kernel } = this
    const code = kernel.exports.codeOf(this.accountAt(address))
    return kernel.copyOut(code + L.C_BYTES, kernel.view.getUint32(code, true))
  }

  /** Bytes of the code as stored. Copies nothing, so it is the way to ask whether there is any. */
  getCodeSize(address: Uint8Array): number {
    const { kernel } = this
    return kernel.view.getUint32(kernel.exports.codeOf(this.accountAt(address)), true)
  }

  /** Stores code, none where empty, whatever it is; for delegations (EIP-7702) and test states. */
  setCode(address: Uint8Array, code: Uint8Array): void {
    const { kernel } = this
    const index = this.accountAt(address)
    const space = kernel.exports.inputSpace(code.length)
    kernel.bytes.set(code, space)
    kernel.exports.setCode(index, space, code.length)
  }

  /** Marks the account for deletion at the transaction's end if it is empty by then (EIP-161). */
  touch(address: Uint8Array): void {
    this.kernel.exports.touchByNothing(this.accountAt(address))
  }

  /** Makes the address warm for this transaction. The host is not asked for the account. */
  warmAddress(address: Uint8Array): void {
    this.kernel.exports.warmAccount(this.accountNumber(address))
  }

  /** Makes the slot warm for this transaction, not its address; the host is not asked. @param slot 32 bytes */
  warmSlot(address: Uint8Array, slot: Uint8Array): void {
    const { exports } = this.kernel
    const owner = this.accountNumber(address)
    this.kernel.writeWordBytes(SCRATCH_WORD, slot)
    exports.warmSlot(exports.slotNumber(owner, SCRATCH_WORD))
  }

  /** Value of a slot now. */
  getStorage(address: Uint8Array, slot: Uint8Array): bigint {
    return this.slotValue(this.slotIndex(address, slot))
  }

  private slotValue(index: number): bigint {
    const { kernel } = this
    if (!this.isTrimmed) return kernel.readWord(kernel.exports.slotRecord(index) + L.S_VALUE)
    this.trimmed.load(kernel, index, L.MAILBOX + L.M_WORD2)
    return kernel.readWord(L.MAILBOX + L.M_WORD2)
  }

  /** Writes a slot as SSTORE does, without gas. */
  setStorage(address: Uint8Array, slot: Uint8Array, value: bigint): void {
    const index = this.slotIndex(address, slot)
    assert(!this.isTrimmed, 'evm: the baseline arm takes its writes from code only')
    this.kernel.writeWord(SCRATCH_WORD, value)
    if (this.slotValue(index) !== value) this.kernel.exports.writeSlot(index, SCRATCH_WORD)
  }

  private slotIndex(address: Uint8Array, slot: Uint8Array): number {
    const owner = this.accountAt(address)
    this.kernel.writeWordBytes(SCRATCH_WORD, slot)
    return this.kernel.exports.slotAt(owner, SCRATCH_WORD)
  }

  /** The kernel's number of the account, loaded. */
  private accountAt(address: Uint8Array): number {
    this.writeAddress(address)
    return this.kernel.exports.accountAt(SCRATCH_WORD)
  }

  /** The same, not loaded. */
  private accountNumber(address: Uint8Array): number {
    this.writeAddress(address)
    return this.kernel.exports.accountNumber(SCRATCH_WORD)
  }

  private writeAddress(address: Uint8Array): void {
    assert(address.length === ADDRESS_BYTES, 'evm: an address has 20 bytes')
    this.kernel.writeWordBytes(SCRATCH_WORD, address)
  }

  private record(address: Uint8Array): number {
    return this.kernel.exports.accountRecord(this.accountAt(address))
  }

  private addressOf(index: number): Uint8Array {
    return this.kernel.readWordBytes(this.kernel.exports.accountRecord(index), ADDRESS_BYTES)
  }
}

/** Error codes of this module. */
export type MachineErrorCode =
  /** The gas of a message does not fit 63 bits. */
  'EVM_GAS_RANGE'
