/**
 * Another revision of this repository, built beside it for a comparison. It gets the bench cases of this tree, so that
 * both sides run the same work; what is compared is all that the cases call.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../exit.ts'
import { PACKAGE_ROOT, turnProgram } from './sourceTree.ts'

export type BuiltRevision = {
  /** `revision 1a2b3c4d5e`. */
  readonly label: string
  /** Its root, built. */
  readonly tree: string
  /** Takes the tree away again. */
  close(): void
}

/** What the cases and their runner are, and what they need that is younger than they may be asked for. */
const BENCH_PATHS = ['src/measure', 'src/cli/bench', 'src/cli/chainFiles.ts']

/**
 * Checks a revision out into a temporary folder and builds it, in some ten seconds.
 * @throws UsageError where there is no such revision, or no repository
 * @throws Error where it cannot be built
 */
export function buildRevision(name: string): BuiltRevision {
  const found = run('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], PACKAGE_ROOT)
  if (found.status !== 0)
    throw new UsageError(
      `--vs rev:${name}: expected a revision of the repository in ${PACKAGE_ROOT}`,
    )
  const hash = found.stdout.trim()
  // Its real path: the module loader resolves links, and a module must not be there twice.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'varve-bench-')))
  const tree = join(folder, 'tree')
  const close = () => {
    run('git', ['worktree', 'remove', '--force', tree], PACKAGE_ROOT)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    must('git', ['worktree', 'add', '--quiet', '--detach', tree, hash], PACKAGE_ROOT)
    addPackages(tree)
    layBenchOver(tree)
    const { stdout } = run(process.execPath, [compiler(), '-b', 'src/cli'], tree)
    // Tests of the revision may not fit the cases of this tree; they are emitted as far as they do.
    if (!existsSync(turnProgram(tree)))
      throw new Error(
        `revision ${name} does not build with the bench cases of this tree:\n${stdout}`,
      )
    return { label: `revision ${hash.slice(0, 10)}`, tree, close }
  } catch (error) {
    close()
    throw error
  }
}

const compiler = (): string => join(PACKAGE_ROOT, 'node_modules/typescript/bin/tsc')

/** The packages of this tree where the revision locks the same ones, else its own. */
function addPackages(tree: string): void {
  const lock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8')
  if (lock(tree) === lock(PACKAGE_ROOT))
    symlinkSync(realpathSync(join(PACKAGE_ROOT, 'node_modules')), join(tree, 'node_modules'))
  else must('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], tree)
}

function layBenchOver(tree: string): void {
  for (const path of BENCH_PATHS) {
    rmSync(join(tree, path), { recursive: true, force: true })
    cpSync(join(PACKAGE_ROOT, path), join(tree, path), {
      recursive: true,
      filter: (source) => !source.endsWith('.test.ts'),
    })
  }
  const path = join(tree, 'src/cli/tsconfig.json')
  const project = JSON.parse(readFileSync(path, 'utf8')) as { references: { path: string }[] }
  if (project.references.some((each) => each.path === '../measure')) return
  project.references.push({ path: '../measure' })
  writeFileSync(path, JSON.stringify(project))
}

function run(command: string, parameters: readonly string[], folder: string) {
  return spawnSync(command, parameters, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26 })
}

/** @throws Error with what the command said, where it failed */
function must(command: string, parameters: readonly string[], folder: string): void {
  const { status, stderr, error } = run(command, parameters, folder)
  if (status !== 0)
    throw new Error(`${command} ${parameters.join(' ')}: ${error?.message ?? stderr.trim()}`)
}
