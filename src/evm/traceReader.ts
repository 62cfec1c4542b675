/** Turns the kernel's trace events, which are numbers and addresses, into the typed ones of `hooks.ts`. */
import { ADDRESS_BYTES, EMPTY_BYTES } from '../base/index.ts'
import { type EvmKernel, EvmLayout as L } from '../kernels/index.ts'
import type { EvmHooks, LogEvent, StepEvent } from './hooks.ts'
import type { Status } from './status.ts'

// Events of assembly/evm/calls.ts and interpreter.ts.
const ENTER = 1
const EXIT = 2
const DESTRUCT = 3
const STEP = 4
const FAULT = 5
const STORAGE_LOAD = 6
const STORAGE_STORE = 7
const TRANSIENT_LOAD = 8
const TRANSIENT_STORE = 9
const LOG = 10
const PROTOCOL_LOG = 12
const END = 11

const TRACE_GAS = L.MAILBOX + L.M_TRACE_GAS

/** Reads events of one kernel for one set of hooks. Between messages it holds nothing. */
export class TraceReader {
  private hooks: EvmHooks | undefined
  private kernel: EvmKernel | undefined
  /** The step that runs, its cost not known yet; one at most, as the next event of any kind settles it. */
  private pending: StepEvent | undefined
  /** Which steps anybody hears of. */
  private steps: 'all' | 'faults' | 'none' = 'none'
  /** The step that runs, as the kernel told it, where only faults are heard of. */
  private readonly last = { pc: 0, opcode: 0, sp: 0, gasLow: 0, gasHigh: 0 }
  /** Messages begun and not ended; counted here, as some messages need no frame. */
  private level = 0

  attach(hooks: EvmHooks | undefined, kernel: EvmKernel): void {
    this.hooks = hooks
    this.kernel = kernel
    this.pending = undefined
    this.steps =
      hooks?.onStep === undefined ? 'none' : hooks.wants?.faultsOnly === true ? 'faults' : 'all'
  }

  /** Called by the kernel; numbers as documented at each event's case. */
  read(event: number, a: number, b: number, c: number): void {
    const kernel = this.kernel!
    if (event === STEP && this.steps !== 'all') {
      if (this.steps === 'faults') this.noteStep(a, b, c)
      return
    }
    const gas = kernel.view.getBigInt64(TRACE_GAS, true)
    switch (event) {
      case STEP:
        this.settle(gas)
        this.pending = this.readStep(a, b, c, gas)
        return
      case ENTER:
        // The step that called has paid already, and its frame's gas is without what it gave away.
        this.settle(kernel.exports.gasAfterCharge.value)
        this.enter(a, b, c, gas)
        return
      case EXIT:
        this.hooks?.onExit?.({
          depth: this.level,
          status: a as Status,
          gasUsed: gas,
          output: kernel.copyOut(b, c),
        })
        this.level--
        return
      case FAULT:
        this.fail(a as Status, gas)
        return
      case END:
        this.settle(gas)
        return
      case DESTRUCT:
        this.hooks?.onSelfDestruct?.({
          address: this.address(a),
          beneficiary: this.address(b),
          balance: kernel.readWord(c),
        })
        return
      case PROTOCOL_LOG:
        this.hooks?.onLog?.(this.readLog(a))
        return
      default:
        this.settle(gas)
        this.effect(event, a, b, c)
    }
  }

  private effect(event: number, owner: number, b: number, c: number): void {
    const kernel = this.kernel!
    const { hooks } = this
    if (hooks === undefined) return
    if (event === LOG) {
      hooks.onLog?.(this.readLog(b))
      return
    }
    const address = this.address(owner)
    // A load names the key, then the value; a store names the new value, with the key above it, then the old value.
    if (event === STORAGE_LOAD || event === TRANSIENT_LOAD) {
      const value = kernel.readWord(c)
      const slot = { address, slot: kernel.readWord(b), before: value, after: value }
      if (event === STORAGE_LOAD) hooks.onStorageLoad?.(slot)
      else hooks.onTransientLoad?.(slot)
      return
    }
    const after = kernel.readWord(b)
    const slot = { address, slot: kernel.readWord(b + 32), before: kernel.readWord(c), after }
    if (event === STORAGE_STORE) hooks.onStorageStore?.(slot)
    else if (event === TRANSIENT_STORE) hooks.onTransientStore?.(slot)
  }

  private noteStep(pc: number, opcode: number, sp: number): void {
    const { last } = this
    const { view } = this.kernel!
    last.pc = pc
    last.opcode = opcode
    last.sp = sp
    // Two halves: a bigint a step would cost more than all the rest.
    last.gasLow = view.getUint32(TRACE_GAS, true)
    last.gasHigh = view.getInt32(TRACE_GAS + 4, true)
  }

  private readStep(pc: number, opcode: number, sp: number, gas: bigint): StepEvent {
    const kernel = this.kernel!
    const { view, exports } = kernel
    const depth = exports.depth.value
    const frame = L.FRAMES + depth * L.FRAME_BYTES
    const wants = this.hooks?.wants
    const stackBase = view.getUint32(frame + L.F_STACK, true)
    const memorySize = exports.memorySize.value
    return {
      pc,
      opcode,
      gas,
      cost: 0n,
      depth: depth + 1,
      refund: exports.refund.value,
      address: this.address(view.getUint32(frame + L.F_SELF, true)),
      codeAddress: this.address(view.getUint32(frame + L.F_CODE_ACCOUNT, true)),
      stackSize: (sp - stackBase) / 32,
      stack: wants?.stack ? this.readStack(stackBase, sp) : [],
      memorySize,
      memory: wants?.memory ? kernel.copyOut(exports.memoryAt.value, memorySize) : EMPTY_BYTES,
      returnData: wants?.returnData
        ? kernel.copyOut(exports.returnData(), exports.returnSize.value)
        : EMPTY_BYTES,
      error: undefined,
    }
  }

  private readStack(from: number, to: number): bigint[] {
    const stack: bigint[] = []
    for (let word = from; word < to; word += 32) stack.push(this.kernel!.readWord(word))
    return stack
  }

  /** Reports the pending step, after which `gasAfter` was left. */
  private settle(gasAfter: bigint): void {
    const step = this.pending
    if (step === undefined) return
    this.pending = undefined
    const refund = this.kernel!.exports.refund.value
    this.hooks?.onStep?.({ ...step, cost: step.gas - gasAfter, refund })
  }

  /** @param cost of the whole step, in 64 bits without a sign, as geth counts where a call's price wraps around */
  private fail(status: Status, cost: bigint): void {
    if (this.steps === 'faults') {
      const { pc, opcode, sp, gasLow, gasHigh } = this.last
      this.pending = this.readStep(pc, opcode, sp, (BigInt(gasHigh) << 32n) | BigInt(gasLow))
    }
    const step = this.pending
    if (step === undefined) return
    this.pending = undefined
    this.hooks?.onStep?.({ ...step, cost: BigInt.asUintN(64, cost), error: status })
  }

  private enter(record: number, input: number, size: number, gas: bigint): void {
    const kernel = this.kernel!
    this.level = kernel.exports.depth.value + 2
    this.hooks?.onEnter?.({
      kind: kernel.view.getUint32(record, true),
      depth: this.level,
      caller: this.address(kernel.view.getUint32(record + 4, true)),
      target: kernel.readWordBytes(record + 64, ADDRESS_BYTES),
      value: kernel.readWord(record + 32),
      gas,
      input: kernel.copyOut(input, size),
    })
  }

  private readLog(at: number): LogEvent {
    const kernel = this.kernel!
    const topicCount = kernel.view.getUint32(at + 4, true)
    return {
      address: this.address(kernel.view.getUint32(at, true)),
      topics: Array.from({ length: topicCount }, (_, index) =>
        kernel.copyOut(at + 16 + 32 * index, 32),
      ),
      data: kernel.copyOut(at + 16 + 32 * topicCount, kernel.view.getUint32(at + 8, true)),
    }
  }

  private address(index: number): Uint8Array {
    return this.kernel!.readWordBytes(this.kernel!.exports.accountRecord(index), ADDRESS_BYTES)
  }
}
