/**
 * Makes a block's access list (EIP-7928) from what the machine tells: what each finished transaction and system call
 * changed, and, at the end, all that was read.
 *
 *     watch(machine) ─▶ step 0: system calls ─▶ steps 1 to n: transactions ─▶ step n + 1: the rest ─▶ build
 *
 * A block has to be run whole: an account that was read for a transaction that was then refused is taken for one that
 * the block has read.
 */
import { bigintFromBytes, bytesCompare } from '../base/index.ts'
import type { AccountAccesses, BlockAccessList, StepChange } from '../codec/index.ts'
import type { AccountAccess, AccountChange, Machine } from '../evm/index.ts'

/** Changes of one account so far, by step, ascending. Most accounts change in one way only, so the lists come late. */
type Collected = {
  balances: readonly StepChange<bigint>[]
  nonces: readonly StepChange<bigint>[]
  codes: readonly StepChange<Uint8Array>[]
  slots: Map<bigint, readonly StepChange<bigint>[]> | undefined
}

const NONE: readonly never[] = []
const NOTHING: Readonly<Collected> = { balances: NONE, nonces: NONE, codes: NONE, slots: undefined }

export class AccessListBuilder {
  /** Step of the block that what comes next belongs to. */
  private step = 0
  /** By the machine's numbers of accounts. */
  private readonly collected = new Map<number, Collected>()

  /** Collects from now on what the machine changes; until it begins another block. */
  watch(machine: Machine): void {
    machine.watchChanges((changes) => this.add(changes))
  }

  /** What comes next belongs to the block's next step. */
  nextStep(): void {
    this.step++
  }

  /** Collects the changes of one transaction or call of the current step. */
  add(changes: readonly AccountChange[]): void {
    const { step } = this
    for (const { account, balance, nonce, code, slots } of changes) {
      const collected = this.at(account)
      if (balance !== undefined) collected.balances = put(collected.balances, step, balance)
      if (nonce !== undefined) collected.nonces = put(collected.nonces, step, nonce)
      if (code !== undefined) collected.codes = put(collected.codes, step, code)
      for (const { slot, value } of slots) {
        collected.slots ??= new Map()
        const key = bigintFromBytes(slot)
        collected.slots.set(key, put(collected.slots.get(key) ?? NONE, step, value))
      }
    }
  }

  /** The list of the block that has been run. Cost: a sort of all it read. */
  build(accesses: readonly AccountAccess[]): BlockAccessList {
    const list = accesses.map((access) => this.accountOf(access))
    return list.sort((a, b) => bytesCompare(a.address, b.address))
  }

  private at(account: number): Collected {
    let collected = this.collected.get(account)
    if (collected === undefined) {
      collected = { ...NOTHING }
      this.collected.set(account, collected)
    }
    return collected
  }

  private accountOf({ account, address, slots }: AccountAccess): AccountAccesses {
    const { slots: changed, ...rest } = this.collected.get(account) ?? NOTHING
    const slotReads = slots.map(bigintFromBytes).filter((slot) => changed?.has(slot) !== true)
    return {
      address,
      slotChanges: [...(changed ?? NONE)]
        .map(([slot, changes]) => ({ slot, changes }))
        .sort((a, b) => compare(a.slot, b.slot)),
      slotReads: slotReads.sort(compare),
      balanceChanges: rest.balances,
      nonceChanges: rest.nonces,
      codeChanges: rest.codes,
    }
  }
}

/** Adds a change; of several in one step the last one stays. Writes to lists that this function made. */
function put<Value>(
  changes: readonly StepChange<Value>[],
  step: number,
  value: Value,
): readonly StepChange<Value>[] {
  const change = { step, value }
  if (changes.length === 0) return [change]
  const list = changes as StepChange<Value>[]
  if (list.at(-1)!.step === step) list.pop()
  list.push(change)
  return list
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
