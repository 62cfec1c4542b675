/**
 * What a tracer may hear of a running message: one typed schema. Every hook is optional. A step is reported once its
 * cost is known, with the machine as it was before it ran; what it did (storage, log, call) follows it.
 *
 *     onEnter ─ onStep ─ onStorageLoad ─ onStep(CALL) ─ onEnter … onExit ─ onStep … ─ onExit
 *
 * Hooks must not call the machine's `call`, `create`, `revert` or any setter; reading is fine. Bytes and lists are
 * fresh and may be kept.
 */
import type { Status } from './status.ts'

export type StepEvent = {
  readonly pc: number
  readonly opcode: number
  /** Gas before the step. */
  readonly gas: bigint
  /**
   * Gas it took; for calls and creations with the gas given to the callee, without a stipend. Of a failing step what it
   * would have taken, also where that is more than there was; nothing but the fixed part where geth tells no more.
   */
  readonly cost: bigint
  /** 1 for the transaction's own frame, as EIP-3155 counts. */
  readonly depth: number
  /** Refund of the transaction once this step was paid for: with what a store or a self-destruct has earned. */
  readonly refund: bigint
  /** Account the frame acts on, and the one whose code runs; 20 bytes. */
  readonly address: Uint8Array
  readonly codeAddress: Uint8Array
  /** Words on the stack before the step. */
  readonly stackSize: number
  /** Bottom first; empty unless `wants.stack`. */
  readonly stack: readonly bigint[]
  /** Bytes of memory before the step; the bytes themselves only if `wants.memory`. */
  readonly memorySize: number
  readonly memory: Uint8Array
  /** Only if `wants.returnData`. */
  readonly returnData: Uint8Array
  /** Why the step failed, which ends its frame. */
  readonly error: Status | undefined
}

export type EnterEvent = {
  /** Opcode that made the message; the transaction's own are CALL and CREATE. */
  readonly kind: number
  /** 1 for the transaction's own message. */
  readonly depth: number
  readonly caller: Uint8Array
  /** Target of a call (whose code is asked for, also under DELEGATECALL), or the new contract's address. */
  readonly target: Uint8Array
  readonly value: bigint
  readonly gas: bigint
  /** Input, or init code. */
  readonly input: Uint8Array
}

export type ExitEvent = {
  readonly depth: number
  readonly status: Status
  readonly gasUsed: bigint
  readonly output: Uint8Array
}

/** A read or write of a slot, of storage or transient storage. For a read both values are what was read. */
export type SlotEvent = {
  readonly address: Uint8Array
  readonly slot: bigint
  /** Value before the step. */
  readonly before: bigint
  /** Value after it. */
  readonly after: bigint
}

export type LogEvent = {
  readonly address: Uint8Array
  readonly topics: readonly Uint8Array[]
  readonly data: Uint8Array
}

export type SelfDestructEvent = {
  readonly address: Uint8Array
  readonly beneficiary: Uint8Array
  /** Wei moved. */
  readonly balance: bigint
}

export type EvmHooks = {
  /** Copies that steps carry; each costs time a step. */
  readonly wants?: {
    /** Only steps that fail are reported, for listeners who ask why a frame failed: most of a step's price is saved. */
    readonly faultsOnly?: boolean
    readonly stack?: boolean
    readonly memory?: boolean
    readonly returnData?: boolean
  }
  onStep?(event: StepEvent): void
  onEnter?(event: EnterEvent): void
  onExit?(event: ExitEvent): void
  onStorageLoad?(event: SlotEvent): void
  onStorageStore?(event: SlotEvent): void
  onTransientLoad?(event: SlotEvent): void
  onTransientStore?(event: SlotEvent): void
  onLog?(event: LogEvent): void
  onSelfDestruct?(event: SelfDestructEvent): void
}

/** Names of all hooks that are called, for wrappers that forward every one and the test that holds them to it. */
export const HOOK_NAMES = [
  'onStep',
  'onEnter',
  'onExit',
  'onStorageLoad',
  'onStorageStore',
  'onTransientLoad',
  'onTransientStore',
  'onLog',
  'onSelfDestruct',
] as const satisfies readonly (keyof EvmHooks)[]

/** One set of hooks that tells several, in order. */
export function joinHooks(...all: readonly EvmHooks[]): EvmHooks {
  const joined: Record<string, unknown> = {
    wants: {
      faultsOnly: all.every(({ onStep, wants }) => onStep === undefined || wants?.faultsOnly),
      stack: all.some(({ wants }) => wants?.stack),
      memory: all.some(({ wants }) => wants?.memory),
      returnData: all.some(({ wants }) => wants?.returnData),
    },
  }
  for (const name of HOOK_NAMES) {
    const listeners = all.filter((hooks) => hooks[name] !== undefined)
    if (listeners.length === 0) continue
    joined[name] = (event: never): void => {
      for (const hooks of listeners) hooks[name]?.(event)
    }
  }
  return joined as EvmHooks
}
