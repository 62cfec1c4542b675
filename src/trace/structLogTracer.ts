/** geth's default tracer: a list of all steps. Grows with the steps; `limit` bounds it. */
import { Fork, toBareHex, toHex } from '../base/index.ts'
import {
  type EvmHooks,
  type ExitEvent,
  opcodeName,
  type SlotEvent,
  Status,
  type StepEvent,
} from '../evm/index.ts'
import type { TransactionOutcome } from '../execute/index.ts'
import { incomplete } from './callTracer.ts'
import { faultText } from './faultText.ts'
import { quantity } from './text.ts'
import type { Tracer, TraceStart, TraceValue } from './tracer.ts'

export type StructLogOptions = {
  readonly enableMemory?: boolean
  readonly disableStack?: boolean
  readonly disableStorage?: boolean
  readonly enableReturnData?: boolean
  /** Most steps that are kept; 0 for all. */
  readonly limit?: number
}

const WORD_BYTES = 32

type StructLog = { [key: string]: TraceValue | undefined }

export class StructLogTracer implements Tracer {
  readonly hooks: EvmHooks
  private readonly options: StructLogOptions
  private readonly logs: StructLog[] = []
  /** Slots seen so far, by account. */
  private readonly storage = new Map<string, Map<string, string>>()
  private fork: Fork = Fork.Frontier
  private output: Uint8Array | undefined
  private status: Status = Status.Success
  private gasUsed = 0n
  /** The last step was kept, so that what it did to storage belongs to it. */
  private isKept = false

  constructor(options: StructLogOptions = {}) {
    this.options = options
    this.hooks = {
      wants: {
        stack: options.disableStack !== true,
        memory: options.enableMemory === true,
        returnData: options.enableReturnData === true,
      },
      onStep: (event) => this.step(event),
      onExit: (event) => this.exit(event),
      ...(options.disableStorage === true
        ? {}
        : {
            onStorageLoad: (event) => this.slot(event),
            onStorageStore: (event) => this.slot(event),
          }),
    }
  }

  begin(start: TraceStart): void {
    this.fork = start.fork
  }

  end(outcome: TransactionOutcome): void {
    this.gasUsed = outcome.gasUsed
  }

  /** @throws VarveError TRACE_INCOMPLETE */
  result(): TraceValue {
    if (this.output === undefined) throw incomplete()
    const hasOutput = this.status === Status.Success || this.status === Status.Revert
    return {
      gas: Number(this.gasUsed),
      failed: this.status !== Status.Success,
      returnValue: hasOutput ? toHex(this.output) : '0x',
      structLogs: this.logs,
    }
  }

  private step(event: StepEvent): void {
    const { limit = 0, disableStack, enableMemory, enableReturnData } = this.options
    this.isKept = limit === 0 || this.logs.length < limit
    if (!this.isKept) return
    const { opcode, error, memory, returnData, refund } = event
    const log: StructLog = {
      pc: event.pc,
      op: opcodeName(opcode, this.fork),
      gas: Number(event.gas),
      gasCost: Number(event.cost),
      depth: event.depth,
      error: error === undefined ? undefined : faultText(error, event, this.fork),
      stack: disableStack === true ? undefined : event.stack.map(quantity),
      returnData:
        enableReturnData === true && returnData.length > 0 ? toHex(returnData) : undefined,
      memory: enableMemory === true && memory.length > 0 ? wordsOf(memory) : undefined,
      storage: undefined,
      refund: refund === 0n ? undefined : Number(refund),
    }
    this.logs.push(log)
  }

  /** A step that reads or writes a slot shows all that its account's slots are known to hold. */
  private slot({ address, slot, after }: SlotEvent): void {
    const key = toBareHex(address)
    let slots = this.storage.get(key)
    if (slots === undefined) {
      slots = new Map()
      this.storage.set(key, slots)
    }
    slots.set(bareWord(slot), bareWord(after))
    if (this.isKept) this.logs.at(-1)!['storage'] = Object.fromEntries(slots)
  }

  private exit({ depth, status, output }: ExitEvent): void {
    if (depth > 1) return
    this.status = status
    this.output = output
  }
}

function wordsOf(memory: Uint8Array): string[] {
  return Array.from({ length: memory.length / WORD_BYTES }, (_, index) =>
    toBareHex(memory.subarray(index * WORD_BYTES, (index + 1) * WORD_BYTES)),
  )
}

function bareWord(value: bigint): string {
  return value.toString(16).padStart(2 * WORD_BYTES, '0')
}
