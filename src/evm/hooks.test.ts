/** Aim: tracing hears everything, with right old and new values (N11), and changes nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigintFromBytes, Fork, toBareHex, toHex } from '../base/index.ts'
import { type EvmHooks, HOOK_NAMES, joinHooks, type StepEvent } from './hooks.ts'
import { Machine } from './machine.ts'
import { Status } from './status.ts'
import {
  addressOf,
  assemble,
  blockOf,
  RETURN_TOP,
  runCode,
  TARGET,
  World,
} from './testWorld.suite.ts'

const CALLEE = addressOf(0xdddd)

/** All events in order, as short texts. */
function recorder(): { hooks: EvmHooks; lines: string[] } {
  const lines: string[] = []
  const hooks: EvmHooks = {
    onEnter: ({ kind, depth, value }) =>
      lines.push(`enter ${kind.toString(16)} d${depth} v${value}`),
    onExit: ({ depth, status, gasUsed }) => lines.push(`exit d${depth} s${status} g${gasUsed}`),
    onStorageLoad: ({ slot, before, after }) => lines.push(`sload ${slot} ${before} ${after}`),
    onStorageStore: ({ slot, before, after }) => lines.push(`sstore ${slot} ${before} ${after}`),
    onTransientLoad: ({ slot, before, after }) => lines.push(`tload ${slot} ${before} ${after}`),
    onTransientStore: ({ slot, before, after }) => lines.push(`tstore ${slot} ${before} ${after}`),
    onLog: ({ topics, data }) => lines.push(`log ${topics.map(toHex)} ${toHex(data)}`),
    onSelfDestruct: ({ balance }) => lines.push(`selfdestruct ${balance}`),
    onStep: ({ pc, opcode, cost, depth, error }) =>
      lines.push(
        `step d${depth} ${pc} ${opcode.toString(16)} c${cost}${error ? ` e${error}` : ''}`,
      ),
  }
  return { hooks, lines }
}

function traced(source: string, world = new World()): string[] {
  const machine = new Machine()
  const { hooks, lines } = recorder()
  machine.trace(hooks)
  runCode(assemble(source), { machine, world, storage: new Map([[1n, 7n]]) })
  return lines
}

test('N11: storage events name the value before and after', () => {
  const lines = traced('1 SLOAD POP 9 1 SSTORE 4 2 TSTORE 5 2 TSTORE 2 TLOAD')
  const events = lines.filter((line) => /^[st](load|store)/.test(line))
  assert.deepEqual(events, [
    'sload 1 7 7',
    'sstore 1 7 9',
    'tstore 2 0 4',
    'tstore 2 4 5',
    'tload 2 5 5',
  ])
})

test('a step is reported with its cost before what it caused', () => {
  const lines = traced('1 SLOAD STOP')
  assert.deepEqual(lines, [
    'enter f1 d1 v0',
    'step d1 0 60 c3',
    'step d1 2 54 c2100',
    'sload 1 7 7',
    'step d1 3 0 c0',
    'exit d1 s0 g2103',
  ])
})

test('calls nest, and a call costs what it gives away', () => {
  const world = new World()
  world.put(CALLEE, { code: assemble('0 0 REVERT') })
  const lines = traced('0 0 0 0 3 0xdddd 0x0fff CALL STOP', world)
  const from = lines.findIndex((line) => line.includes(' f1 c'))
  assert.deepEqual(lines.slice(from), [
    `step d1 ${from === -1 ? '' : 16} f1 c${2600 + 9000 + 0xfff}`,
    'enter f1 d2 v3',
    'step d2 0 60 c3',
    'step d2 2 60 c3',
    'step d2 4 fd c0',
    'exit d2 s1 g6',
    'step d1 17 0 c0',
    lines.at(-1)!,
  ])
})

test('a failing step is the last of its frame and carries the reason', () => {
  const lines = traced('1 2 ADD ADD')
  assert.equal(lines.at(-2), `step d1 5 1 c3 e${Status.StackUnderflow}`)
  const memory = traced('0xffffffffffffffff MLOAD')
  assert.match(memory.at(-2)!, /step d1 9 51 c3 e(2|17)/)
})

test('logs and self-destructs', () => {
  const lines = traced('0x1122 0 MSTORE 5 32 0 LOG1 0xdddd SELFDESTRUCT')
  const topic = `0x${'5'.padStart(64, '0')}`
  assert.ok(lines.includes(`log ${topic} 0x${'1122'.padStart(64, '0')}`))
  assert.ok(lines.includes('selfdestruct 1000'))
})

test('a call that needs no frame still enters and exits', () => {
  const lines = traced('0 0 0 0 0 4 GAS CALL 0 0 0 0 0 0xeeee GAS CALL')
  assert.equal(lines.filter((line) => line.startsWith('enter f1 d2')).length, 2)
  assert.equal(lines.filter((line) => line.startsWith('exit d2')).length, 2)
})

test('step memory is a copy: the state before the step, whatever comes later', () => {
  const memories: string[] = []
  const machine = new Machine()
  machine.trace({ wants: { memory: true }, onStep: ({ memory }) => memories.push(toHex(memory)) })
  runCode(Uint8Array.from(Buffer.from('6001600052600260005200', 'hex')), { machine })
  assert.equal(memories[5], `0x${'01'.padStart(64, '0')}`, 'before the second MSTORE')
  assert.equal(memories.at(-1), `0x${'02'.padStart(64, '0')}`)
})

test('N11: a traced run ends as the plain one, and costs the same', () => {
  const source = '1 SLOAD 5 ADD 1 SSTORE 0 0 0 0 0 0xdddd GAS CALL POP 100 MLOAD 32 0 RETURN'
  const world = new World()
  world.put(CALLEE, { code: assemble('3 0 SSTORE 0 SLOAD 0 0 LOG1') })
  const plain = runCode(assemble(source), { world })
  const machine = new Machine()
  machine.trace({ onStep: () => undefined })
  const withTrace = runCode(assemble(source), { world, machine })
  assert.equal(withTrace.gasUsed, plain.gasUsed)
  assert.deepEqual(withTrace.output, plain.output)
  assert.deepEqual(machine.writeSet(), plain.machine.writeSet())
  assert.deepEqual(machine.logs(), plain.machine.logs())
})

/** The schema's members, spelled out: this compiles only while each is named. */
const SCHEMA: Record<keyof Omit<EvmHooks, 'wants'>, true> = {
  onStep: true,
  onEnter: true,
  onExit: true,
  onStorageLoad: true,
  onStorageStore: true,
  onTransientLoad: true,
  onTransientStore: true,
  onLog: true,
  onSelfDestruct: true,
}
const WANTS: Record<keyof NonNullable<EvmHooks['wants']>, true> = {
  faultsOnly: true,
  stack: true,
  memory: true,
  returnData: true,
}

test('N11: the list that wrappers go by names every hook of the schema', () => {
  assert.deepEqual([...HOOK_NAMES].sort(), Object.keys(SCHEMA).sort())
})

test('N11: joined hooks want what any of them wants', () => {
  for (const want of Object.keys(WANTS)) {
    const listener = { onStep: () => undefined, wants: { [want]: true } }
    const joined = joinHooks({}, listener).wants as Record<string, boolean>
    assert.equal(joined[want], true, want)
  }
})

test('N11: joined hooks forward every event to all', () => {
  const heard: string[] = []
  const all = (name: string): EvmHooks =>
    Object.fromEntries(HOOK_NAMES.map((hook) => [hook, () => heard.push(`${name} ${hook}`)]))
  const joined = joinHooks(all('a'), all('b'), {
    onStep: () => heard.push('c onStep'),
    wants: { stack: true },
  })
  assert.equal(joined.wants?.stack, true)
  assert.ok(!joined.wants?.memory)
  for (const hook of HOOK_NAMES) (joined[hook] as (event: unknown) => void)({})
  assert.deepEqual(
    heard.sort(),
    [...HOOK_NAMES.flatMap((hook) => [`a ${hook}`, `b ${hook}`]), 'c onStep'].sort(),
  )
})

test('step events name the account and the code that runs', () => {
  const world = new World()
  world.put(CALLEE, { code: assemble('PC') })
  const steps: StepEvent[] = []
  const machine = new Machine()
  machine.trace({ onStep: (step) => steps.push(step) })
  runCode(assemble('0 0 0 0 0xdddd GAS DELEGATECALL'), { machine, world })
  const inner = steps.filter(({ depth }) => depth === 2)
  assert.deepEqual(inner[0]!.address, TARGET)
  assert.deepEqual(inner[0]!.codeAddress, CALLEE)
})

/** Outputs of the messages' ends, innermost first, and what the caller saw as the size of the return data. */
function creationEnds(initCode: string, fork: Fork, gas = 10_000_000n) {
  const init = toBareHex(assemble(initCode))
  const size = init.length / 2
  const ends: [status: Status, output: string][] = []
  const machine = new Machine()
  machine.trace({ onExit: ({ status, output }) => ends.push([status, toBareHex(output)]) })
  // The init code, up to 32 bytes, as a word's upper end.
  const source = `0x${init.padEnd(64, '0')} 0 MSTORE ${size} 0 0 CREATE RETURNDATASIZE ${RETURN_TOP}`
  const text = fork < Fork.Byzantium ? source.replace('RETURNDATASIZE', '7') : source
  const result = runCode(assemble(text), { machine, fork, gas })
  return { ends, returnSize: bigintFromBytes(result.output) }
}

test('the end of a creation shows what init code returned; its creator sees it of a revert alone', () => {
  const deployed = creationEnds('0xfe 0 MSTORE8 1 0 RETURN', Fork.Prague)
  assert.deepEqual(deployed.ends[0], [Status.Success, 'fe'])
  assert.equal(deployed.returnSize, 0n)
  const reverted = creationEnds('0x77 0 MSTORE8 1 0 REVERT', Fork.Prague)
  assert.deepEqual(reverted.ends[0], [Status.Revert, '77'])
  assert.equal(reverted.returnSize, 1n)
  const refused = creationEnds('0xef 0 MSTORE8 1 0 RETURN', Fork.Prague)
  assert.deepEqual(refused.ends[0], [Status.CodeStartsWithEf, 'ef'])
  assert.equal(refused.returnSize, 0n)
  const halted = creationEnds('0xef 0 MSTORE8 POP', Fork.Prague)
  assert.deepEqual(halted.ends[0], [Status.StackUnderflow, ''])
})

test('Frontier shows the code that a creation could not pay for', () => {
  // 512 bytes of code cost 102,400 gas.
  const { ends } = creationEnds('512 0 RETURN', Fork.Frontier, 100_000n)
  assert.deepEqual(ends[0], [Status.Success, '00'.repeat(512)])
  const machine = new Machine()
  machine.beginBlock(blockOf(Fork.Frontier), new World())
  machine.beginTransaction({ origin: TARGET, gasPrice: 1n })
  const initCode = assemble('512 0 RETURN')
  const result = machine.create({ caller: TARGET, initCode, value: 0n, gas: 50_000n })
  assert.equal(result.output.length, 512, 'of a transaction')
  assert.equal(machine.getCodeSize(result.created!), 0)
})

test('a listener for faults hears of the failing steps alone, as one of all steps does', () => {
  const world = new World()
  world.put(CALLEE, { code: assemble('1 2 ADD ADD') })
  const heard = (faultsOnly: boolean) => {
    const steps: StepEvent[] = []
    const machine = new Machine()
    machine.trace({ wants: { faultsOnly }, onStep: (step) => steps.push(step) })
    runCode(assemble('0 0 0 0 0 0xdddd 100 CALL 3 JUMP'), { machine, world })
    return steps
  }
  const faults = heard(true)
  assert.deepEqual(
    faults,
    heard(false).filter(({ error }) => error !== undefined),
  )
  assert.deepEqual(
    faults.map(({ error, depth, stackSize }) => [error, depth, stackSize]),
    [
      [Status.StackUnderflow, 2, 1],
      [Status.InvalidJump, 1, 2],
    ],
  )
  const all = { onStep: () => undefined }
  const some = { ...all, wants: { faultsOnly: true } }
  assert.equal(joinHooks(some, some, {}).wants?.faultsOnly, true)
  assert.equal(joinHooks(some, all).wants?.faultsOnly, false)
})
