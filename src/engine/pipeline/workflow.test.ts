/**
 * Aim and method: see `workflow.fuzz.ts`. Ten thousand random blocks, three of four with the stages on three threads.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzzWorkflow } from './workflow.fuzz.ts'

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8]
const BLOCKS_A_SEED = 1250

test('workflow: random blocks in random chunks through three threads are those of a naive model', async () => {
  const counts: Record<string, number> = {}
  for (const seed of SEEDS)
    for (const [name, count] of Object.entries(await fuzzWorkflow(seed, BLOCKS_A_SEED)))
      counts[name] = (counts[name] ?? 0) + count
  for (const name of [
    'chunksOfMany',
    'chunksOfOne',
    'refused',
    'refusedMany',
    'writes',
    'writesBehind',
    'readHeld',
    'overtaken',
    'reopened',
  ])
    assert(counts[name]! > 5, `${name} was exercised: ${counts[name]}`)
})
