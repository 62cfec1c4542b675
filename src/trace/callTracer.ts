/** geth's `callTracer`: the tree of messages. */
import { toHex, VarveError } from '../base/index.ts'
import { type EvmHooks, opcodeName, Status } from '../evm/index.ts'
import type { TransactionOutcome } from '../execute/index.ts'
import { type CallFrame, CallFrames, type FrameLog, isCreation, STATICCALL } from './callFrames.ts'
import { addressText, quantity } from './text.ts'
import type { Tracer, TraceStart, TraceValue } from './tracer.ts'

export type CallTracerOptions = {
  /** Leaves the messages out that the transaction's own sent. */
  readonly onlyTopCall?: boolean
  /** Shows the logs of each frame, but those that a failure undid. */
  readonly withLog?: boolean
}

export class CallTracer implements Tracer {
  readonly hooks: EvmHooks
  private readonly frames = new CallFrames()
  private readonly options: CallTracerOptions
  private gasUsed: bigint | undefined

  constructor(options: CallTracerOptions = {}) {
    this.options = options
    const { frames } = this
    const isWhole = options.onlyTopCall !== true
    const isWanted = (depth: number) => isWhole || depth === 1
    let depth = 0
    this.hooks = {
      wants: { faultsOnly: true },
      onStep: (event) => frames.step(event),
      onEnter: (event) => {
        depth = event.depth
        if (isWanted(depth)) frames.enter(event)
      },
      onExit: (event) => {
        if (isWanted(event.depth)) frames.exit(event)
        depth = event.depth - 1
      },
      onSelfDestruct: (event) => {
        if (isWhole) frames.selfDestruct(event)
      },
      onLog: (event) => {
        if (options.withLog === true && isWanted(depth)) frames.log(event)
      },
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
    if (this.options.withLog === true) dropUndoneLogs(root, false)
    root.gasUsed = this.gasUsed
    return this.valueOf(root)
  }

  private valueOf(frame: CallFrame): TraceValue {
    const { kind, error, output, calls, logs } = frame
    const hasNoContract = isCreation(frame) && error !== ''
    return {
      from: addressText(frame.from),
      gas: quantity(frame.gas),
      gasUsed: quantity(frame.gasUsed),
      to: hasNoContract ? undefined : addressText(frame.to),
      input: toHex(frame.input),
      output: output.length === 0 ? undefined : toHex(output),
      error: error === '' ? undefined : error,
      revertReason: frame.revertReason,
      calls: calls.length === 0 ? undefined : calls.map((call) => this.valueOf(call)),
      logs: logValues(logs),
      value: kind === STATICCALL ? undefined : quantity(frame.value),
      type: opcodeName(kind, this.frames.fork),
    }
  }
}

/** Logs as a frame shows them, or `undefined` for none. */
export function logValues(logs: readonly FrameLog[]): TraceValue | undefined {
  if (logs.length === 0) return undefined
  return logs.map(({ address, topics, data, index, position }) => ({
    address: addressText(address),
    topics: topics.map(toHex),
    data: toHex(data),
    index: quantity(index),
    position: quantity(position),
  }))
}

/** A failure undoes the logs of its frame and of all below. */
export function dropUndoneLogs(frame: CallFrame, isUndone: boolean): void {
  const isFailed = isUndone || frame.status !== Status.Success
  if (isFailed) frame.logs = []
  for (const call of frame.calls) dropUndoneLogs(call, isFailed)
}

/** The fault of asking for the result of a run that has not ended. */
export function incomplete(): VarveError<TraceErrorCode> {
  return new VarveError('TRACE_INCOMPLETE', 'a trace has a result once its transaction has run')
}

/** Error codes of this module. */
export type TraceErrorCode =
  /** The result of a trace was asked for before its transaction had run to the end. */
  'TRACE_INCOMPLETE'
