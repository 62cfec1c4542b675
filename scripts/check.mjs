// Everything that must hold of the tree and needs no test run: layers, projects, format, kernels, docs.
// Usage: node scripts/check.mjs      (npm run check)
import { spawnSync } from 'node:child_process'

const steps = [
  ['layers', ['node', 'scripts/check-layers.mjs']],
  ['projects', ['node', 'scripts/gen-tsconfigs.mjs', '--check']],
  ['format and lint', ['npx', 'biome', 'check', '--error-on-warnings', '.']],
  ['kernels are built from their sources', ['node', 'scripts/build-kernels.mjs', '--check']],
  ['error codes are documented', ['node', 'scripts/gen-errors.mjs', '--check']],
  ['paths in docs exist', ['node', 'scripts/check-docs.mjs']],
]

let failedCount = 0
for (const [name, [command, ...args]] of steps) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name}`)
  if (status !== 0) {
    failedCount++
    console.log(`${stdout}${stderr}`)
  }
}
process.exitCode = failedCount === 0 ? 0 : 1
