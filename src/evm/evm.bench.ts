/** Gas a second of small programs on each engine: arithmetic, keccak, memory, storage, transient storage, calls. */
import { EvmEngine } from '../kernels/index.ts'
import { bench, report, timeNs } from '../testing/index.ts'
import { Machine } from './machine.ts'
import { addressOf, assemble, runCode, SENDER, TARGET, World } from './testWorld.suite.ts'

const PRIME = `0x${((1n << 256n) - 189n).toString(16)}`
const ODD = '0xdeadbeefcafebabe0123456789abcdeffedcba9876543210f00dfacefeedbeef'

/** A loop over `body`, which leaves the stack as it found it: a counter on top. */
function loop(body: string, count: number): Uint8Array {
  return assemble(`0 :loop ${body} 1 ADD DUP1 ${count} GT @loop JUMPI STOP`)
}

const PROGRAMS: Record<string, string> = {
  'small arithmetic': 'DUP1 7 MUL 3 ADD DUP2 SWAP1 SUB DUP1 LT POP',
  'wide arithmetic': `DUP1 ${ODD} MUL ${PRIME} SWAP1 DUP1 MULMOD ${ODD} SWAP1 DIV POP`,
  keccak: 'DUP1 0 MSTORE 64 0 KECCAK256 POP',
  memory: 'DUP1 64 MSTORE 64 MLOAD POP DUP1 128 MSTORE8',
  'warm storage': '5 SLOAD POP DUP1 6 SSTORE',
  'cold storage': `DUP1 ${ODD} MUL SLOAD POP`,
  'transient storage': 'DUP1 5 TSTORE 5 TLOAD POP',
  'call loop': '0 0 0 0 0 0xee GAS CALL POP',
}

for (const [name, body] of Object.entries(PROGRAMS))
  bench(`evm: ${name}`, (mode) => {
    const count = mode === 'full' ? 300_000 : 300
    const rounds = mode === 'full' ? 9 : 1
    // Engines take turns, so that noise of the machine meets both.
    const engines = { plain: EvmEngine.Plain, fast: EvmEngine.FastAlways }
    const runs = Object.entries(engines).map(([engine, number]) => ({
      engine,
      machine: prepared(new Machine({ engine: number }), loop(body, count)),
      samples: [] as number[],
      gas: 0n,
    }))
    for (let round = 0; round < rounds; round++)
      for (const run of runs) {
        run.machine.finishTransaction()
        run.machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
        const limit = 1n << 50n
        const message = {
          caller: SENDER,
          target: TARGET,
          input: new Uint8Array(0),
          value: 0n,
          gas: limit,
        }
        const ns = timeNs(() => {
          run.gas = limit - run.machine.call(message).gasLeft
        })
        run.samples.push((Number(run.gas) / ns) * 1000)
      }
    for (const { engine, samples, gas } of runs)
      report({ name: `evm ${name} (${engine})`, unit: 'Mgas/s', samples, check: String(gas) })
  })

function prepared(machine: Machine, code: Uint8Array): Machine {
  const world = new World()
  world.put(addressOf(0xee), { code: Uint8Array.of(0) })
  runCode(code, { machine, world, storage: new Map([[5n, 1n]]), gas: 1n << 50n })
  return machine
}
