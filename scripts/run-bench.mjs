// Runs the compiled *.bench.js at full size, one after the other, each file in a fresh process.
// Usage: node scripts/run-bench.mjs [part of a path …] [--json]
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const isJson = process.argv.includes('--json')
const files = readdirSync('dist', { recursive: true })
  .filter((file) => file.endsWith('.bench.js'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort()
if (files.length === 0) {
  console.error(`no bench matches ${wanted.join(' ')}`)
  process.exit(2)
}
const harness = pathToFileURL(join(process.cwd(), 'dist/testing/bench.js')).href
for (const file of files) {
  if (!isJson) console.log(`# ${file}`)
  const url = pathToFileURL(join(process.cwd(), 'dist', file)).href
  const program = `await import(${JSON.stringify(url)}); await (await import(${JSON.stringify(harness)})).runBenches()`
  const { status } = spawnSync(
    process.execPath,
    ['--expose-gc', '--input-type=module', '-e', program],
    {
      stdio: 'inherit',
      env: { ...process.env, VARVE_BENCH: 'full', VARVE_BENCH_JSON: isJson ? '1' : '0' },
    },
  )
  if (status !== 0) process.exitCode = 1
}
