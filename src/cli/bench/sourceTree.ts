/** The checkout that this build comes from. Revisions and peers are there, and not in an installed package. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UsageError } from '../exit.ts'

/** Of the package, seen from the compiled file. */
export const PACKAGE_ROOT = join(import.meta.dirname, '../../..')

/** The program of a turn, within a built tree. */
export const turnProgram = (root: string): string => join(root, 'dist/cli/bench/turnProcess.js')

/** URL of the module of peers. @throws UsageError where there is none, or its libraries are not installed */
export function peersUrl(): string {
  const path = join(PACKAGE_ROOT, 'bench/thirdparty/benchPeers.mjs')
  if (!existsSync(path))
    throw new UsageError(`--vs peer: expected a checkout with ${path}, got an installed package`)
  if (!existsSync(join(PACKAGE_ROOT, 'bench/thirdparty/node_modules')))
    throw new UsageError('--vs peer: expected the peers installed: run npm ci in bench/thirdparty')
  return pathToFileURL(path).href
}
