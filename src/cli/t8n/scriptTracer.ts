/**
 * Tracers written in JavaScript, as geth takes them: an object with `result` and `fault`, and `setup`, `step`,
 * `enter` and `exit` as it likes. One object serves all transactions of a run.
 *
 *     {count: 0, step(log, db) { this.count++ }, fault() {}, result(ctx, db) { return this.count }}
 *
 * Big numbers are BigInts and bytes are Uint8Arrays. The script is the user's own, from the command line; it runs in
 * a context without Node's globals and with a time limit, which keeps it tidy and is no wall against hostile code.
 */
import { createContext, runInContext } from 'node:vm'
import { type Fork, fromHex, toHex } from '../../base/index.ts'
import {
  type EnterEvent,
  type EvmHooks,
  type ExitEvent,
  opcodeName,
  STATUS_TEXTS,
  type StepEvent,
} from '../../evm/index.ts'
import type { TransactionOutcome } from '../../execute/index.ts'
import {
  contractAddress,
  faultText,
  precompileOf,
  type Tracer,
  type TraceStart,
  type TraceValue,
} from '../../trace/index.ts'
import { T8nExit, T8nFault } from './t8nFault.ts'

/** Milliseconds that one call of the script may take. */
const CALL_MS_MAX = 5_000
const ADDRESS_DIGITS = 40
const WORD_DIGITS = 64

type Bytes = Uint8Array | readonly number[] | string

export class ScriptTracer implements Tracer {
  readonly hooks: EvmHooks
  private readonly context: Record<string, unknown>
  private start: TraceStart | undefined
  private outcome: TransactionOutcome | undefined
  private lastFault: StepEvent | undefined
  private readonly frames: EnterEvent[] = []

  /** @param config handed to `setup`, as JSON @throws T8nFault Config where the script is no tracer */
  constructor(source: string, config: string) {
    this.context = createContext({ ...this.globals() })
    this.evaluate(`tracer = (${source}\n)`)
    for (const name of ['result', 'fault'])
      if (!this.has(name)) throw scriptFault(`trace object must expose a function ${name}()`)
    if (this.has('enter') !== this.has('exit'))
      throw scriptFault('trace object must expose either both or none of enter() and exit()')
    if (this.has('setup')) this.call('setup', config === '' ? '{}' : config)
    this.hooks = {
      wants: { stack: true, memory: true },
      onStep: (event) => this.step(event),
      onEnter: (event) => this.enter(event),
      onExit: (event) => this.exit(event),
    }
  }

  begin(start: TraceStart): void {
    this.start = start
    this.outcome = undefined
  }

  end(outcome: TransactionOutcome): void {
    this.outcome = outcome
  }

  /** What `result` returns, as JSON holds it; BigInts as decimal text. */
  result(): TraceValue {
    const value = this.call('result', this.transaction(), this.database())
    const text = JSON.stringify(value, (_key, item: unknown) =>
      typeof item === 'bigint' ? item.toString() : item,
    ) as string | undefined
    return text === undefined ? null : (JSON.parse(text) as TraceValue)
  }

  private step(event: StepEvent): void {
    const { error } = event
    if (error === undefined) {
      if (this.has('step')) this.call('step', this.log(event), this.database())
      return
    }
    this.lastFault = event
    this.call('fault', this.log(event), this.database())
  }

  private enter(event: EnterEvent): void {
    this.frames.push(event)
    if (event.depth === 1 || !this.has('enter')) return
    this.call('enter', {
      getType: () => opcodeName(event.kind, this.fork),
      getFrom: () => event.caller,
      getTo: () => event.target,
      getInput: () => event.input,
      getGas: () => Number(event.gas),
      getValue: () => event.value,
    })
  }

  private exit(event: ExitEvent): void {
    this.frames.pop()
    const fault = this.lastFault
    this.lastFault = undefined
    if (event.depth === 1 || !this.has('exit')) return
    const { status } = event
    this.call('exit', {
      getGasUsed: () => Number(event.gasUsed),
      getOutput: () => event.output,
      getError: () =>
        status === 0
          ? undefined
          : fault === undefined
            ? STATUS_TEXTS[status]
            : faultText(status, fault, this.fork),
    })
  }

  private get fork(): Fork {
    return this.start!.fork
  }

  private log(event: StepEvent): object {
    const { opcode, stack, memory } = event
    const frame = this.frames.at(-1)!
    const name = opcodeName(opcode, this.fork)
    return {
      op: {
        toNumber: () => opcode,
        toString: () => name,
        isPush: () => opcode >= 0x5f && opcode <= 0x7f,
      },
      stack: { peek: (index: number) => stack.at(-1 - index) ?? 0n, length: () => stack.length },
      memory: {
        slice: (from: number, to: number) => memory.slice(from, to),
        getUint: (from: number) => BigInt(toHex(memory.slice(from, from + 32)).padEnd(66, '0')),
        length: () => memory.length,
      },
      contract: {
        getCaller: () => frame.caller,
        getAddress: () => event.address,
        getValue: () => frame.value,
        getInput: () => frame.input,
      },
      getPC: () => event.pc,
      getGas: () => Number(event.gas),
      getCost: () => Number(event.cost),
      getDepth: () => event.depth,
      getRefund: () => Number(event.refund),
      getError: () =>
        event.error === undefined ? undefined : faultText(event.error, event, this.fork),
    }
  }

  private database(): object {
    const { state } = this.start!
    return {
      getBalance: (address: Bytes) => state.getBalance(addressOf(address)),
      getNonce: (address: Bytes) => Number(state.getNonce(addressOf(address))),
      getCode: (address: Bytes) => state.getCode(addressOf(address)),
      getState: (address: Bytes, slot: Bytes) =>
        wordBytes(state.getStorage(addressOf(address), sized(slot, WORD_DIGITS))),
      exists: (address: Bytes) => {
        const at = addressOf(address)
        return state.getNonce(at) > 0n || state.getBalance(at) > 0n || state.getCode(at).length > 0
      },
    }
  }

  /** The transaction as `result` is told of it. */
  private transaction(): object {
    const { sender, target, transaction } = this.start!
    const outcome = this.outcome!
    return {
      type: transaction.to === undefined ? 'CREATE' : 'CALL',
      from: sender,
      to: target,
      input: transaction.data,
      gas: Number(transaction.gasLimit),
      gasUsed: Number(outcome.gasUsed),
      gasPrice: outcome.gasPrice,
      value: transaction.value,
      output: outcome.output,
      ...(outcome.status === 0 ? {} : { error: STATUS_TEXTS[outcome.status] }),
    }
  }

  private globals(): Record<string, unknown> {
    return {
      toHex: (bytes: Bytes) => toHex(bytesOf(bytes)),
      toWord: (bytes: Bytes) => sized(bytes, WORD_DIGITS),
      toAddress: addressOf,
      toContract: (address: Bytes, nonce: number) =>
        contractAddress(addressOf(address), BigInt(nonce)),
      isPrecompiled: (address: Bytes) =>
        precompileOf(addressOf(address), this.fork, this.start?.precompileSet) !== undefined,
      slice: (bytes: Bytes, from: number, to: number) => bytesOf(bytes).slice(from, to),
      bigInt: (value: string | number | bigint) => BigInt(value),
    }
  }

  private has(name: string): boolean {
    const { tracer } = this.context
    return typeof (tracer as Record<string, unknown> | undefined)?.[name] === 'function'
  }

  private call(name: string, ...args: readonly unknown[]): unknown {
    this.context['callArguments'] = args
    return this.evaluate(`tracer.${name}(...callArguments)`)
  }

  private evaluate(source: string): unknown {
    try {
      return runInContext(source, this.context, { timeout: CALL_MS_MAX })
    } catch (error) {
      // Errors of the context are of another realm, and no instances of this one's Error.
      const message = (error as { readonly message?: unknown } | undefined)?.message
      throw scriptFault(`tracer script: ${String(message ?? error)}`)
    }
  }
}

function bytesOf(value: Bytes): Uint8Array {
  if (typeof value === 'string') {
    const digits = value.replace(/^0x/i, '')
    return fromHex(`0x${digits.length % 2 === 0 ? digits : `0${digits}`}`)
  }
  return Uint8Array.from(value)
}

/** The last bytes of a value, with zeros before it where it is shorter. */
function sized(value: Bytes, digits: number): Uint8Array {
  const text = toHex(bytesOf(value)).slice(2).padStart(digits, '0')
  return fromHex(`0x${text.slice(-digits)}`)
}

function addressOf(value: Bytes): Uint8Array {
  return sized(value, ADDRESS_DIGITS)
}

function wordBytes(value: bigint): Uint8Array {
  return fromHex(`0x${value.toString(16).padStart(WORD_DIGITS, '0')}`)
}

function scriptFault(message: string): T8nFault {
  return new T8nFault(T8nExit.Config, message)
}
