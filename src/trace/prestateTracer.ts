/**
 * geth's `prestateTracer`: accounts and slots that a transaction used, as they were before it; in diff mode those
 * that it changed, before and after.
 *
 * Each is read at its first use, which comes before its first change.
 */
import { bytesEqual, EMPTY_CODE_HASH, Fork, fromHex, toHex } from '../base/index.ts'
import {
  type EnterEvent,
  type EvmHooks,
  type SelfDestructEvent,
  Status,
  type StepEvent,
} from '../evm/index.ts'
import { delegationTarget } from '../execute/index.ts'
import { CREATE, CREATE2 } from './callFrames.ts'
import { incomplete } from './callTracer.ts'
import { addressText, quantity, wordText } from './text.ts'
import type { Tracer, TraceStart, TraceState, TraceValue } from './tracer.ts'

export type PrestateTracerOptions = {
  readonly diffMode?: boolean
  readonly disableCode?: boolean
  readonly disableStorage?: boolean
  /** Keeps accounts that were empty before. */
  readonly includeEmpty?: boolean
}

type Prestate = {
  readonly balance: bigint
  readonly nonce: bigint
  readonly code: Uint8Array
  readonly codeHash: Uint8Array
  readonly storage: Map<bigint, bigint>
}

const BALANCE = 0x31
const EXTCODESIZE = 0x3b
const EXTCODECOPY = 0x3c
const EXTCODEHASH = 0x3f
const SSTORE = 0x55
const ADDRESS_MASK = (1n << 160n) - 1n

export class PrestateTracer implements Tracer {
  readonly hooks: EvmHooks
  private readonly options: PrestateTracerOptions
  /** By address in hexadecimal. */
  private readonly accounts = new Map<string, Prestate>()
  private readonly created = new Set<string>()
  private readonly destructed = new Set<string>()
  private start: TraceStart | undefined
  private ended: TraceValue | undefined

  constructor(options: PrestateTracerOptions = {}) {
    this.options = options
    this.hooks = {
      wants: { stack: true },
      onStep: (event) => this.step(event),
      onEnter: (event) => this.enter(event),
      onStorageLoad: ({ address, slot, before }) => this.useSlot(address, slot, before),
      onStorageStore: ({ address, slot, before }) => this.useSlot(address, slot, before),
      onSelfDestruct: (event) => this.selfDestruct(event),
    }
  }

  begin(start: TraceStart): void {
    this.start = start
    const { sender, target, coinbase, authorities, transaction } = start
    this.use(sender)
    if (transaction.to === undefined) {
      this.use(target)
      this.created.add(addressText(target))
    } else this.useCode(target)
    this.use(coinbase)
    for (const authority of authorities) this.use(authority)
  }

  end(): void {
    // Now, and not when the result is asked for: a later transaction may change the state.
    this.ended = this.options.diffMode === true ? this.difference() : this.prestate()
  }

  /** @throws VarveError TRACE_INCOMPLETE */
  result(): TraceValue {
    if (this.ended === undefined) throw incomplete()
    return this.ended
  }

  private get state(): TraceState {
    if (this.start === undefined) throw incomplete()
    return this.start.state
  }

  private step({ opcode, stack, error, address }: StepEvent): void {
    const top = stack.at(-1)
    if (top === undefined) return
    if (error !== undefined) {
      // A store that a static call forbids was looked at before it was refused.
      if (error === Status.WriteProtection && opcode === SSTORE)
        this.useSlot(address, top, this.state.getStorage(address, fromHex(wordText(top))))
      return
    }
    if (
      opcode === BALANCE ||
      opcode === EXTCODESIZE ||
      opcode === EXTCODECOPY ||
      opcode === EXTCODEHASH
    )
      this.use(addressOfWord(top))
  }

  private enter({ kind, depth, target }: EnterEvent): void {
    if (depth === 1) return
    if (kind !== CREATE && kind !== CREATE2) {
      this.useCode(target)
      return
    }
    this.use(target)
    this.created.add(addressText(target))
  }

  private selfDestruct({ address, beneficiary }: SelfDestructEvent): void {
    this.use(beneficiary)
    const key = addressText(address)
    // EIP-6780: from Cancun on only a contract of the same transaction goes.
    if (this.start!.fork < Fork.Cancun || this.created.has(key)) this.destructed.add(key)
  }

  private use(address: Uint8Array): Prestate {
    const key = addressText(address)
    const known = this.accounts.get(key)
    if (known !== undefined) return known
    const { state } = this
    const account: Prestate = {
      balance: state.getBalance(address),
      nonce: state.getNonce(address),
      code: state.getCode(address),
      codeHash: state.getCodeHash(address),
      storage: new Map(),
    }
    this.accounts.set(key, account)
    return account
  }

  /** As `use`, and the account whose code runs in its place (EIP-7702). */
  private useCode(address: Uint8Array): void {
    this.use(address)
    const delegate = delegationTarget(this.state.getCode(address))
    if (delegate !== undefined) this.use(delegate)
  }

  private useSlot(address: Uint8Array, slot: bigint, value: bigint): void {
    if (this.options.disableStorage === true) return
    const { storage } = this.use(address)
    if (!storage.has(slot)) storage.set(slot, value)
  }

  private prestate(): TraceValue {
    const entries: [string, TraceValue][] = []
    for (const [key, account] of this.accounts)
      if (this.isShown(account)) entries.push([key, this.valueOf(account)])
    return Object.fromEntries(entries)
  }

  private isShown({ balance, nonce, code }: Prestate): boolean {
    return this.options.includeEmpty === true || balance > 0n || nonce > 0n || code.length > 0
  }

  private difference(): TraceValue {
    const pre: [string, TraceValue][] = []
    const post: [string, TraceValue][] = []
    for (const [key, account] of this.accounts) {
      if (!this.destructed.has(key)) {
        const after = this.changesOf(key, account)
        if (after === undefined) continue
        post.push([key, after])
      }
      if (this.isShown(account)) pre.push([key, this.valueOf(account)])
    }
    return { post: Object.fromEntries(post), pre: Object.fromEntries(pre) }
  }

  /** What is different now, or `undefined`; takes the slots out of `before` that are as they were. */
  private changesOf(key: string, before: Prestate): TraceValue | undefined {
    const { state } = this
    const address = fromHex(key)
    const balance = state.getBalance(address)
    const nonce = state.getNonce(address)
    const codeHash = state.getCodeHash(address)
    const hasNewCode = !bytesEqual(codeHash, before.codeHash)
    const storage: [string, string][] = []
    let changedSlotCount = 0
    for (const [slot, value] of before.storage) {
      const now = state.getStorage(address, fromHex(wordText(slot)))
      if (now !== value) {
        changedSlotCount++
        if (now !== 0n) storage.push([wordText(slot), wordText(now)])
      }
      if (now === value || value === 0n) before.storage.delete(slot)
    }
    const isSame =
      balance === before.balance && nonce === before.nonce && !hasNewCode && changedSlotCount === 0
    if (isSame) return undefined
    return {
      balance: balance === before.balance ? undefined : quantity(balance),
      code:
        hasNewCode && this.options.disableCode !== true ? toHex(state.getCode(address)) : undefined,
      codeHash: hasNewCode ? toHex(codeHash) : undefined,
      nonce: nonce === before.nonce || nonce === 0n ? undefined : Number(nonce),
      storage: storage.length === 0 ? undefined : Object.fromEntries(storage),
    }
  }

  private valueOf({ balance, nonce, code, codeHash, storage }: Prestate): TraceValue {
    const slots = [...storage].map(([slot, value]) => [wordText(slot), wordText(value)])
    return {
      balance: quantity(balance),
      code: code.length === 0 || this.options.disableCode === true ? undefined : toHex(code),
      codeHash:
        code.length === 0 || bytesEqual(codeHash, EMPTY_CODE_HASH) ? undefined : toHex(codeHash),
      nonce: nonce === 0n ? undefined : Number(nonce),
      storage: slots.length === 0 ? undefined : Object.fromEntries(slots),
    }
  }
}

function addressOfWord(word: bigint): Uint8Array {
  return fromHex(`0x${(word & ADDRESS_MASK).toString(16).padStart(40, '0')}`)
}
