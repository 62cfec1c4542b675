/**
 * Makes a block's access list (EIP-7928) from what the machine tells: what each finished transaction and system call
 * changed, and, at the end, all that was read.
 *
 *     watch(machine) ─▶ step 0: system calls ─▶ steps 1 to n: transactions ─▶ step n + 1: the rest ─▶ build
 *
 * A block has to be run whole: an account that was read for a transaction that was then refused is taken for one that
 * the block has read.
 */
import { bigintFromBytes, bytesCompare, toBareHex } from '../base/index.ts'
import type { AccountAccesses, BlockAccessList, StepChange } from '../codec/index.ts'
import type { AccountAccess, AccountChange, Machine } from '../evm/index.ts'

/** Changes of one account so far, by step, ascending. */
type Collected = {
  readonly balances: StepChange<bigint>[]
  readonly nonces: StepChange<bigint>[]
  readonly codes: StepChange<Uint8Array>[]
  readonly slots: Map<bigint, StepChange<bigint>[]>
}

const NOTHING: Collected = { balances: [], nonces: [], codes: [], slots: new Map() }

export class AccessListBuilder {
  /** Step of the block that what comes next belongs to. */
  private step = 0
  private readonly collected = new Map<string, Collected>()

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
    for (const { address, balance, nonce, code, slots } of changes) {
      const { balances, nonces, codes, slots: slotMap } = this.at(address)
      if (balance !== undefined) put(balances, step, balance)
      if (nonce !== undefined) put(nonces, step, nonce)
      if (code !== undefined) put(codes, step, code)
      for (const { slot, value } of slots) {
        const key = bigintFromBytes(slot)
        const list = slotMap.get(key) ?? []
        slotMap.set(key, list)
        put(list, step, value)
      }
    }
  }

  /** The list of the block that has been run. Cost: a sort of all it read. */
  build(accesses: readonly AccountAccess[]): BlockAccessList {
    const list = accesses.map((access) => this.accountOf(access))
    return list.sort((a, b) => bytesCompare(a.address, b.address))
  }

  private at(address: Uint8Array): Collected {
    const key = toBareHex(address)
    let collected = this.collected.get(key)
    if (collected === undefined) {
      collected = { balances: [], nonces: [], codes: [], slots: new Map() }
      this.collected.set(key, collected)
    }
    return collected
  }

  private accountOf({ address, slots }: AccountAccess): AccountAccesses {
    const collected = this.collected.get(toBareHex(address)) ?? NOTHING
    const slotReads = slots.map(bigintFromBytes).filter((slot) => !collected.slots.has(slot))
    return {
      address,
      slotChanges: [...collected.slots]
        .map(([slot, changes]) => ({ slot, changes }))
        .sort((a, b) => compare(a.slot, b.slot)),
      slotReads: slotReads.sort(compare),
      balanceChanges: collected.balances,
      nonceChanges: collected.nonces,
      codeChanges: collected.codes,
    }
  }
}

/** Of several changes in one step the last one stays. */
function put<Value>(changes: StepChange<Value>[], step: number, value: Value): void {
  if (changes.at(-1)?.step === step) changes.pop()
  changes.push({ step, value })
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
