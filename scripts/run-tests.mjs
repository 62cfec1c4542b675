// Runs the compiled test files (dist/**/*.test.js) in one process: a process each took thirty times as long.
// Usage: node scripts/run-tests.mjs [part of a path …]
// A file whose first lines hold `@isolate` runs in a process of its own, after the others.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

// Assertions inside hot loops are on in tests.
process.env.VARVE_VERIFY ??= '1'

const wanted = process.argv.slice(2)
const files = readdirSync('dist', { recursive: true })
  .filter((file) => file.endsWith('.test.js'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort()
  .map((file) => join('dist', file))
const isolated = files.filter((file) =>
  readFileSync(file, 'utf8').slice(0, 400).includes('@isolate'),
)

if (files.length === 0) {
  console.error(`no test file matches ${wanted.join(' ')}`)
  process.exit(2)
}
process.on('exit', (code) => {
  for (const file of isolated) {
    const { status } = spawnSync(process.execPath, ['--test-reporter=spec', file], {
      stdio: 'inherit',
    })
    if (status !== 0 && code === 0) process.exitCode = 1
  }
})
for (const file of files) if (!isolated.includes(file)) await import(pathToFileURL(file).href)
