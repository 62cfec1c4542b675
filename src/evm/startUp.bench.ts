/**
 * What the kernel costs before it does anything: bytes of the module, time to compile it (all of it by the baseline
 * compiler, all of it by the optimising one, and as Node does it), the first call of a process, and memory.
 * Times are of fresh processes.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { Fork } from '../base/index.ts'
import { evmModule } from '../kernels/generated/evm.ts'
import { type BenchMode, bench, report } from '../testing/index.ts'
import { Machine } from './machine.ts'
import { assemble, blockOf, runCode, SENDER, TARGET, World } from './testWorld.suite.ts'

const COMPILE = `
  const { evmModule } = await import(process.argv[1])
  const bytes = Buffer.from(evmModule, 'base64')
  const start = performance.now()
  new WebAssembly.Module(bytes)
  console.log(performance.now() - start)`

const FIRST_CALL = `
  const start = performance.now()
  const { Machine } = await import(process.argv[1])
  const loaded = performance.now()
  const machine = new Machine()
  const created = performance.now()
  const address = new Uint8Array(20).fill(1)
  const account = { nonce: 1n, balance: 0n, codeHash: new Uint8Array(32).fill(1) }
  // Adds 1 and 2.
  const code = Uint8Array.of(0x60, 1, 0x60, 2, 0x01, 0x60, 0, 0x52, 0x60, 32, 0x60, 0, 0xf3)
  machine.beginBlock(
    { fork: ${Fork.Prague}, number: 1n, timestamp: 1n, gasLimit: 30000000n, coinbase: address, random: 0n, chainId: 1n, baseFee: 0n, blobBaseFee: 1n },
    { loadAccount: () => account, hasStorage: () => false, openStorage: () => undefined, loadCode: () => code, blockHash: () => code })
  machine.beginTransaction({ origin: address, gasPrice: 0n })
  const { output } = machine.call({ caller: address, target: address, input: new Uint8Array(0), value: 0n, gas: 100000n })
  if (output[31] !== 3) throw new Error('the sum is wrong')
  const called = performance.now()
  console.log([loaded - start, created - loaded, called - created].join(' '))`

/** Numbers that a program prints in a fresh process. */
function printed(program: string, file: string, flags: readonly string[] = []): number[] {
  const url = new URL(file, import.meta.url).href
  const inline = ['--input-type=module', '-e', program, url]
  return execFileSync(process.execPath, [...flags, ...inline], { encoding: 'utf8' })
    .trim()
    .split(' ')
    .map(Number)
}

function reportTimes(mode: BenchMode): void {
  const runs = Array.from({ length: mode === 'full' ? 9 : 1 })
  const compilers = {
    'as Node does it': [],
    baseline: ['--liftoff-only', '--no-wasm-lazy-compilation'],
    optimising: ['--no-liftoff', '--no-wasm-lazy-compilation', '--no-wasm-dynamic-tiering'],
  }
  const check = `${evmModule.length} base64`
  for (const [name, flags] of Object.entries(compilers)) {
    const samples = runs.map(() => printed(COMPILE, '../kernels/generated/evm.js', flags)[0]!)
    report({ name: `evm kernel: compiled, ${name}`, unit: 'ms', samples, check })
  }
  const starts = runs.map(() => printed(FIRST_CALL, './index.js'))
  for (const [index, name] of ['modules loaded', 'machine made', 'first call'].entries()) {
    const samples = starts.map((times) => times[index]!)
    assert.ok(samples.every((ms) => ms > 0))
    report({ name: `evm start-up: ${name}`, unit: 'ms', samples, check: '1 + 2 = 3' })
  }
}

function reportMemory(mode: BenchMode): void {
  const cells = mode === 'full' ? 14_000 : 100
  const machine = new Machine()
  const world = new World()
  const memory = (when: string, check: string): void =>
    report({ name: `evm heap: ${when}`, unit: 'bytes', samples: [machine.heapBytes], check })
  memory('of a new machine', 'empty')
  // A full block of cold reads: 30 million gas.
  const code = assemble(`${cells} :l DUP1 SLOAD POP 1 SWAP1 SUB DUP1 @l JUMPI`)
  const storage = new Map([[1n, 1n]])
  const { gasUsed } = runCode(code, { machine, world, storage, gas: 1n << 50n })
  memory(`after a block that read ${cells} slots`, `${gasUsed} gas`)
  machine.beginBlock(blockOf(Fork.Prague), world)
  machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
  memory('kept for the next block', `${machine.getBalance(TARGET)} wei`)
}

bench('evm: start-up and memory', (mode) => {
  const bytes = atob(evmModule).length
  report({ name: 'evm kernel: size', unit: 'bytes', samples: [bytes], check: String(bytes) })
  reportTimes(mode)
  reportMemory(mode)
})
