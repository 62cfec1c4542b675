/**
 * Random blocks of random transactions, held against three properties. First, a block on one machine leads to the same
 * state, gas and logs as each of its transactions in a block of its own over the state that the one before left.
 * Second, no wei comes into being, and those that vanish are the base fees, where nothing destroys itself. Third, the
 * access list of the block is those of the blocks of one transaction laid over each other, from Cancun on.
 */
import assert from 'node:assert/strict'
import { EMPTY_CODE_HASH, Fork, toHex, U256_MAX } from '../base/index.ts'
import {
  type AccountAccesses,
  type BlockAccessList,
  SenderRecovery,
  type StepChange,
  type UnsignedTransaction,
} from '../codec/index.ts'
import { Machine } from '../evm/index.ts'
import { keccak256 } from '../kernels/index.ts'
import {
  type Account,
  addressHashOf,
  type HashKey,
  hashKey,
  type StateDelta,
  type StateView,
} from '../state/index.ts'
import { Prng } from '../testing/index.ts'
import { AccessListBuilder } from './accessListBuilder.ts'
import { AUTHORITY_KEY, authorization } from './testWorld.suite.ts'
import { executeTransaction, type TransactionOutcome } from './transaction.ts'
import { type ExecutionBlock, emptyBlockSpace } from './transactionCheck.ts'
import { isTransactionRejection } from './transactionRejection.ts'
import { ViewHost } from './viewHost.ts'
import { deltaOfWrites } from './writtenDelta.ts'

const ACCOUNT_COUNT = 8
const COINBASE_INDEX = 7
const address = (index: number) => new Uint8Array(20).fill(0x10 + index)
const recovery = new SenderRecovery({ kind: 'wasm', recover: () => AUTHORITY_KEY })

/** The naive model of a state: maps that a delta is written into. */
class MapState implements StateView {
  readonly accounts = new Map<HashKey, Account>()
  readonly slots = new Map<HashKey, Map<HashKey, Uint8Array>>()
  readonly codes = new Map<HashKey, Uint8Array>()

  account(addressHash: Uint8Array): Account | undefined {
    return this.accounts.get(hashKey(addressHash))
  }

  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    return this.slots.get(hashKey(addressHash))?.get(hashKey(slotHash))
  }

  code(codeHash: Uint8Array): Uint8Array {
    return this.codes.get(hashKey(codeHash))!
  }

  hasStorage(addressHash: Uint8Array): boolean {
    return (this.slots.get(hashKey(addressHash))?.size ?? 0) > 0
  }

  apply(delta: StateDelta): void {
    for (const { codeHash, code } of delta.codes) this.codes.set(hashKey(codeHash), code)
    for (const { addressHash, before, after, storageCleared, slots } of delta.accounts) {
      const key = hashKey(addressHash)
      assert.deepEqual(this.accounts.get(key), before, 'a delta starts from the state before')
      if (after === undefined) this.accounts.delete(key)
      else this.accounts.set(key, after)
      const own = this.slots.get(key) ?? new Map<HashKey, Uint8Array>()
      if (storageCleared || after === undefined) own.clear()
      for (const slot of slots) {
        assert.deepEqual(own.get(hashKey(slot.slotHash)), slot.before)
        if (slot.after === undefined) own.delete(hashKey(slot.slotHash))
        else own.set(hashKey(slot.slotHash), slot.after)
      }
      if (own.size > 0) this.slots.set(key, own)
      else this.slots.delete(key)
    }
  }

  /** Forgets codes that no account names. */
  dropUnusedCodes(): void {
    const used = new Set([...this.accounts.values()].map(({ codeHash }) => hashKey(codeHash)))
    for (const key of this.codes.keys()) if (!used.has(key)) this.codes.delete(key)
  }

  copy(): MapState {
    const copy = new MapState()
    for (const [key, account] of this.accounts) copy.accounts.set(key, account)
    for (const [key, own] of this.slots) copy.slots.set(key, new Map(own))
    for (const [key, code] of this.codes) copy.codes.set(key, code)
    return copy
  }

  get supply(): bigint {
    let sum = 0n
    for (const { balance } of this.accounts.values()) sum += balance
    return sum
  }
}

/** Runs `stepCount` random blocks. @param seed names the run */
export function fuzzTransactions(seed: number, stepCount: number): void {
  const prng = new Prng(seed)
  const machine = new Machine()
  for (let step = 0; step < stepCount; step++) {
    const label = `seed ${seed} step ${step}`
    const fork = prng.between(Fork.Frontier, Fork.Amsterdam) as Fork
    const hasDestruct = prng.oneIn(3)
    const start = randomState(prng, hasDestruct)
    const block = randomBlock(prng, fork)
    const transactions = Array.from({ length: prng.between(1, 6) }, () =>
      randomTransaction(prng, fork),
    )
    const together = start.copy()
    const whole = runBlock(machine, together, block, transactions)
    const outcomes = whole.ran
    const oneByOne = start.copy()
    const singles = transactions.map((each) => runBlock(machine, oneByOne, block, [each]))
    assert.deepEqual(
      outcomes,
      singles.flatMap(({ ran }) => ran),
      label,
    )
    if (fork >= Fork.Cancun)
      assert.deepEqual(whole.accessList, laidOver(singles.map((each) => each.accessList)), label)
    // One by one, a code that a later transaction replaces is written as well; no account names it any more.
    for (const state of [together, oneByOne]) state.dropUnusedCodes()
    assert.deepEqual(together, oneByOne, label)
    checkSupply(start, together, block, outcomes, hasDestruct, label)
  }
}

function checkSupply(
  before: MapState,
  after: MapState,
  block: ExecutionBlock,
  outcomes: readonly Ran[],
  hasDestruct: boolean,
  label: string,
): void {
  let burnt = 0n
  for (const { outcome } of outcomes)
    if (outcome !== undefined) {
      burnt += outcome.gasUsed * block.baseFee + outcome.blobGasUsed * block.blobBaseFee
      assert(outcome.gasUsed >= 21_000n || block.fork < Fork.London, label)
    }
  const vanished = before.supply - after.supply
  if (hasDestruct) assert(vanished >= burnt, label)
  else assert.equal(vanished, burnt, label)
}

type Sent = { readonly transaction: UnsignedTransaction; readonly sender: Uint8Array }
type Ran = { readonly code: string; readonly outcome: TransactionOutcome | undefined }
type BlockRun = { readonly ran: Ran[]; readonly accessList: BlockAccessList }

/** Lists of blocks of one transaction, one after the other, as the list of one block of all. */
function laidOver(lists: readonly BlockAccessList[]): BlockAccessList {
  const byAddress = new Map<string, AccountAccesses>()
  lists.forEach((list, index) => {
    const later = <Value>(changes: readonly StepChange<Value>[]): StepChange<Value>[] =>
      changes.map(({ step, value }) => ({ step: step + index, value }))
    for (const account of list) {
      const { address } = account
      const old = byAddress.get(toHex(address))
      const slots = new Map(old?.slotChanges.map(({ slot, changes }) => [slot, changes]))
      for (const { slot, changes } of account.slotChanges)
        slots.set(slot, [...(slots.get(slot) ?? []), ...later(changes)])
      const reads = new Set([...(old?.slotReads ?? []), ...account.slotReads])
      for (const slot of old?.slotChanges ?? []) reads.delete(slot.slot)
      for (const slot of slots.keys()) reads.delete(slot)
      const order = (a: bigint, b: bigint): number => (a < b ? -1 : 1)
      byAddress.set(toHex(address), {
        address,
        slotChanges: [...slots]
          .map(([slot, changes]) => ({ slot, changes }))
          .sort((a, b) => order(a.slot, b.slot)),
        slotReads: [...reads].sort(order),
        balanceChanges: [...(old?.balanceChanges ?? []), ...later(account.balanceChanges)],
        nonceChanges: [...(old?.nonceChanges ?? []), ...later(account.nonceChanges)],
        codeChanges: [...(old?.codeChanges ?? []), ...later(account.codeChanges)],
      })
    }
  })
  return [...byAddress.keys()].sort().map((key) => byAddress.get(key)!)
}

function runBlock(
  machine: Machine,
  state: MapState,
  block: ExecutionBlock,
  sent: readonly Sent[],
): BlockRun {
  machine.beginBlock(block, new ViewHost(state, () => new Uint8Array(32)))
  const builder = new AccessListBuilder()
  builder.watch(machine)
  const context = { machine, block, space: emptyBlockSpace(block), recovery }
  const ran = sent.map(({ transaction, sender }): Ran => {
    builder.nextStep()
    // The nonce that fits, mostly: what the state says now.
    const nonce = transaction.nonce === 0n ? machine.getNonce(sender) : transaction.nonce
    try {
      return { code: '', outcome: executeTransaction(context, { ...transaction, nonce }, sender) }
    } catch (error) {
      if (!isTransactionRejection(error)) throw error
      return { code: error.code, outcome: undefined }
    }
  })
  const accessList = builder.build(machine.accesses())
  state.apply(deltaOfWrites(machine.writeSet()))
  return { ran, accessList }
}

function randomBlock(prng: Prng, fork: Fork): ExecutionBlock {
  return {
    fork,
    blob: fork >= Fork.Cancun ? { target: 3, max: 6, baseFeeUpdateFraction: 3338477n } : undefined,
    chainId: 1n,
    coinbase: address(COINBASE_INDEX),
    number: 1n,
    timestamp: 1n,
    // Large enough for all: what is left of a block is no part of the comparison. In Amsterdam it makes prices, too.
    gasLimit: fork >= Fork.Amsterdam ? 100_000_000n : 1n << 40n,
    random: prng.bigint(256),
    baseFee: fork >= Fork.London ? BigInt(prng.below(20)) : 0n,
    blobBaseFee: fork >= Fork.Cancun ? BigInt(prng.below(3)) : 0n,
  }
}

function randomState(prng: Prng, hasDestruct: boolean): MapState {
  const state = new MapState()
  for (let index = 0; index < ACCOUNT_COUNT; index++) {
    if (prng.oneIn(5)) continue
    // Half of the accounts, always the same ones, can send.
    const isContract = index < 4
    const code = isContract ? randomCode(prng, hasDestruct) : new Uint8Array(0)
    const codeHash = code.length === 0 ? EMPTY_CODE_HASH : keccak256(code)
    if (code.length > 0) state.codes.set(hashKey(codeHash), code)
    const balance = prng.oneIn(6) ? 0n : prng.bigint(60)
    const nonce = isContract ? 1n : BigInt(prng.below(3))
    const key = hashKey(addressHashOf(address(index)))
    state.accounts.set(key, { nonce, balance, codeHash })
    if (!isContract || prng.oneIn(2)) continue
    const slots = new Map<HashKey, Uint8Array>()
    for (let slot = 0; slot < 3; slot++)
      slots.set(hashKey(keccak256(word(slot))), word(prng.between(1, 3)))
    state.slots.set(key, slots)
  }
  return state
}

function word(value: number): Uint8Array {
  const bytes = new Uint8Array(32)
  bytes[31] = value
  return bytes
}

/** A program of a few pieces that leave the stack as they found it. */
function randomCode(prng: Prng, hasDestruct: boolean): Uint8Array {
  const bytes: number[] = []
  const push = (...values: number[]) => {
    for (const value of values) bytes.push(0x60, value)
  }
  const pushAddress = () => bytes.push(0x73, ...address(prng.below(ACCOUNT_COUNT)))
  for (let count = prng.between(1, 6); count > 0; count--) {
    const kind = prng.below(hasDestruct ? 8 : 7)
    // SSTORE, twice as often as the rest: its gas depends on what came before.
    if (kind <= 1) {
      push(prng.below(3), prng.below(4))
      bytes.push(0x55)
    } else if (kind === 2) {
      push(prng.below(3))
      bytes.push(0x54, 0x50)
    } else if (kind === 3) {
      // CALL with a value.
      push(0, 0, 0, 0, prng.below(3))
      pushAddress()
      bytes.push(0x61, 0xff, 0xff, 0xf1, 0x50)
    } else if (kind === 4) {
      push(prng.below(32), 0)
      bytes.push(0xa0)
    } else if (kind === 5) {
      // CREATE of one byte of memory, which is STOP.
      push(1, 0, prng.below(2))
      bytes.push(0xf0, 0x50)
    } else if (kind === 6) {
      // REVERT or an undefined opcode, now and then.
      if (prng.oneIn(3)) {
        push(0, 0)
        bytes.push(prng.oneIn(2) ? 0xfd : 0xfe)
      }
    } else {
      pushAddress()
      bytes.push(0xff)
    }
  }
  return Uint8Array.from(bytes)
}

function randomTransaction(prng: Prng, fork: Fork): Sent {
  const sender = address(4 + prng.below(3))
  const type = prng.below(5)
  const gasPrice = BigInt(prng.below(40))
  const isCreation = type < 3 && prng.oneIn(4)
  const common = {
    // 0 stands for the nonce that fits.
    nonce: prng.oneIn(12) ? BigInt(prng.below(5)) : 0n,
    gasLimit: prng.oneIn(10) ? BigInt(prng.between(20_000, 60_000)) : 400_000n,
    to: isCreation ? undefined : address(prng.below(ACCOUNT_COUNT)),
    value: prng.oneIn(40) ? U256_MAX : prng.oneIn(2) ? 0n : prng.bigint(30),
    data: isCreation
      ? randomCode(prng, fork < Fork.Cancun && prng.oneIn(9))
      : prng.bytes(prng.below(200)),
    gasPrice,
    maxFeePerGas: gasPrice,
    maxPriorityFeePerGas: BigInt(prng.below(10)),
    chainId: type === 0 ? undefined : 1n,
    accessList: prng.oneIn(2) ? [] : [{ address: address(prng.below(4)), storageKeys: [word(1)] }],
    maxFeePerBlobGas: BigInt(prng.below(4)),
    blobVersionedHashes: Array(prng.below(3)).fill(new Uint8Array(32).fill(1)),
    authorizationList: Array.from({ length: prng.below(3) }, () =>
      authorization({
        address: prng.oneIn(4) ? new Uint8Array(20) : address(prng.below(ACCOUNT_COUNT)),
        nonce: BigInt(prng.below(3)),
        chainId: BigInt(prng.below(3)),
      }),
    ),
  }
  return { transaction: { ...common, type } as unknown as UnsignedTransaction, sender }
}
