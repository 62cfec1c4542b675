import { test } from 'node:test'
import { fuzzOlderState } from './olderState.fuzz.ts'

test('G11: states before and beside the newest one equal full copies', () => {
  for (let seed = 1; seed <= 5; seed++) fuzzOlderState(seed, 120)
})
