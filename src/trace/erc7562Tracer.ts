/**
 * geth's `erc7562Tracer`: what a bundler of ERC-4337 must know of each message to judge it by the rules of ERC-7562:
 * slots, opcodes, sizes of contracts, hashed bytes.
 */
import { bytesCompare, fromHex, toBareHex, toHex } from '../base/index.ts'
import { type EvmHooks, opcodeName, Status, type StepEvent } from '../evm/index.ts'
import type { TransactionOutcome } from '../execute/index.ts'
import { type CallFrame, CallFrames, isCreation, STATICCALL } from './callFrames.ts'
import { dropUndoneLogs, incomplete, logValues } from './callTracer.ts'
import { addressText, quantity, wordText } from './text.ts'
import type { Tracer, TraceStart, TraceState, TraceValue } from './tracer.ts'

export type Erc7562TracerOptions = {
  readonly withLog?: boolean
  /** Opcodes that are not counted; stack arithmetic where left out. */
  readonly ignoredOpcodes?: readonly number[]
}

/** What is kept of a message beside its frame. */
type Use = {
  readonly reads: Map<string, string>
  readonly writes: Map<string, number>
  readonly transientReads: Map<string, number>
  readonly transientWrites: Map<string, number>
  readonly opcodes: Map<number, number>
  readonly codeReads: string[]
  readonly contractSizes: Map<string, { readonly contractSize: number; readonly opcode: number }>
}

const ISZERO = 0x15
const KECCAK256 = 0x20
const EXTCODESIZE = 0x3b
const EXTCODECOPY = 0x3c
const EXTCODEHASH = 0x3f
const SSTORE = 0x55
const GAS = 0x5a
const TLOAD = 0x5c
const TSTORE = 0x5d
const PUSH0 = 0x5f
const SWAP16 = 0x9f
const RETURN = 0xf3
const REVERT = 0xfd
const CALLS: readonly number[] = [0xf1, 0xf2, 0xf4, STATICCALL]
const CODE_READS: readonly number[] = [EXTCODEHASH, EXTCODESIZE, EXTCODECOPY]
/** POP, ADD, SUB, MUL, DIV, EQ, LT, GT, SLT, SGT, SHL, SHR, AND, OR, NOT, ISZERO. */
const PLAIN: readonly number[] = [
  0x50, 0x01, 0x03, 0x02, 0x04, 0x14, 0x10, 0x11, 0x12, 0x13, 0x1b, 0x1c, 0x16, 0x17, 0x19, 0x15,
]
const ADDRESS_MASK = (1n << 160n) - 1n

export class Erc7562Tracer implements Tracer {
  readonly hooks: EvmHooks
  private readonly frames = new CallFrames()
  private readonly uses = new Map<CallFrame, Use>()
  private readonly ignored: (opcode: number) => boolean
  /** Bytes that were hashed, as hexadecimal, each once. */
  private readonly preimages = new Set<string>()
  private readonly withLog: boolean
  private state: TraceState | undefined
  private last: { readonly opcode: number; readonly top: bigint | undefined } | undefined
  private gasUsed: bigint | undefined

  constructor(options: Erc7562TracerOptions = {}) {
    this.withLog = options.withLog === true
    const { ignoredOpcodes } = options
    this.ignored =
      ignoredOpcodes === undefined
        ? (opcode) => (opcode >= PUSH0 && opcode <= SWAP16) || PLAIN.includes(opcode)
        : (opcode) => ignoredOpcodes.includes(opcode)
    const { frames } = this
    this.hooks = {
      wants: { stack: true, memory: true },
      onStep: (event) => {
        frames.step(event)
        this.step(event)
      },
      onEnter: (event) => {
        this.uses.set(frames.enter(event), emptyUse())
      },
      onExit: (event) => {
        frames.exit(event)
      },
      onSelfDestruct: (event) => frames.selfDestruct(event),
      onStorageLoad: ({ slot, before }) => this.slotRead(wordText(slot), wordText(before)),
      onLog: (event) => {
        if (this.withLog) frames.log(event)
      },
    }
  }

  begin(start: TraceStart): void {
    this.state = start.state
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
    if (this.withLog) dropUndoneLogs(root, false)
    const keccak = [...this.preimages].map((text) => fromHex(`0x${text}`))
    keccak.sort(bytesCompare)
    return { ...this.valueOf(root), ...(keccak.length === 0 ? {} : { keccak: keccak.map(toHex) }) }
  }

  private step(event: StepEvent): void {
    const { opcode, stack } = event
    if (opcode === RETURN || opcode === REVERT) this.last = undefined
    const use = this.uses.get(this.frames.current)!
    const { last } = this
    if (last !== undefined && CODE_READS.includes(last.opcode) && last.top !== undefined) {
      const isExistenceCheck = last.opcode === EXTCODESIZE && opcode === ISZERO
      if (!isExistenceCheck) use.codeReads.push(wordAddress(last.top))
    }
    this.contractSize(use, event)
    // Reading the gas left is harmless where it only limits a call.
    if (last?.opcode === GAS && !CALLS.includes(opcode)) increase(use.opcodes, GAS)
    if (opcode !== GAS && !this.ignored(opcode)) increase(use.opcodes, opcode)
    const top = stack.at(-1)
    if (top !== undefined) {
      if (opcode === SSTORE) increase(use.writes, wordText(top))
      else if (opcode === TLOAD) increase(use.transientReads, wordText(top))
      else if (opcode === TSTORE) increase(use.transientWrites, wordText(top))
      else if (opcode === KECCAK256) this.preimage(event)
    }
    this.last = { opcode, top }
  }

  private slotRead(slot: string, value: string): void {
    const { reads, writes } = this.uses.get(this.frames.current)!
    if (!reads.has(slot) && !writes.has(slot)) reads.set(slot, value)
  }

  private contractSize(use: Use, { opcode, stack }: StepEvent): void {
    const isCodeRead = CODE_READS.includes(opcode)
    if (!isCodeRead && !CALLS.includes(opcode)) return
    const word = stack.at(isCodeRead ? -1 : -2)
    if (word === undefined) return
    const address = wordAddress(word)
    if (use.contractSizes.has(address)) return
    const contractSize = this.state!.getCode(fromHex(address)).length
    use.contractSizes.set(address, { contractSize, opcode })
  }

  private preimage({ stack, memory, error }: StepEvent): void {
    const size = stack.at(-2)
    // Where the step could not pay, its range may be of any size.
    if (size === undefined || error !== undefined) return
    const bytes = new Uint8Array(Number(size))
    const from = Number(stack.at(-1))
    bytes.set(memory.subarray(from, from + bytes.length))
    this.preimages.add(toBareHex(bytes))
  }

  private valueOf(frame: CallFrame): { readonly [key: string]: TraceValue | undefined } {
    const { kind, error, output, calls, logs } = frame
    const use = this.uses.get(frame) ?? emptyUse()
    const isOutOfGas =
      frame !== this.frames.root &&
      (frame.status === Status.CodeDepositOutOfGas || error.startsWith('out of gas'))
    return {
      from: addressText(frame.from),
      gas: quantity(frame.gas),
      gasUsed: quantity(frame.gasUsed),
      to: isCreation(frame) && error !== '' ? undefined : addressText(frame.to),
      input: toHex(frame.input),
      output: output.length === 0 ? undefined : toHex(output),
      error: error === '' ? undefined : error,
      revertReason: frame.revertReason,
      logs: logValues(logs),
      value: kind === STATICCALL ? undefined : quantity(frame.value),
      accessedSlots: {
        reads: Object.fromEntries([...use.reads].map(([slot, value]) => [slot, [value]])),
        writes: Object.fromEntries(use.writes),
        transientReads: Object.fromEntries(use.transientReads),
        transientWrites: Object.fromEntries(use.transientWrites),
      },
      extCodeAccessInfo: use.codeReads,
      usedOpcodes: Object.fromEntries([...use.opcodes].map(([code, n]) => [quantity(code), n])),
      contractSize: Object.fromEntries(use.contractSizes),
      outOfGas: isOutOfGas,
      calls: calls.length === 0 ? undefined : calls.map((call) => this.valueOf(call)),
      type: opcodeName(kind, this.frames.fork),
    }
  }
}

function emptyUse(): Use {
  return {
    reads: new Map(),
    writes: new Map(),
    transientReads: new Map(),
    transientWrites: new Map(),
    opcodes: new Map(),
    codeReads: [],
    contractSizes: new Map(),
  }
}

function increase<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function wordAddress(word: bigint): string {
  return `0x${(word & ADDRESS_MASK).toString(16).padStart(40, '0')}`
}
