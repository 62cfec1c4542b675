/**
 * @isolate
 * Aim: the storage operations on warm cells allocate nothing (N13). Method: the JavaScript heap before and after a call
 * that does a million of them, the least of five windows, since other things may allocate in between; the kernel's
 * own heap must not move either. The baseline arm, which allocates by design, shows that the measure can see it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EvmEngine } from '../kernels/index.ts'
import { Machine, type MachineOptions } from './machine.ts'
import { Status } from './status.ts'
import { assemble, runCode, SENDER, TARGET } from './testWorld.suite.ts'

/** Four operations a turn: a million. */
const LOOPS = 250_000
/** A call itself makes a few objects; a million operations that made one each would make megabytes. */
const BYTES_MAX = 20_000

const looped = (body: string, loops = LOOPS): Uint8Array =>
  assemble(`0 :loop ${body} 1 ADD DUP1 ${loops} GT @loop JUMPI`)
/** The stores change the value each time. */
const STORED = '1 SLOAD POP 2 SLOAD POP DUP1 1 SSTORE DUP1 2 SSTORE'
const TRANSIENT = '1 TLOAD POP 2 TLOAD POP DUP1 1 TSTORE DUP1 2 TSTORE'

/** What the heap changed by over a call of `code`, five times; a collection in a window is no proof of anything. */
function heapChanges(code: Uint8Array, options: MachineOptions): number[] {
  const machine = new Machine(options)
  const { world } = runCode(code, { machine, gas: 1n << 40n })
  const input = new Uint8Array(0)
  const message = { caller: SENDER, target: TARGET, input, value: 0n, gas: 1n << 40n }
  const loads = world.slotLoads
  const windows: number[] = []
  let heapBytes = 0
  for (let window = 0; window < 5; window++) {
    machine.finishTransaction()
    machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
    const before = process.memoryUsage().heapUsed
    const { status } = machine.call(message)
    windows.push(Math.abs(process.memoryUsage().heapUsed - before))
    assert.equal(status, Status.Success)
    if (window === 0) heapBytes = machine.heapBytes
  }
  assert.equal(world.slotLoads, loads, 'the host is asked once a block')
  assert.equal(machine.heapBytes, heapBytes)
  return windows
}

for (const engine of [EvmEngine.Plain, EvmEngine.Fast]) {
  test(`N13: a million warm SLOAD and SSTORE allocate nothing (engine ${engine})`, () => {
    const change = Math.min(...heapChanges(looped(STORED), { engine }))
    assert.ok(change < BYTES_MAX, `the heap changed by ${change}`)
  })

  test(`N13: a million TLOAD and TSTORE allocate nothing (engine ${engine})`, () => {
    const change = Math.min(...heapChanges(looped(TRANSIENT), { engine }))
    assert.ok(change < BYTES_MAX, `the heap changed by ${change}`)
  })
}

test('N13: the same measure sees that trimmed byte strings allocate', () => {
  // Few enough operations that most of five windows see no collection.
  const changes = heapChanges(looped(STORED, LOOPS / 50), { storage: 'trimmed' })
  assert.ok(Math.max(...changes) > 10 * BYTES_MAX, `the heap changed by ${changes}`)
})
