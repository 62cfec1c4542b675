/** Aim: a published blockchain test is a chain to import: its start and its blocks, to its last hash. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { toHex } from '../base/index.ts'
import { encodedBlockSource, importChain, openEngine } from '../engine/index.ts'
import { memoryStore } from '../store/index.ts'
import { fixtureRecords, fixturesMissing } from '../testing/index.ts'
import { readJsonBlocks } from './jsonBlocks.ts'

const folder = mkdtempSync(join(tmpdir(), 'varve-json-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))

type Published = {
  readonly lastblockhash: string
  readonly blocks: readonly object[]
}

/** The first test whose blocks are all valid. */
async function validTest(): Promise<[name: string, test: Published]> {
  for await (const { tests } of fixtureRecords<{ tests: Record<string, Published> }>(
    'legacy-cancun-blockchain',
  ))
    for (const [name, value] of Object.entries(tests))
      if (value.blocks?.length > 3 && !JSON.stringify(value.blocks).includes('expectException'))
        return [name, value]
  throw new Error('the suite has no valid chain')
}

test('a blockchain test imports to its last block from its own genesis', {
  skip: fixturesMissing('blockchain tests', 'ethereum/legacytests'),
}, async () => {
  const [name, published] = await validTest()
  const path = join(folder, 'test.json')
  writeFileSync(path, JSON.stringify({ [name]: published }))
  const { genesis, blocks } = readJsonBlocks(path)
  const engine = await openEngine({ store: memoryStore(), genesis: genesis! })
  const { blockCount, gasUsed } = await importChain(engine, encodedBlockSource(path, blocks))
  assert.equal(blockCount, published.blocks.length)
  assert.ok(gasUsed > 0n)
  assert.equal(toHex(engine.head.header.hash), published.lastblockhash)
})
