/** What the tests of the machine share: a world of maps, an assembler, and short ways to run code in it. */
import {
  bigintFromBytes,
  bigintToBytes,
  bigintToMinimalBytes,
  EMPTY_CODE_HASH,
  Fork,
  fromBareHex,
  toBareHex,
} from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import type { Host, StorageReader } from './host.ts'
import { type BlockEnvironment, Machine, type MessageResult } from './machine.ts'
import { OPCODES } from './opcodes.ts'
import type { WriteSet } from './writeSet.ts'

export type WorldAccount = {
  nonce: bigint
  balance: bigint
  code: Uint8Array
  storage: Map<bigint, bigint>
}

/** A plain world state: accounts by bare hex address. Counts what it is asked for. */
export class World implements Host {
  readonly accounts = new Map<string, WorldAccount>()
  private readonly codes = new Map<string, Uint8Array>()
  storageOpenings = 0
  slotLoads = 0

  /** Sets an account; what is left out is empty. */
  put(address: Uint8Array, fields: Partial<WorldAccount>): void {
    const account = {
      nonce: 0n,
      balance: 0n,
      code: new Uint8Array(0),
      storage: new Map(),
      ...fields,
    }
    this.accounts.set(toBareHex(address), account)
    this.codes.set(toBareHex(keccak256(account.code)), account.code)
  }

  loadAccount(address: Uint8Array): ReturnType<Host['loadAccount']> {
    const account = this.accounts.get(toBareHex(address))
    if (account === undefined) return undefined
    const { nonce, balance, code } = account
    return { nonce, balance, codeHash: code.length === 0 ? EMPTY_CODE_HASH : keccak256(code) }
  }

  hasStorage(address: Uint8Array): boolean {
    return (this.accounts.get(toBareHex(address))?.storage.size ?? 0) > 0
  }

  openStorage(address: Uint8Array): StorageReader | undefined {
    this.storageOpenings++
    const storage = this.accounts.get(toBareHex(address))?.storage
    if (storage === undefined || storage.size === 0) return undefined
    return (slot) => {
      this.slotLoads++
      const value = storage.get(bigintFromBytes(slot))
      return value === undefined ? undefined : bigintToMinimalBytes(value)
    }
  }

  loadCode(codeHash: Uint8Array): Uint8Array {
    return this.codes.get(toBareHex(codeHash))!
  }

  blockHash(number: bigint): Uint8Array {
    return keccak256(new TextEncoder().encode(number.toString()))
  }

  /** Applies what a block did. */
  apply(writes: WriteSet): void {
    for (const write of writes) {
      const key = toBareHex(write.address)
      if (write.after === undefined) {
        this.accounts.delete(key)
        continue
      }
      const old = this.accounts.get(key)
      const keepsStorage = old !== undefined && !write.storageCleared
      const storage = keepsStorage ? old.storage : new Map<bigint, bigint>()
      for (const { slot, after } of write.slots) {
        if (after === 0n) storage.delete(bigintFromBytes(slot))
        else storage.set(bigintFromBytes(slot), after)
      }
      const { nonce, balance } = write.after
      const code =
        write.code ?? this.codes.get(toBareHex(write.after.codeHash)) ?? new Uint8Array(0)
      this.put(write.address, { nonce, balance, code, storage })
    }
  }
}

/** An address whose last bytes spell `number`. */
export function addressOf(number: number | bigint): Uint8Array {
  return bigintToBytes(BigInt(number), 20)
}

export const SENDER = addressOf(0xaaaaaaaa)
export const TARGET = addressOf(0xcccccccc)

export function blockOf(fork: Fork, fields: Partial<BlockEnvironment> = {}): BlockEnvironment {
  return {
    fork,
    number: 1000n,
    timestamp: 1_700_000_000n,
    gasLimit: 1n << 40n,
    coinbase: addressOf(0xbbbbbbbb),
    random: 0x20000n,
    chainId: 1n,
    baseFee: 7n,
    blobBaseFee: 1n,
    ...fields,
  }
}

const CODES = new Map(OPCODES.flatMap((opcode) => (opcode ? [[opcode.name, opcode.code]] : [])))

/**
 * Assembles words: opcode names, numbers (the shortest PUSH, PUSH1 for 0), `0x…` with the PUSH of its width,
 * `:name` (JUMPDEST with a label) and `@name` (PUSH2 of a label).
 */
export function assemble(source: string): Uint8Array {
  const bytes: number[] = []
  const labels = new Map<string, number>()
  const uses: [at: number, label: string][] = []
  for (const word of source.trim().split(/\s+/)) {
    if (word.startsWith(':')) {
      labels.set(word.slice(1), bytes.length)
      bytes.push(0x5b)
    } else if (word.startsWith('@')) {
      uses.push([bytes.length + 1, word.slice(1)])
      bytes.push(0x61, 0, 0)
    } else if (/^\d+$/.test(word)) {
      const value = bigintToMinimalBytes(BigInt(word))
      const pushed = value.length === 0 ? [0] : [...value]
      bytes.push(0x5f + pushed.length, ...pushed)
    } else if (word.startsWith('0x')) {
      const value = fromBareHex(word.slice(2))
      bytes.push(0x5f + value.length, ...value)
    } else {
      const code = CODES.get(word)
      if (code === undefined) throw new Error(`no opcode ${word}`)
      bytes.push(code)
    }
  }
  for (const [at, label] of uses) {
    const to = labels.get(label)
    if (to === undefined) throw new Error(`no label ${label}`)
    bytes[at] = to >> 8
    bytes[at + 1] = to & 255
  }
  return Uint8Array.from(bytes)
}

export type RunOptions = {
  readonly fork?: Fork
  readonly gas?: bigint
  readonly input?: Uint8Array
  readonly value?: bigint
  readonly storage?: Map<bigint, bigint>
  readonly machine?: Machine
  readonly world?: World
}

export type RunResult = MessageResult & {
  readonly gasUsed: bigint
  readonly machine: Machine
  readonly world: World
}

/** Runs `code` as the code of TARGET in a transaction of SENDER that is not finished yet. */
export function runCode(code: Uint8Array, options: RunOptions = {}): RunResult {
  const { fork = Fork.Prague, gas = 10_000_000n, machine = new Machine() } = options
  const world = options.world ?? new World()
  const storage = options.storage ?? new Map()
  world.put(SENDER, { nonce: 1n, balance: 1n << 128n })
  world.put(TARGET, { nonce: 1n, balance: 1000n, code, storage })
  machine.beginBlock(blockOf(fork), world)
  machine.beginTransaction({ origin: SENDER, gasPrice: 10n })
  machine.warmAddress(SENDER)
  machine.warmAddress(TARGET)
  const { input = new Uint8Array(0), value = 0n } = options
  const result = machine.call({ caller: SENDER, target: TARGET, input, value, gas })
  return { ...result, gasUsed: gas - result.gasLeft, machine, world }
}

/** Code that puts the stack's top out as 32 bytes. */
export const RETURN_TOP = '0 MSTORE 32 0 RETURN'
