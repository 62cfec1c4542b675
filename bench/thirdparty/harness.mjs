// What the comparisons share: options, seeded data, taking turns, and the summary of samples.
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
export const collectGarbage = () => globalThis.gc?.()
export const hex = (bytes) => Buffer.from(bytes).toString('hex')

/**
 * Runs every subject `runCount` times after `warmUpCount` runs that do not count, taking turns, the order moving on by
 * one each round. A run returns `{ figures: { name: number }, result }`; all results must be equal text.
 * A subject with `runCountMax` runs fewer rounds, spread over the whole, so that a slow peer does not fill the day.
 */
export async function takeTurns({ subjects, runCount, warmUpCount = 0 }) {
  const samples = subjects.map(() => ({}))
  let expected
  for (let round = -warmUpCount; round < runCount; round++) {
    for (let turn = 0; turn < subjects.length; turn++) {
      const index = (turn + round + warmUpCount) % subjects.length
      const { name, run, runCountMax = runCount } = subjects[index]
      if (round >= 0 && skipsRound(round, runCount, runCountMax)) continue
      collectGarbage()
      const { figures, result } = await run()
      expected ??= result
      if (result !== expected) throw new Error(`${name} disagrees: ${result}, not ${expected}`)
      if (round < 0) continue
      for (const [figure, value] of Object.entries(figures)) {
        samples[index][figure] ??= []
        samples[index][figure].push(value)
      }
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

const skipsRound = (round, runCount, runCountMax) =>
  Math.floor(((round + 1) * runCountMax) / runCount) ===
  Math.floor((round * runCountMax) / runCount)

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

/** The machine's side of a figure. CPU share well below 1 in CPU-bound work: the machine was shared. */
export function circumstances() {
  const { user, system } = process.cpuUsage()
  return {
    node: process.version,
    cpuShare: Number(((user + system) / 1e6 / process.uptime()).toFixed(2)),
    load: Number(loadavg()[0].toFixed(2)),
  }
}

export function shown({ median, min, max, samples }, digits = 2) {
  const text = [median, min, max].map((value) => value.toFixed(digits).padStart(10)).join('')
  return `${text}   ${samples.length} runs`
}
