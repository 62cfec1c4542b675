/**
 * Aim: every task of a round is done exactly once as far as its result goes, whoever takes it, and the owner never waits
 * for a helper that is late, fails, or dies. Method: a helper that does as a task says, and an owner that lets it begin.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lane } from './lane.ts'
import { TaskOwner } from './taskBoard.ts'
import type { TestHelp, TestResult, TestTask } from './taskHelper.suite.ts'
import { workerUrl } from './workerUrl.ts'

class Pair {
  readonly owner: TaskOwner<TestTask, TestResult>
  readonly progress = new SharedArrayBuffer(8)
  readonly again: number[] = []
  private readonly lane: Lane<TestHelp, undefined>

  constructor(waitMsMax?: number) {
    this.owner = new TaskOwner(waitMsMax)
    const { share } = this.owner
    this.lane = new Lane(workerUrl(import.meta.url, './taskHelper.suite'), share, [share.port])
  }

  /** The owner's first task takes until the helper has begun so many. */
  run(kinds: readonly TestTask['kind'][], beginCount: number): TestResult[] {
    const words = new Int32Array(this.progress)
    Atomics.store(words, 0, 0)
    const tasks = kinds.map((kind, value) => ({ kind, value, progress: this.progress }))
    this.again.length = 0
    return this.owner.run(
      tasks,
      (round) => {
        this.lane.run({ round, tasks }).catch(() => undefined)
      },
      ({ value }, isAgain) => {
        if (isAgain) this.again.push(value)
        for (let seen = 0; value === 0 && seen < beginCount; seen = Atomics.load(words, 0))
          Atomics.wait(words, 0, seen, 100)
        return { value: 2 * value, byHelper: false }
      },
    )
  }

  async close(): Promise<void> {
    Atomics.store(new Int32Array(this.progress), 1, 1)
    Atomics.notify(new Int32Array(this.progress), 1)
    this.owner.close()
    await this.lane.close()
  }
}

const valuesOf = (results: readonly TestResult[]): number[] => results.map(({ value }) => value)
const doubled = (count: number): number[] => Array.from({ length: count }, (_, index) => 2 * index)

test('owner and helper share the tasks of many rounds; results are in their order', async () => {
  const pair = new Pair()
  let helped = 0
  for (let round = 0; round < 200; round++) {
    const count = 1 + (round % 16)
    const results = pair.run(new Array(count).fill('echo'), round % 4 === 0 && count > 1 ? 1 : 0)
    assert.deepEqual(valuesOf(results), doubled(count))
    helped += results.filter(({ byHelper }) => byHelper).length
  }
  assert.ok(helped >= 40, `${helped} tasks by the helper`)
  assert.deepEqual(pair.run([], 0), [])
  await pair.close()
})

test('what a helper throws at is done by the owner', async () => {
  const pair = new Pair()
  const results = pair.run(['echo', 'echo', 'throw', 'echo', 'throw'], 4)
  assert.deepEqual(valuesOf(results), doubled(5))
  assert.deepEqual(pair.again, [2, 4])
  await pair.close()
})

test('a helper that dies in a task leaves it to the owner, who does not wait', async () => {
  const pair = new Pair()
  const start = performance.now()
  assert.deepEqual(valuesOf(pair.run(['echo', 'echo', 'die', 'echo'], 2)), doubled(4))
  assert.deepEqual(pair.again, [2])
  assert.ok(performance.now() - start < 20_000)
  // There is nobody to help any more.
  assert.deepEqual(valuesOf(pair.run(['echo', 'echo'], 0)), doubled(2))
  assert.deepEqual(pair.again, [])
  await pair.close()
})

test('a helper that hangs in a task is given up after a while, by name', async () => {
  const pair = new Pair(150)
  assert.throws(() => pair.run(['echo', 'hang'], 1), { code: 'TASK_HELPER_LOST' })
  await pair.close()
})

test('what the owner throws comes out once the helper is at nothing any more', async () => {
  const pair = new Pair()
  const words = new Int32Array(pair.progress)
  assert.throws(
    () =>
      pair.owner.run(
        [{ kind: 'echo', value: 0, progress: pair.progress }],
        () => {},
        () => {
          throw new Error('the owner cannot')
        },
      ),
    /the owner cannot/,
  )
  assert.equal(Atomics.load(words, 0), 0)
  assert.deepEqual(valuesOf(pair.run(['echo', 'echo'], 1)), doubled(2))
  await pair.close()
})
