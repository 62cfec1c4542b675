// Aim: create-db and run-executor as a person calls them. Method: the compiled command in processes of its own. @isolate
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const main = join(import.meta.dirname, 'main.js')
const folder = mkdtempSync(join(tmpdir(), 'varve-executor-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const db = join(folder, 'db')

function varve(...parameters: string[]) {
  return spawnSync(process.execPath, [main, ...parameters], { encoding: 'utf8' })
}

const SMALL = ['--blocks', '3', '--block-size', '20', '--transactions-per-sender', '1']

test('a database is made once, runs on copies of it are equal and leave it as it was', () => {
  const made = varve('create-db', '--data-dir', db, '--num-accounts', '200', '--json')
  assert.equal(made.status, 0, made.stderr)
  assert.equal(JSON.parse(made.stdout).accounts, 200)
  assert.equal(varve('create-db', '--data-dir', db, '--num-accounts', '200').status, 1)
  const roots = ['evm', 'native'].map((type) => {
    const copy = join(folder, type)
    const ran = varve(
      ...['run-executor', '--data-dir', db, '--checkpoint-dir', copy, ...SMALL],
      ...['--block-executor-type', type, '--verify-sequence-numbers', '--json'],
    )
    assert.equal(ran.status, 0, ran.stderr)
    const report = JSON.parse(ran.stdout)
    for (const key of ['tps', 'stages', 'latencyMs', 'roots', 'memory']) assert.ok(key in report)
    assert.equal(varve('db', 'verify', '--db', copy).status, 0)
    return report.roots
  })
  assert.deepEqual(roots[0], roots[1])
  const { head } = JSON.parse(varve('db', 'stats', '--db', db, '--json').stdout)
  assert.equal(head.number, 0)
})

test('what makes no sense ends with 2 and one line', () => {
  const run = ['run-executor', '--data-dir', db, ...SMALL]
  const cases: [RegExp, string[]][] = [
    [/takes the EVM/, [...run, '--block-executor-type', 'native', '--transaction-type', 'no-op']],
    [/expected at most 200/, [...run, '--block-size', '201']],
    [/one a type/, [...run, '--transaction-weights', '1', '2']],
    [/Allowed choices/, [...run, '--transaction-type', 'nothing']],
    [
      /expected at most --num-accounts/,
      [
        'create-db',
        '--data-dir',
        join(folder, 'x'),
        '--num-accounts',
        '1',
        '--main-signer-accounts',
        '2',
      ],
    ],
    [/a database of create-db/, ['run-executor', '--data-dir', join(folder, 'none')]],
  ]
  for (const [text, parameters] of cases) {
    const { status, stderr } = varve(...parameters)
    assert.equal(status, 2, stderr)
    assert.match(stderr, text)
  }
})
