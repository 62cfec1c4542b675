/** The short run of `evm.fuzz.ts`; the fuzz entry runs it for longer and with other seeds. */
import { test } from 'node:test'
import { fuzzEvm } from './evm.fuzz.ts'

test('10,000 random programs: engines agree, no trap, a balanced journal', () => {
  fuzzEvm(20_260_107, 10_000)
})
