// Aim: an import that is killed leaves a database that verifies and goes on to the same end. Method: the crash test of
// scripts/ at a small size, on the demonstration's chain; `npm run crashtest -- FILE` runs it at full size. @isolate
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

test('G10: killed by SIGKILL at random moments, an import resumes and ends as if uninterrupted', () => {
  const main = join(import.meta.dirname, 'main.js')
  const script = join(import.meta.dirname, '../../scripts/crash-test.mjs')
  const demo = spawnSync(process.execPath, [main, 'demo', '--chain', '--keep'], {
    encoding: 'utf8',
  })
  const folder = demo.stderr.match(/kept (.*)/)![1]!
  const chain = join(folder, 'chain.rlp')
  const genesis = join(folder, 'genesis.json')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [script, chain, '--genesis', genesis, '--kills', '5', '--batch', '50'],
    { encoding: 'utf8' },
  )
  rmSync(folder, { recursive: true })
  assert.equal(status, 0, `${stdout}${stderr}`)
  assert.match(stdout, /fine: 5 kills/)
})
