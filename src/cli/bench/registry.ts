/** All cases, group by group. A group's file loads with all it stands on, so only those that are asked for do. */
import { BENCH_GROUPS, type BenchCase, type BenchGroup, caseId } from '../../measure/index.ts'
import { UsageError } from '../exit.ts'

type GroupFile = { readonly CASES: readonly BenchCase[] }

const FILES: Readonly<Record<BenchGroup, () => Promise<GroupFile>>> = {
  trie: () => import('./cases/trie.ts'),
  layers: () => import('./cases/layers.ts'),
  words: () => import('./cases/words.ts'),
  keccak: () => import('./cases/keccak.ts'),
  evm: () => import('./cases/evm.ts'),
  blocks: () => import('./cases/blocks.ts'),
  executor: () => import('./cases/executor.ts'),
}

/**
 * The cases that are meant: a group, `all`, or one case as `trie/commit-after-hash`; without a name all of them.
 * @throws UsageError for a name that is none of these
 */
export async function findCases(names: readonly string[]): Promise<BenchCase[]> {
  if (names.length === 0 || names.includes('all')) return await casesOf(BENCH_GROUPS)
  const found = new Map<string, BenchCase>()
  for (const name of names) {
    const group = BENCH_GROUPS.find((each) => each === name.split('/')[0])
    const cases = group === undefined ? [] : await casesOf([group])
    const meant = cases.filter((bench) => name === group || name === caseId(bench))
    if (meant.length === 0)
      throw new UsageError(
        `${name}: expected ${BENCH_GROUPS.join(', ')}, all, or a case as --list shows it`,
      )
    for (const bench of meant) found.set(caseId(bench), bench)
  }
  return [...found.values()]
}

async function casesOf(groups: readonly BenchGroup[]): Promise<BenchCase[]> {
  const files = await Promise.all(groups.map((group) => FILES[group]()))
  return files.flatMap(({ CASES }) => CASES)
}
