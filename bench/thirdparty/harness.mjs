// What the comparisons share: options, seeded data, taking turns, and the summary of samples.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'

/** `--json` and the given options, all text: `{ runs: '5' }` is an option with its default. */
export function readOptions(defaults) {
  const options = { json: { type: 'boolean', default: false } }
  for (const [name, value] of Object.entries(defaults))
    options[name] = { type: 'string', ...(value === undefined ? {} : { default: value }) }
  return parseArgs({ options }).values
}

export function count(text, name) {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes a count, got ${text}`)
  return value
}

export const counts = (text, name) => text.split(',').map((part) => count(part, name))

/** Seeded bytes: equal on every machine and for every subject. */
export function randomBytes(seed) {
  let word = seed >>> 0
  return (length) => {
    const bytes = new Uint8Array(length)
    for (let index = 0; index < length; index++) {
      // splitmix32, one step a byte
      word = (word + 0x9e3779b9) >>> 0
      let mixed = word
      mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad)
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
      bytes[index] = (mixed ^ (mixed >>> 15)) >>> 24
    }
    return bytes
  }
}

export const nowMs = () => Number(process.hrtime.bigint()) / 1e6
/** CPU time of the process with all its threads, in ms: what counts where the machine is shared. */
export const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
export const hex = (bytes) => Buffer.from(bytes).toString('hex')

/**
 * Measures subjects that take turns, each turn in a fresh process, so that none runs on the heap, the garbage or the
 * compiled code of another: beside a peer that leaves hundreds of MiB, a run of 20 ms took eight times as long (m).
 * Each process calls the script again with `--subject NAME --warm-up N --runs N` and `childOptions`, which ends in
 * `runAsSubject`. Results of all must be equal text.
 * @param subjects `{ name, warmUpCount, runCount, roundCount }`: uncounted and counted runs a process, processes in all
 */
export function takeTurns({ script, subjects, childOptions = {} }) {
  const samples = subjects.map(() => ({}))
  let expected
  const roundCountMax = Math.max(...subjects.map(({ roundCount }) => roundCount))
  for (let round = 0; round < roundCountMax; round++)
    for (let turn = 0; turn < subjects.length; turn++) {
      const index = (turn + round) % subjects.length
      const { name, roundCount } = subjects[index]
      if (round >= roundCount) continue
      const { runs, result } = runInProcess(script, subjects[index], childOptions)
      expected ??= result
      if (result !== expected) throw new Error(`${name} disagrees: ${result}, not ${expected}`)
      for (const [figure, value] of runs.flatMap((figures) => Object.entries(figures))) {
        samples[index][figure] ??= []
        samples[index][figure].push(value)
      }
    }
  return {
    result: expected,
    subjects: subjects.map(({ name }, index) => ({
      name,
      figures: Object.fromEntries(
        Object.entries(samples[index]).map(([figure, values]) => [figure, summarise(values)]),
      ),
    })),
  }
}

function runInProcess(script, { name, warmUpCount, runCount }, childOptions) {
  const own = { subject: name, 'warm-up': warmUpCount, runs: runCount }
  const child = spawnSync(
    process.execPath,
    [
      script,
      ...Object.entries({ ...childOptions, ...own }).map(([key, value]) => `--${key}=${value}`),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8', maxBuffer: 2 ** 28 },
  )
  if (child.status !== 0) throw new Error(`${name} failed (${child.signal ?? child.status})`)
  return JSON.parse(child.stdout)
}

/** The child's side: `run` gives `{ figures: { name: number }, result }`. */
export async function runAsSubject({ run, warmUpCount, runCount }) {
  const runs = []
  let expected
  for (let index = -warmUpCount; index < runCount; index++) {
    const { figures, result } = await run()
    expected ??= result
    if (result !== expected) throw new Error(`two runs disagree: ${result}, not ${expected}`)
    if (index >= 0) runs.push(figures)
  }
  console.log(JSON.stringify({ runs, result: expected }))
}

export function summarise(samples) {
  const sorted = [...samples].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const median =
    sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  return { median, min: sorted[0], max: sorted.at(-1), samples }
}

/** Version of an installed package. */
export function versionOf(name) {
  const paths = createRequire(import.meta.url).resolve.paths(name)
  for (const path of paths) {
    try {
      return JSON.parse(readFileSync(`${path}/${name}/package.json`, 'utf8')).version
    } catch {}
  }
  return undefined
}

/** The machine's side of a figure. */
export const circumstances = () => ({
  node: process.version,
  load: Number(loadavg()[0].toFixed(2)),
})

export function shown({ median, min, max, samples }, digits = 2) {
  const text = [median, min, max].map((value) => value.toFixed(digits).padStart(10)).join('')
  return `${text}   ${samples.length} runs`
}
