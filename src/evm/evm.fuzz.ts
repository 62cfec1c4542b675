/**
 * Random programs: never a trap, a hang, or an unbalanced journal; both engines and the traced loop agree on status,
 * gas of both kinds, output, logs, refund, state, and what was read and changed. Accepts no error.
 */
import assert from 'node:assert/strict'
import { type AmsterdamDraft, bytesConcat, EMPTY_CODE_HASH, Fork, toHex } from '../base/index.ts'
import { EvmEngine } from '../kernels/index.ts'
import { Prng } from '../testing/index.ts'
import { Machine, type MessageResult } from './machine.ts'
import { OPCODES } from './opcodes.ts'
import { addressOf, blockOf, SENDER, TARGET, World } from './testWorld.suite.ts'
import type { AccountState, WriteSet } from './writeSet.ts'

const FORKS = Object.values(Fork)
const OTHER = addressOf(0xdddddddd)
const defined = OPCODES.flatMap((opcode) => (opcode === undefined ? [] : [opcode.code]))
/** Opcodes that touch state, memory or frames, drawn more often than their share. */
const rich = [
  ...[
    0x20, 0x31, 0x35, 0x37, 0x39, 0x3b, 0x3c, 0x3e, 0x3f, 0x51, 0x52, 0x53, 0x54, 0x55, 0x5a, 0x5c,
  ],
  ...[0x5d, 0x5e, 0xa0, 0xa1, 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xfa, 0xfd, 0xff, 0x56, 0x57],
]

/** A program of random length: opcodes with operands that make sense often enough to get far. */
export function drawProgram(random: Prng): Uint8Array {
  const parts: Uint8Array[] = []
  const length = random.between(1, random.pick([8, 40, 200]))
  for (let step = 0; step < length; step++) {
    switch (random.below(8)) {
      case 0:
        parts.push(Uint8Array.of(random.below(256)))
        break
      case 1:
      case 2:
        parts.push(drawPush(random))
        break
      case 3:
        parts.push(Uint8Array.of(random.pick(rich)))
        break
      case 4:
        parts.push(drawCall(random))
        break
      case 5:
        // A short loop or skip: JUMPDEST now and then, jumps to small offsets.
        parts.push(
          random.oneIn(2) ? Uint8Array.of(0x5b) : Uint8Array.of(0x60, random.below(64), 0x56),
        )
        break
      case 6:
        parts.push(
          Uint8Array.of(0x60, random.below(40), 0x60, random.below(40), random.pick(defined)),
        )
        break
      default:
        parts.push(Uint8Array.of(random.pick(defined)))
    }
  }
  return bytesConcat(...parts)
}

function drawPush(random: Prng): Uint8Array {
  const size = random.oneIn(3) ? random.between(1, 32) : random.between(1, 2)
  return bytesConcat(Uint8Array.of(0x5f + size), random.bytes(size))
}

/** A call or creation with small ranges, to an account that may exist, a precompile, or itself. */
function drawCall(random: Prng): Uint8Array {
  const target = random.pick([0xdddddddd, 0xcccccccc, random.between(1, 18), 0x100, 0x77777777])
  const kind = random.pick([0xf1, 0xf2, 0xf4, 0xfa, 0xf0, 0xf5])
  const small = (): number[] => [0x60, random.below(70)]
  if (kind === 0xf0 || kind === 0xf5)
    return Uint8Array.from([
      ...small(),
      ...small(),
      ...small(),
      ...(random.oneIn(2) ? [0x60, 0] : [0x30]),
      kind,
    ])
  const value = kind === 0xf1 || kind === 0xf2 ? [0x60, random.below(3)] : []
  const address = [0x63, target >>> 24, (target >> 16) & 255, (target >> 8) & 255, target & 255]
  const gas = random.oneIn(3) ? [0x61, random.below(256), random.below(256)] : [0x5a]
  return Uint8Array.from([
    ...small(),
    ...small(),
    ...small(),
    ...small(),
    ...value,
    ...address,
    ...gas,
    kind,
  ])
}

/** What a run shows to the outside. */
type Outcome = {
  readonly status: number
  readonly gasLeft: bigint
  readonly output: string
  readonly refund: bigint
  readonly stateGas: unknown
  readonly logs: unknown
  readonly writes: unknown
  readonly accesses: unknown
}

/** What a program is run with. */
type Run = {
  readonly fork: Fork
  readonly programs: readonly Uint8Array[]
  readonly input: Uint8Array
  readonly gas: bigint
  readonly stateGas: bigint
  readonly asCreation: boolean
  readonly amsterdamDraft: AmsterdamDraft
}

/** Block whose gas limit leaves programs room to pay for state from Amsterdam on. */
const BLOCK_GAS_LIMIT = 60_000_000n

function runOnce(machine: Machine, run: Run, isTrimmed = false): Outcome {
  const { fork, programs, input, gas, stateGas, asCreation, amsterdamDraft } = run
  const world = new World()
  world.put(SENDER, { nonce: 1n, balance: 1n << 100n })
  world.put(TARGET, {
    nonce: 1n,
    balance: 5000n,
    code: programs[0]!,
    storage: new Map([
      [1n, 5n],
      [2n, 1n << 200n],
    ]),
  })
  world.put(OTHER, { nonce: 1n, balance: 7n, code: programs[1]!, storage: new Map([[1n, 1n]]) })
  machine.beginBlock(
    blockOf(fork, { gasLimit: BLOCK_GAS_LIMIT, slotNumber: 12n, amsterdamDraft }),
    world,
  )
  machine.beginTransaction({ origin: SENDER, gasPrice: 10n, blobHashes: [input.slice(0, 32)] })
  if (fork >= Fork.Berlin) {
    machine.warmAddress(SENDER)
    machine.warmAddress(TARGET)
  }
  const before = machine.snapshot()
  const balances = total(machine)
  const result = asCreation
    ? machine.create({ caller: SENDER, initCode: programs[0]!, value: 1n, gas, stateGas })
    : machine.call({ caller: SENDER, target: TARGET, input, value: 1n, gas, stateGas })
  if (result.status !== 0 && !asCreation)
    assert.equal(machine.snapshot(), before, 'a failed message leaves the journal as it was')
  assert.ok(result.gasLeft >= 0n && result.gasLeft <= gas, 'gas is used, never made')
  checkStateGas(result, run)
  const { refund } = machine
  const logs = machine
    .logs()
    .map(({ address, topics, data }) => [toHex(address), topics.map(toHex), toHex(data)])
  machine.finishTransaction()
  assert.ok(total(machine) <= balances, 'no wei is made')
  const { status, gasLeft } = result
  const writes = machine.writeSet()
  // A block of one transaction has changed what the transaction has.
  if (!isTrimmed && fork >= Fork.Cancun)
    assert.deepEqual(shownChanges(machine), shownWrites(writes), 'changes are writes')
  return {
    status,
    gasLeft,
    output: toHex(result.output),
    refund,
    stateGas: result.stateGas,
    logs,
    writes,
    accesses: accessesByAddress(machine),
  }
}

/**
 * What was read, without the kernel's numbers: an account that was named and could not be paid for has one, and which
 * those are may differ between the engines.
 */
function accessesByAddress(machine: Machine): unknown {
  return machine
    .accesses()
    .map(({ address, slots }) => `${toHex(address)} ${slots.map(toHex)}`)
    .sort()
}

/** Gas for growth comes from the reservoir or from the other gas, and no frame makes any. */
function checkStateGas({ stateGas, gasLeft, status }: MessageResult, run: Run): void {
  const { left, used, spilled } = stateGas
  if (run.fork < Fork.Amsterdam) {
    assert.deepEqual(stateGas, { left: 0n, used: 0n, spilled: 0n })
    return
  }
  assert.ok(left >= 0n && used >= 0n && spilled >= 0n && spilled <= run.gas - gasLeft)
  assert.ok(left + used <= run.stateGas + spilled)
  if (status !== 0 && run.amsterdamDraft === 'bal@v5.7')
    assert.equal(used, 0n, 'what failed has grown nothing')
}

/** Accounts and slots as they ended, without those that ended as they began. */
function shownChanges(machine: Machine): unknown {
  return machine
    .changes()
    .map(({ address, balance, nonce, code, slots }) =>
      shown(address, [balance, nonce, code === undefined ? undefined : toHex(code)], slots),
    )
    .sort()
}

function shownWrites(writes: WriteSet): unknown {
  const shownAll = writes.map(({ address, before, after, code, slots }) => {
    const differs = <Value>(a: Value, b: Value): Value | undefined => (a === b ? undefined : b)
    const hash = (state: AccountState | undefined) => toHex(state?.codeHash ?? EMPTY_CODE_HASH)
    const numbers = [
      differs(before?.balance ?? 0n, after?.balance ?? 0n),
      differs(before?.nonce ?? 0n, after?.nonce ?? 0n),
      hash(before) === hash(after) ? undefined : toHex(code ?? new Uint8Array(0)),
    ]
    const values = slots.map(({ slot, after: value }) => ({ slot, value }))
    return shown(address, numbers, values)
  })
  // An account that came to be or went without anything on it is a write, and no change.
  return shownAll.filter((text) => !text.endsWith(':,,:')).sort()
}

function shown(
  address: Uint8Array,
  numbers: readonly (bigint | string | undefined)[],
  slots: readonly { readonly slot: Uint8Array; readonly value: bigint }[],
): string {
  const slotTexts = slots.map(({ slot, value }) => `${toHex(slot)}=${value}`).sort()
  return `${toHex(address)}:${numbers.join()}:${slotTexts.join()}`
}

function total(machine: Machine): bigint {
  return machine.getBalance(SENDER) + machine.getBalance(TARGET) + machine.getBalance(OTHER)
}

/** Runs `stepCount` programs; each through the plain, the fast and, now and then, the traced loop. */
export function fuzzEvm(seed: number, stepCount: number): void {
  const random = new Prng(seed)
  const plain = new Machine({ engine: EvmEngine.Plain })
  const fast = new Machine({ engine: EvmEngine.FastAlways })
  const traced = new Machine()
  const trimmed = new Machine({ storage: 'trimmed' })
  traced.trace({ onStep: () => undefined, onLog: () => undefined })
  for (let step = 0; step < stepCount; step++) {
    const newest = [Fork.Prague, Fork.Osaka, Fork.Amsterdam]
    const fork = random.oneIn(2) ? random.pick(newest) : random.pick(FORKS)
    const programs = [drawProgram(random), drawProgram(random)]
    const input = random.bytes(random.below(100))
    const gas = BigInt(random.pick([random.below(3000), random.below(200_000), 1_000_000]))
    const asCreation = random.oneIn(10)
    const stateGas = fork < Fork.Amsterdam ? 0n : BigInt(random.pick([0, random.below(300_000)]))
    const amsterdamDraft: AmsterdamDraft = random.oneIn(5) ? 'bal@v5.6' : 'bal@v5.7'
    const run = { fork, programs, input, gas, stateGas, asCreation, amsterdamDraft }
    const where = `seed ${seed}, step ${step}, fork ${fork}, code ${programs.map(toHex)}, input ${toHex(input)}, gas ${gas}, state gas ${stateGas}, draft ${amsterdamDraft}`
    try {
      const expected = runOnce(plain, run)
      assert.deepEqual(runOnce(fast, run), expected)
      if (step % 4 === 0) assert.deepEqual(runOnce(trimmed, run, true), expected)
      if (step % 16 === 0) assert.deepEqual(runOnce(traced, run), expected)
    } catch (error) {
      throw new Error(`${where}: ${(error as Error).message}`, { cause: error })
    }
  }
}
