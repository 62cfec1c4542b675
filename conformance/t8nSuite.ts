/** go-ethereum's tests of `evm t8n`, `t9n` and `b11r`, run through the commands that users run. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Fixtures } from './fixtures.ts'
import type { SuiteReport } from './suiteReport.ts'
import { README_CASES, SILENT_CASES, T8N_CASES, type T8nCase } from './t8nCases.ts'

type Record = {
  readonly path: string
  readonly files?: {
    readonly [name: string]: { readonly text?: string; readonly base64?: string }
  }
}

const COMMAND = join(import.meta.dirname, '../cli/main.js')

/**
 * A case is a folder: it passes where all runs of it do.
 * @param wanted folders; all where it is left out
 */
export async function runT8nSuite(
  fixtures: Fixtures,
  report: SuiteReport,
  wanted?: readonly string[],
): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'varve-t8n-'))
  try {
    for await (const { path, files } of fixtures.records<Record>(report.suite)) {
      if (files === undefined) continue
      const name = path.split('/').at(-1)!
      if (wanted !== undefined && !wanted.includes(name)) continue
      const folder = join(root, name)
      mkdirSync(folder)
      for (const [file, { text, base64 }] of Object.entries(files))
        writeFileSync(join(folder, file), text ?? Buffer.from(base64 ?? '', 'base64'))
      report.run(name, () => runFolder(name, folder))
    }
  } finally {
    rmSync(root, { recursive: true })
  }
}

function runFolder(name: string, folder: string): string | undefined {
  const isOf = ({ folder: of }: T8nCase) => of === name
  const runs = [
    ...T8N_CASES.filter(isOf).map((run) => runCase(run, folder)),
    ...README_CASES.filter(isOf).map((run) => runReadmeCase(run, folder)),
    ...SILENT_CASES.filter(isOf).map((run) => runCase(run, folder)),
  ]
  if (runs.length === 0) return 'no run of this folder is known'
  return runs.find((problem) => problem !== undefined)
}

function runCase(run: T8nCase, folder: string): string | undefined {
  const { exitCode = 0, expected, traces } = run
  const output = join(folder, 'output')
  const { status, stdout, stderr } = call(run, folder, output, traces !== undefined)
  if (status !== exitCode)
    return `${run.args[0]}: expected exit ${exitCode}, found ${status}: ${stderr}`
  if (expected !== undefined) {
    const problem = jsonProblem(stdout, readFileSync(join(folder, expected), 'utf8'))
    if (problem !== undefined) return `${expected}: ${problem}`
  }
  for (const trace of traces ?? []) {
    const found = readFileSync(join(output, trace), 'utf8')
    // Their files end with a blank line or without one.
    if (found.trimEnd() !== readFileSync(join(folder, trace), 'utf8').trimEnd())
      return `${trace}: the lines differ`
  }
  return undefined
}

function call(run: T8nCase, folder: string, output: string, hasOutput: boolean) {
  const args = run.args.map((argument) => argument.replace('@/', `${folder}/`))
  if (hasOutput) args.push('--output.basedir', output)
  return spawnSync(process.execPath, [COMMAND, ...args], { encoding: 'utf8' })
}

/** The text of a folder is older than some fields; those that it names must be right. */
function runReadmeCase(run: T8nCase, folder: string): string | undefined {
  const { status, stdout, stderr } = call(run, folder, '', false)
  if (status !== 0) return `expected exit 0, found ${status}: ${stderr}`
  const text = readFileSync(join(folder, 'readme.md'), 'utf8')
  const json = /^\{\n[\s\S]*?^\}/m.exec(text)?.[0]
  if (json === undefined) return 'its text holds no JSON'
  type Output = { alloc: unknown; result: { [key: string]: unknown } }
  const expected = JSON.parse(json) as Output
  const found = JSON.parse(stdout) as Output
  if (!isDeepStrictEqual(found.alloc, expected.alloc)) return 'alloc differs'
  const { receipts, ...rest } = expected.result
  for (const [key, value] of Object.entries(rest))
    if (!isDeepStrictEqual(found.result[key], value)) return `${key} differs`
  const count = (list: unknown) => (list as unknown[]).length
  return count(receipts) === count(found.result['receipts']) ? undefined : 'receipts differ'
}

function jsonProblem(found: string, expected: string): string | undefined {
  const left = JSON.parse(found) as unknown
  const right = JSON.parse(expected) as unknown
  if (isDeepStrictEqual(left, right)) return undefined
  return `expected ${JSON.stringify(right)}, found ${JSON.stringify(left)}`
}
