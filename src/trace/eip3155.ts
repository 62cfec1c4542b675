/**
 * Traces of EIP-3155 as geth writes them: a line of JSON a step, then a line that sums up. Lines go out as they are
 * made; nothing of a trace is kept.
 *
 *     {"pc":0,"op":96,"gas":"0x…","gasCost":"0x3","memSize":0,"stack":[],"depth":1,"refund":0,"opName":"PUSH1"}
 *     …
 *     {"output":"","gasUsed":"0x3"}
 *
 * A step that fails while it runs (a revert, a jump to nowhere) has two lines: before, and with the error after it
 * took its operands. One that cannot begin (gas, stack) has one line, with the error.
 */
import { EMPTY_BYTES, Fork, toBareHex, toHex } from '../base/index.ts'
import {
  type EnterEvent,
  type EvmHooks,
  type ExitEvent,
  opcodeName,
  type SelfDestructEvent,
  Status,
  type StepEvent,
} from '../evm/index.ts'
import { faultText } from './faultText.ts'
import { FaultWatch } from './faultWatch.ts'
import { addressText, quantity } from './text.ts'
import type { Tracer, TraceStart, TraceValue } from './tracer.ts'

export type Eip3155Options = {
  readonly memory?: boolean
  readonly returnData?: boolean
  /** Default true; `stack` is null without. */
  readonly stack?: boolean
  /** A line for each message that begins: from, to, input, gas, value, type. */
  readonly callFrames?: boolean
}

const JUMP = 0x56
const JUMPI = 0x57
const RETURNDATACOPY = 0x3e
const CALL = 0xf1
const REVERT = 0xfd

export class Eip3155Tracer implements Tracer {
  readonly hooks: EvmHooks
  private readonly write: (line: string) => void
  private readonly options: Eip3155Options
  private readonly faults = new FaultWatch()
  private fork: Fork = Fork.Frontier
  /** A self-destruct is heard before its step, and stands after it. */
  private destructed: SelfDestructEvent | undefined

  /** @param write takes a line with its end */
  constructor(write: (line: string) => void, options: Eip3155Options = {}) {
    this.write = write
    this.options = options
    const { memory = false, returnData = false, callFrames = false } = options
    this.hooks = {
      // A failed step's second line lacks the operands, which only the stack can tell.
      wants: { stack: true, memory, returnData },
      onStep: (event) => this.step(event),
      onExit: (event) => this.exit(event),
      ...(callFrames
        ? {
            onEnter: (event) => this.enter(event),
            onSelfDestruct: (event) => {
              this.destructed = event
            },
          }
        : {}),
    }
  }

  begin(start: TraceStart): void {
    this.fork = start.fork
  }

  result(): TraceValue {
    return null
  }

  private step(event: StepEvent): void {
    this.faults.step(event)
    const { error } = event
    if (error === undefined) this.line(event, undefined)
    else if (failsWhileRunning(error)) {
      this.line(event, undefined)
      this.line(afterOperands(event), faultText(error, event, this.fork))
    } else this.line(event, faultText(error, event, this.fork))
    const { destructed } = this
    if (destructed === undefined) return
    this.destructed = undefined
    this.frameLine({
      from: destructed.address,
      to: destructed.beneficiary,
      input: EMPTY_BYTES,
      gas: 0n,
      value: destructed.balance,
      type: 'SELFDESTRUCT',
    })
    this.write('{"output":"","gasUsed":"0x0"}\n')
  }

  private enter({ kind, caller, target, input, gas, value }: EnterEvent): void {
    const type = opcodeName(kind, this.fork)
    this.frameLine({ from: caller, to: target, input, gas, value, type })
  }

  private exit({ depth, status, output, gasUsed }: ExitEvent): void {
    const { last } = this.faults
    if (status === Status.Revert && last?.opcode === REVERT && last.depth === depth)
      this.line(afterOperands(last), faultText(status, undefined, this.fork))
    const fault = this.faults.exit(depth, status)
    // With frames begun, each end is told too.
    if (depth > 1 && this.options.callFrames !== true) return
    const error =
      status === Status.Success ? '' : `,"error":"${faultText(status, fault, this.fork)}"`
    this.write(`{"output":"${toBareHex(output)}","gasUsed":"${quantity(gasUsed)}"${error}}\n`)
  }

  private line(event: StepEvent, error: string | undefined): void {
    const { memory, returnData, opcode } = event
    const stack =
      this.options.stack === false
        ? 'null'
        : `[${event.stack.map((word) => `"${quantity(word)}"`).join(',')}]`
    this.write(
      `{"pc":${event.pc},"op":${opcode},"gas":"${quantity(event.gas)}","gasCost":"${quantity(event.cost)}"` +
        (this.options.memory !== true || memory.length === 0
          ? ''
          : `,"memory":"${toHex(memory)}"`) +
        `,"memSize":${event.memorySize},"stack":${stack}` +
        (this.options.returnData !== true || returnData.length === 0
          ? ''
          : `,"returnData":"${toHex(returnData)}"`) +
        `,"depth":${event.depth},"refund":${event.refund},"opName":"${opcodeName(opcode, this.fork)}"` +
        `${error === undefined ? '' : `,"error":"${error}"`}}\n`,
    )
  }

  private frameLine(frame: {
    readonly from: Uint8Array
    readonly to: Uint8Array
    readonly input: Uint8Array
    readonly gas: bigint
    readonly value: bigint
    readonly type: string
  }): void {
    const { from, to, input, gas, value, type } = frame
    const line = {
      from: addressText(from),
      to: addressText(to),
      input: input.length === 0 ? undefined : toHex(input),
      gas: quantity(gas),
      value: quantity(value),
      type,
    }
    this.write(`${JSON.stringify(line)}\n`)
  }
}

/** Whether geth finds the fault only after the step was paid for and has begun. */
function failsWhileRunning(status: Status): boolean {
  return (
    status === Status.InvalidJump ||
    status === Status.InvalidOpcode ||
    status === Status.WriteProtection ||
    status === Status.ReturnDataBounds
  )
}

/** The machine of a failed step once it has its operands and its memory. */
function afterOperands(event: StepEvent): StepEvent {
  const { opcode } = event
  // A call looks at its value, and so at whether it may change state, when all operands are off the stack.
  const taken =
    opcode === JUMP
      ? 1
      : opcode === JUMPI || opcode === REVERT
        ? 2
        : opcode === RETURNDATACOPY
          ? 3
          : opcode === CALL
            ? 7
            : 0
  const stack = event.stack.slice(0, event.stack.length - taken)
  const memorySize = memorySizeAfter(event)
  if (memorySize === event.memorySize || event.memory.length === 0)
    return { ...event, stack, memorySize }
  const memory = new Uint8Array(memorySize)
  memory.set(event.memory)
  return { ...event, stack, memorySize, memory }
}

function memorySizeAfter({ opcode, stack, memorySize }: StepEvent): number {
  const operand = (index: number) => Number(stack.at(-1 - index) ?? 0n)
  const size = opcode === REVERT ? operand(1) : opcode === RETURNDATACOPY ? operand(2) : 0
  if (size === 0) return memorySize
  return Math.max(memorySize, Math.ceil((operand(0) + size) / 32) * 32)
}
