/**
 * The tree of messages of a transaction, as several tracers need it: calls, creations, and self-destructs as
 * messages of their own.
 */
import { assert, EMPTY_BYTES, Fork } from '../base/index.ts'
import {
  type EnterEvent,
  type ExitEvent,
  type LogEvent,
  type PrecompileSet,
  type SelfDestructEvent,
  STATUS_TEXTS,
  Status,
  type StepEvent,
} from '../evm/index.ts'
import { faultText, precompileFaultText } from './faultText.ts'
import { FaultWatch } from './faultWatch.ts'
import { revertReason } from './revertReason.ts'
import type { TraceStart } from './tracer.ts'

export const CREATE = 0xf0
export const CALLCODE = 0xf2
export const DELEGATECALL = 0xf4
export const CREATE2 = 0xf5
export const STATICCALL = 0xfa
export const SELFDESTRUCT = 0xff

export type FrameLog = LogEvent & {
  /** Number of the log in the transaction. */
  readonly index: number
  /** How many messages the frame had sent before. */
  readonly position: number
}

export type CallFrame = {
  /** Opcode that made the message. */
  readonly kind: number
  /** Account whose code sent it; for a DELEGATECALL too. */
  readonly from: Uint8Array
  /** Account whose code was asked for, or the new contract. */
  readonly to: Uint8Array
  /** Account that the frame acts on. */
  readonly self: Uint8Array
  readonly value: bigint
  gas: bigint
  gasUsed: bigint
  readonly input: Uint8Array
  output: Uint8Array
  /** Empty where it succeeded. */
  error: string
  revertReason: string | undefined
  status: Status
  readonly calls: CallFrame[]
  logs: FrameLog[]
}

/** True where the frame's message made a contract, or tried to. */
export function isCreation({ kind }: CallFrame): boolean {
  return kind === CREATE || kind === CREATE2
}

/** Builds the tree. The caller passes the events on. Memory: what the messages hold, which their gas has paid for. */
export class CallFrames {
  root: CallFrame | undefined
  fork: Fork = Fork.Frontier
  precompileSet: PrecompileSet | undefined
  private readonly open: CallFrame[] = []
  private readonly faults = new FaultWatch()
  private gasLimit = 0n
  private logCount = 0

  begin({ fork, precompileSet, transaction }: TraceStart): void {
    this.fork = fork
    this.precompileSet = precompileSet
    this.gasLimit = transaction.gasLimit
  }

  /** The innermost frame that runs. */
  get current(): CallFrame {
    const frame = this.open.at(-1)
    assert(frame !== undefined, 'trace: an event outside of all messages')
    return frame
  }

  step(event: StepEvent): void {
    this.faults.step(event)
  }

  enter({ kind, caller, target, value, gas, input }: EnterEvent): CallFrame {
    const parent = this.open.at(-1)
    const isBorrowed = kind === DELEGATECALL || kind === CALLCODE
    const frame: CallFrame = {
      kind,
      from: parent?.self ?? caller,
      to: target,
      self: isBorrowed && parent !== undefined ? parent.self : target,
      value,
      // The transaction's own message is given what the transaction buys, as geth shows it.
      gas: parent === undefined ? this.gasLimit : gas,
      gasUsed: 0n,
      input,
      output: EMPTY_BYTES,
      error: '',
      revertReason: undefined,
      status: Status.Success,
      calls: [],
      logs: [],
    }
    if (parent === undefined) this.root = frame
    else parent.calls.push(frame)
    this.open.push(frame)
    return frame
  }

  /** Ends the innermost frame and returns it; its parent's `calls` hold it already. */
  exit({ depth, status, gasUsed, output }: ExitEvent): CallFrame {
    const frame = this.open.pop()
    assert(frame !== undefined, 'trace: an exit without its enter')
    frame.gasUsed = gasUsed
    frame.status = status
    const fault = this.faults.exit(depth, status)
    if (status === Status.Success) frame.output = output
    else {
      frame.error = this.errorOf(frame, status, fault)
      if (status === Status.Revert) {
        frame.output = output
        frame.revertReason = revertReason(output)
      }
    }
    return frame
  }

  log(event: LogEvent): void {
    const frame = this.current
    frame.logs.push({ ...event, index: this.logCount++, position: frame.calls.length })
  }

  selfDestruct({ address, beneficiary, balance }: SelfDestructEvent): void {
    this.current.calls.push({
      kind: SELFDESTRUCT,
      from: address,
      to: beneficiary,
      self: address,
      value: balance,
      gas: 0n,
      gasUsed: 0n,
      input: EMPTY_BYTES,
      output: EMPTY_BYTES,
      error: '',
      revertReason: undefined,
      status: Status.Success,
      calls: [],
      logs: [],
    })
  }

  private errorOf(frame: CallFrame, status: Status, fault: StepEvent | undefined): string {
    if (status === Status.PrecompileFailed)
      return precompileFaultText(frame.to, frame.input, frame.gas, this.fork, this.precompileSet)
    return fault === undefined ? STATUS_TEXTS[status]! : faultText(status, fault, this.fork)
  }
}
