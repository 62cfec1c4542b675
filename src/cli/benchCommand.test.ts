// Aim: `varve bench` says what there is, refuses what there is not, and its figures carry what they claim. Method: the
// compiled command in processes of its own; no figure decides. @isolate
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import type { BenchReport } from './bench/benchReport.ts'

const main = join(import.meta.dirname, 'main.js')

function bench(...parameters: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [main, 'bench', ...parameters, '--quiet'],
    { encoding: 'utf8' },
  )
  return { status, stdout, stderr }
}

test('the list names each case with its sizes and arms', () => {
  const { status, stdout } = bench('keccak', '--list', '--json')
  assert.equal(status, 0)
  const [entry] = JSON.parse(stdout)
  assert.equal(entry.case, 'keccak/hash')
  assert.deepEqual(
    entry.sizes.map(({ size }: { size: number }) => size),
    [32, 136, 532],
  )
  assert.equal(entry.arms[0], 'memory-batch')
})

test('wrong usage ends with 2 and one line', () => {
  for (const parameters of [
    ['tree'],
    ['keccak', '--vs', 'memory'],
    ['keccak', '--vs', 'mode:memory-batch'],
    ['keccak', '--vs', 'mode:none'],
    ['keccak', '--vs', 'rev:no-such-revision'],
    ['keccak', '--sizes', '33'],
    ['trie/none'],
  ]) {
    const { status, stderr } = bench(...parameters)
    assert.equal(status, 2, parameters.join(' '))
    assert.match(stderr, /expected/)
  }
})

test('the smoke run tells what each arm did', () => {
  const { status, stdout } = bench('keccak', '--smoke')
  assert.equal(status, 0)
  assert.match(stdout, /^ok {3}keccak\/hash twin: 512 operations/m)
})

test('two arms of one build take turns with a sham, order swapped half way, all samples kept (row N14)', () => {
  const { status, stdout } = bench('keccak', '--sizes', '32', '--minutes', '0.03', '--json')
  const report = JSON.parse(stdout) as BenchReport
  const [comparison] = report.comparisons
  const { judgement, turns } = comparison!
  assert.equal(status, judgement.verdict === 'void' ? 1 : 0)
  assert.deepEqual(
    judgement.flags.filter(({ isVoid }) => isVoid),
    [],
  )
  assert.equal(turns[0]!.role, 'head')
  assert.equal(turns.at(-1)!.role, 'head')
  assert.deepEqual(
    new Set(turns.map(({ role, subject }) => `${role} ${subject}`)),
    new Set(['head memory-batch', 'base memory', 'sham memory']),
  )
  for (const { samples, claimed, counted, digest, expectedDigest } of turns) {
    assert.ok(samples.length >= 3)
    assert.equal(counted, claimed)
    assert.equal(digest, expectedDigest)
  }
  assert.equal(report.noise!.median, judgement.noise)
})
