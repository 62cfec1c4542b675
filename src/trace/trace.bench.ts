/** What observing costs: a loop of plain steps, untraced, under the traced loop alone, and with the writers. */
import { Fork, toBareHex } from '../base/index.ts'
import { assemble } from '../evm/testWorld.suite.ts'
import { executeTransaction } from '../execute/index.ts'
import { legacy, SENDER, TARGET, world } from '../execute/testWorld.suite.ts'
import { keccak256 } from '../kernels/index.ts'
import { bench, report, timeNs } from '../testing/index.ts'
import { CallTracer } from './callTracer.ts'
import { Eip3155Tracer } from './eip3155.ts'
import { NoopTracer } from './noopTracer.ts'
import { PrestateTracer } from './prestateTracer.ts'
import type { Tracer } from './tracer.ts'
import { traceTransaction } from './traceTransaction.ts'

/** Steps in a turn of the loop below. */
const TURN_STEPS = 7

bench('a step under each observer', (mode) => {
  const turns = mode === 'full' ? 20_000 : 20
  const code = assemble(`${turns} :loop 1 SWAP1 SUB DUP1 @loop JUMPI STOP`)
  let written = 0
  const arms: readonly (readonly [name: string, open: () => Tracer | undefined])[] = [
    ['untraced', () => undefined],
    ['noop', () => new NoopTracer()],
    ['callTracer', () => new CallTracer()],
    ['prestateTracer', () => new PrestateTracer()],
    ['EIP-3155 lines', () => new Eip3155Tracer((line) => (written += line.length))],
  ]
  const samples = new Map<string, number[]>()
  let check = ''
  for (let run = 0; run < (mode === 'full' ? 7 : 1); run++)
    for (const [name, open] of arms) {
      const context = world(Fork.Prague, [{ address: TARGET, nonce: 1n, code }])
      const transaction = legacy({ gasLimit: 16_000_000n })
      const tracer = open()
      const elapsed = timeNs(() => {
        const outcome =
          tracer === undefined
            ? executeTransaction(context, transaction, SENDER)
            : traceTransaction(context, transaction, SENDER, tracer)
        check = toBareHex(keccak256(new TextEncoder().encode(String(outcome.gasUsed))))
      })
      samples.set(name, [...(samples.get(name) ?? []), elapsed / (turns * TURN_STEPS)])
    }
  for (const [name, list] of samples)
    report({ name: `a step, ${name}`, unit: 'ns', samples: list, check: `${check}${written > 0}` })
})
