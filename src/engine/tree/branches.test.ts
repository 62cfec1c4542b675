import { test } from 'node:test'
import { fuzzImportOrder, fuzzSetHead } from './branches.fuzz.ts'

test('G9: any order of import ends at the same head, state, indices and receipts, row by row', async () => {
  for (let seed = 1; seed <= 3; seed++) await fuzzImportOrder(seed, 6 + 5 * seed)
})

test('G9 G11: the head goes wherever it is told as far as states are kept, over writes and restarts', async () => {
  for (let seed = 1; seed <= 4; seed++) await fuzzSetHead(seed, 150)
})
