/**
 * geth's first call tracer, a script over the steps that tools still ask for by name. It differs from `callTracer`
 * by what a script could see: no message without code has gas, calls of precompiles are left out, an inner call's
 * output is what arrived in its caller's memory, and only CALL and CALLCODE show a value.
 */
import { EMPTY_BYTES, toHex } from '../base/index.ts'
import {
  type EnterEvent,
  type EvmHooks,
  opcodeName,
  STATUS_TEXTS,
  Status,
  type StepEvent,
} from '../evm/index.ts'
import type { TransactionOutcome } from '../execute/index.ts'
import { CALLCODE, type CallFrame, CallFrames, isCreation, SELFDESTRUCT } from './callFrames.ts'
import { incomplete } from './callTracer.ts'
import { precompileOf } from './faultText.ts'
import { addressText, quantity } from './text.ts'
import type { Tracer, TraceStart, TraceValue } from './tracer.ts'

const CALL = 0xf1
const REVERTED = STATUS_TEXTS[Status.Revert]!
/** What the script says of a message that failed without a step that failed. */
const UNSEEN_FAILURE = 'internal failure'

/** Where a call's output goes in its caller's memory. */
type Room = { readonly offset: number; readonly size: number }

export class LegacyCallTracer implements Tracer {
  readonly hooks: EvmHooks
  private readonly frames = new CallFrames()
  private readonly rooms = new Map<CallFrame, Room>()
  /** Frames that ran code. */
  private readonly withCode = new Set<CallFrame>()
  private last: StepEvent | undefined
  /** Ended, its output not yet seen in the caller's memory. */
  private arriving: CallFrame | undefined
  private gasUsed: bigint | undefined

  constructor() {
    const { frames } = this
    this.hooks = {
      wants: { stack: true, memory: true },
      onStep: (event) => this.step(event),
      onEnter: (event) => this.enter(event),
      onExit: (event) => {
        const hasFault = this.last?.error !== undefined && this.last.depth === event.depth
        const frame = frames.exit(event)
        if (event.depth === 1) return
        if (event.status > Status.Revert && !hasFault) frame.error = UNSEEN_FAILURE
        if (precompileOf(frame.to, frames.fork, frames.precompileSet) !== undefined)
          frames.current.calls.pop()
        this.arriving = frame
      },
      onSelfDestruct: (event) => frames.selfDestruct(event),
    }
  }

  begin(start: TraceStart): void {
    this.frames.begin(start)
  }

  end(outcome: TransactionOutcome): void {
    this.gasUsed = outcome.gasUsed
  }

  /** @throws VarveError TRACE_INCOMPLETE */
  result(): TraceValue {
    const { root } = this.frames
    if (root === undefined || this.gasUsed === undefined) throw incomplete()
    root.gasUsed = this.gasUsed
    return this.valueOf(root)
  }

  private step(event: StepEvent): void {
    this.frames.step(event)
    const { arriving } = this
    this.arriving = undefined
    const room = arriving === undefined ? undefined : this.rooms.get(arriving)
    if (arriving !== undefined && room !== undefined && arriving.error === '')
      arriving.output =
        room.size === 0 ? EMPTY_BYTES : event.memory.slice(room.offset, room.offset + room.size)
    this.withCode.add(this.frames.current)
    this.last = event
  }

  private enter(event: EnterEvent): void {
    const frame = this.frames.enter(event)
    const { last } = this
    if (event.depth === 1 || last === undefined || isCreation(frame)) return
    const hasValue = event.kind === CALL || event.kind === CALLCODE
    const operand = (index: number) => Number(last.stack.at(-1 - index) ?? 0n)
    this.rooms.set(frame, { offset: operand(hasValue ? 5 : 4), size: operand(hasValue ? 6 : 5) })
  }

  private valueOf(frame: CallFrame): TraceValue {
    const { kind, error, output, calls } = frame
    const isRoot = frame === this.frames.root
    const hasGas = isRoot || this.withCode.has(frame)
    const hasValue =
      isRoot || kind === CALL || kind === CALLCODE || kind === SELFDESTRUCT || isCreation(frame)
    const hasOutput =
      kind !== SELFDESTRUCT && (error === '' || (isRoot && error === REVERTED && output.length > 0))
    return {
      type: opcodeName(kind, this.frames.fork),
      from: addressText(frame.from),
      to: isCreation(frame) && error !== '' && !isRoot ? undefined : addressText(frame.to),
      value: hasValue ? quantity(frame.value) : undefined,
      gas: hasGas ? quantity(frame.gas) : undefined,
      gasUsed: hasGas ? quantity(frame.gasUsed) : undefined,
      input: toHex(frame.input),
      output: hasOutput ? toHex(output) : undefined,
      error: error === '' ? undefined : error,
      calls: calls.length === 0 ? undefined : calls.map((call) => this.valueOf(call)),
    }
  }
}
