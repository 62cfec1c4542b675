/**
 * @isolate
 * Aim: SLOAD and SSTORE on warm slots allocate nothing (N13). Method: the JavaScript heap before and after a call
 * that does a million of them, the least of five windows, since other things may allocate in between; the kernel's
 * own heap must not move either.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EvmEngine } from '../kernels/index.ts'
import { Machine } from './machine.ts'
import { Status } from './status.ts'
import { assemble, runCode, SENDER, TARGET } from './testWorld.suite.ts'

const LOOPS = 250_000

for (const engine of [EvmEngine.Plain, EvmEngine.Fast])
  test(`a million warm SLOAD and SSTORE allocate nothing (engine ${engine})`, () => {
    const code = assemble(
      `0 :loop 1 SLOAD POP 2 SLOAD POP DUP1 1 SSTORE DUP1 2 SSTORE 1 ADD DUP1 ${LOOPS} GT @loop JUMPI`,
    )
    const machine = new Machine({ engine })
    const { world } = runCode(code, { machine, gas: 1n << 40n })
    const message = {
      caller: SENDER,
      target: TARGET,
      input: new Uint8Array(0),
      value: 0n,
      gas: 1n << 40n,
    }
    const loads = world.slotLoads
    const windows: number[] = []
    let heapBytes = 0
    for (let window = 0; window < 5; window++) {
      machine.finishTransaction()
      machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
      const before = process.memoryUsage().heapUsed
      const { status } = machine.call(message)
      windows.push(process.memoryUsage().heapUsed - before)
      assert.equal(status, Status.Success)
      if (window === 0) heapBytes = machine.heapBytes
    }
    assert.equal(world.slotLoads, loads, 'the host is asked once a block')
    // A call itself makes a few objects; a million operations would make megabytes.
    assert.ok(Math.min(...windows) < 20_000, `heap grew by ${windows}`)
    assert.equal(machine.heapBytes, heapBytes)
  })
