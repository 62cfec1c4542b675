// Runs the fuzz entries: every function `fuzz…(seed, stepCount)` that a compiled *.fuzz.js exports with two parameters.
// Usage: node scripts/run-fuzz.mjs [part of a name] [seed] [--steps N] [--rounds N] [--list]
// Each round takes the next seed and prints it first, so that a failure names the seed that shows it again.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

process.env.VARVE_VERIFY ??= '1'
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    steps: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '20' },
    list: { type: 'boolean', default: false },
  },
})
const [part = '', seedText] = positionals
const seedFirst = seedText === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(seedText)

const entries = []
for (const file of readdirSync('dist', { recursive: true })
  .filter((name) => name.endsWith('.fuzz.js'))
  .sort()) {
  const exported = await import(pathToFileURL(join('dist', file)).href)
  for (const [name, run] of Object.entries(exported))
    if (/^fuzz[A-Z]/.test(name) && run.length === 2) entries.push({ name, file, run })
}
const chosen = entries.filter(({ name, file }) =>
  `${name} ${file}`.toLowerCase().includes(part.toLowerCase()),
)
if (values.list || chosen.length === 0) {
  for (const { name, file } of entries) console.log(`${name.padEnd(28)} ${file}`)
  process.exit(chosen.length === 0 ? 2 : 0)
}
for (let round = 0; round < Number(values.rounds); round++)
  for (const { name, run } of chosen) {
    const seed = seedFirst + round
    const start = performance.now()
    process.stdout.write(`${name} seed ${seed} steps ${values.steps} … `)
    await run(seed, Number(values.steps))
    console.log(`fine, ${((performance.now() - start) / 1000).toFixed(1)} s`)
  }
