/** geth's `flatCallTracer`: the messages as a list, in the shape that Parity's `trace_` methods have. */
import type { Fork } from '../base/index.ts'
import { toHex } from '../base/index.ts'
import { type EvmHooks, opcodeName, STATUS_TEXTS, Status } from '../evm/index.ts'
import type { TransactionOutcome } from '../execute/index.ts'
import {
  type CallFrame,
  CallFrames,
  CREATE,
  isCreation,
  SELFDESTRUCT,
  STATICCALL,
} from './callFrames.ts'
import { incomplete } from './callTracer.ts'
import { precompileOf } from './faultText.ts'
import { addressText, quantity } from './text.ts'
import type { Tracer, TraceStart, TraceValue } from './tracer.ts'

export type FlatCallTracerOptions = {
  /** Words errors as Parity did. */
  readonly convertParityErrors?: boolean
  /** Shows calls of precompiles, which Parity left out. */
  readonly includePrecompiles?: boolean
}

/** Where the transaction lies; shown with each message. */
export type TracePlace = {
  readonly blockHash?: Uint8Array
  readonly blockNumber: bigint
  readonly transactionHash?: Uint8Array
  readonly transactionIndex: number
}

const CALL = 0xf1
const REVERTED = STATUS_TEXTS[Status.Revert]!

const PARITY_TEXTS: Readonly<Record<string, string>> = {
  'contract creation code storage out of gas': 'Out of gas',
  'out of gas': 'Out of gas',
  'gas uint64 overflow': 'Out of gas',
  'max code size exceeded': 'Out of gas',
  'invalid jump destination': 'Bad jump destination',
  'execution reverted': 'Reverted',
  'return data out of bounds': 'Out of bounds',
  'stack limit reached 1024 (1023)': 'Out of stack',
  'precompiled failed': 'Built-in failed',
  'invalid input length': 'Built-in failed',
}
const PARITY_PREFIXES: readonly (readonly [start: string, text: string])[] = [
  ['out of gas:', 'Out of gas'],
  ['invalid opcode:', 'Bad instruction'],
  ['stack underflow', 'Stack underflow'],
]

export class FlatCallTracer implements Tracer {
  readonly hooks: EvmHooks
  private readonly frames = new CallFrames()
  private readonly options: FlatCallTracerOptions
  private readonly place: TracePlace
  private gasUsed: bigint | undefined

  constructor(
    options: FlatCallTracerOptions = {},
    place: TracePlace = { blockNumber: 0n, transactionIndex: 0 },
  ) {
    this.options = options
    this.place = place
    const { frames } = this
    this.hooks = {
      wants: { faultsOnly: true },
      onStep: (event) => frames.step(event),
      onEnter: (event) => {
        frames.enter(event)
      },
      onExit: (event) => {
        const frame = frames.exit(event)
        if (event.depth > 1 && this.isHidden(frame)) frames.current.calls.pop()
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
    const list: TraceValue[] = []
    this.flatten(root, [], list)
    return list
  }

  private isHidden({ kind, to }: CallFrame): boolean {
    if (this.options.includePrecompiles === true) return false
    if (kind !== CALL && kind !== STATICCALL) return false
    return precompileOf(to, this.frames.fork, this.frames.precompileSet) !== undefined
  }

  private flatten(frame: CallFrame, traceAddress: readonly number[], list: TraceValue[]): void {
    const { blockHash, blockNumber, transactionHash, transactionIndex } = this.place
    const { error } = frame
    const hasResult = error === '' || error === REVERTED
    list.push({
      action: actionOf(frame, this.frames.fork),
      blockHash: blockHash === undefined ? null : toHex(blockHash),
      blockNumber: Number(blockNumber),
      error: error === '' ? undefined : this.errorText(error),
      result: hasResult ? resultOf(frame) : undefined,
      subtraces: frame.calls.length,
      traceAddress,
      transactionHash: transactionHash === undefined ? null : toHex(transactionHash),
      transactionPosition: transactionIndex,
      type: isCreation(frame) ? 'create' : frame.kind === SELFDESTRUCT ? 'suicide' : 'call',
    })
    frame.calls.forEach((call, index) => {
      this.flatten(call, [...traceAddress, index], list)
    })
  }

  private errorText(error: string): string {
    if (this.options.convertParityErrors !== true) return error
    const exact = Object.hasOwn(PARITY_TEXTS, error) ? PARITY_TEXTS[error] : undefined
    return exact ?? PARITY_PREFIXES.find(([start]) => error.startsWith(start))?.[1] ?? error
  }
}

function actionOf(frame: CallFrame, fork: Fork): TraceValue {
  const { kind, from, to, value, gas, input } = frame
  if (kind === SELFDESTRUCT)
    return {
      address: addressText(from),
      balance: quantity(value),
      refundAddress: addressText(to),
    }
  if (isCreation(frame))
    return {
      creationMethod: kind === CREATE ? 'create' : 'create2',
      from: addressText(from),
      gas: quantity(gas),
      init: toHex(input),
      value: quantity(value),
    }
  return {
    callType: opcodeName(kind, fork).toLowerCase(),
    from: addressText(from),
    gas: quantity(gas),
    input: toHex(input),
    to: addressText(to),
    value: quantity(value),
  }
}

function resultOf(frame: CallFrame): TraceValue | undefined {
  const { gasUsed, output } = frame
  if (frame.kind === SELFDESTRUCT) return undefined
  if (!isCreation(frame)) return { gasUsed: quantity(gasUsed), output: toHex(output) }
  return {
    address: frame.error === '' ? addressText(frame.to) : undefined,
    code: toHex(output),
    gasUsed: quantity(gasUsed),
  }
}
