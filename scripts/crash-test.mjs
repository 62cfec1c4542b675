// With a file: kills its import by SIGKILL at random moments and starts it again, until it is through. After every kill
// the database must verify; at the end it must equal that of an uninterrupted import, row for row.
// Without one: kills a pipeline under load, at every declared step and at 200 random moments (or --kills), as
// `src/engine/pipeline/pipelineCrash.test.ts` says.
// Usage: node scripts/crash-test.mjs [FILE [--genesis NAME|FILE] [--batch BLOCKS]] [--kills N] [--seed N]
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    genesis: { type: 'string' },
    kills: { type: 'string' },
    batch: { type: 'string', default: '64' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const [file] = positionals
if (file === undefined) {
  const env = {
    ...process.env,
    VARVE_VERIFY: '1',
    VARVE_CRASH_KILLS: values.kills ?? '200',
    VARVE_CRASH_SEED: values.seed,
  }
  console.log(`${env.VARVE_CRASH_KILLS} kills, seed ${values.seed}`)
  const test = new URL('../dist/engine/pipeline/pipelineCrash.test.js', import.meta.url).pathname
  const { status } = spawnSync(process.execPath, ['--test-reporter=spec', test], {
    stdio: 'inherit',
    env,
  })
  process.exit(status ?? 1)
}
const kills = Number(values.kills ?? 20)
const main = new URL('../dist/cli/main.js', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'varve-crash-'))
const genesis = values.genesis === undefined ? [] : ['--genesis', values.genesis]

let seed = Number(values.seed)
/** 0 to 1, seeded. */
function random() {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}

function varve(...parameters) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...parameters], {
    encoding: 'utf8',
  })
  return { status, output: `${stdout}${stderr}`.trim() }
}

function check(condition, message) {
  if (condition) return
  console.error(`FAILED (seed ${values.seed}): ${message}\nleft in ${folder}`)
  process.exit(1)
}

const importOf = (db) => ['import', file, '--db', db, '--batch', values.batch, '--json', ...genesis]
const whole = join(folder, 'whole')
const start = performance.now()
const uninterrupted = varve(...importOf(whole))
const fullMs = performance.now() - start
check(uninterrupted.status === 0, `uninterrupted import: ${uninterrupted.output}`)
console.log(`uninterrupted: ${(fullMs / 1000).toFixed(2)} s, seed ${values.seed}`)

const db = join(folder, 'killed')
let killCount = 0
let headBefore = -1
let restartCount = 0
while (killCount < kills) {
  const child = spawn(process.execPath, [main, ...importOf(db)], { stdio: 'ignore' })
  const exited = new Promise((resolve) =>
    child.on('exit', (code, signal) => resolve({ code, signal })),
  )
  // Anywhere from process start to a little past the end of a whole import.
  const killMs = random() * fullMs * 1.05
  await Promise.race([exited, sleep(killMs)])
  child.kill('SIGKILL')
  const { code, signal } = await exited
  if (signal === 'SIGKILL') killCount++
  else check(code === 0, `import ended with ${code}`)
  const stats = varve('db', 'stats', '--db', db, '--json')
  if (stats.status !== 0) {
    check(headBefore < 0, `a database that had blocks is no longer one: ${stats.output}`)
    console.log(`kill ${killCount} after ${killMs.toFixed(0)} ms: nothing written yet`)
    continue
  }
  const head = JSON.parse(stats.output).head.number
  check(head >= headBefore, `the head went back from ${headBefore} to ${head}`)
  headBefore = head
  const verified = varve('db', 'verify', '--db', db)
  check(verified.status === 0, `after kill ${killCount} at block ${head}: ${verified.output}`)
  console.log(`kill ${killCount} after ${killMs.toFixed(0)} ms: head ${head}, ${verified.output}`)
  if (signal !== 'SIGKILL') {
    // Through: begin again, so that every kill meets an import under way.
    check(
      digest(db) === digest(whole),
      'an import that was killed and resumed differs from an uninterrupted one',
    )
    rmSync(db, { recursive: true })
    headBefore = -1
    restartCount++
  }
}
const last = varve(...importOf(db))
check(last.status === 0, `last import: ${last.output}`)
check(
  digest(db) === digest(whole),
  'an import that was killed and resumed differs from an uninterrupted one',
)
console.log(
  `fine: ${killCount} kills, ${restartCount} whole rounds, equal content ${digest(db).slice(0, 16)}…`,
)
rmSync(folder, { recursive: true })

function digest(path) {
  const { status, output } = varve('db', 'stats', '--db', path, '--digest', '--json')
  check(status === 0, output)
  return JSON.parse(output).digest
}
