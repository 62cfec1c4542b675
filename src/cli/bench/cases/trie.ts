/** The shapes of go-ethereum's trie benchmarks: AfterHash and FixedSize, each step timed apart. */
import { NodeArena } from '../../../arena/index.ts'
import type { BenchCase, PreparedBench } from '../../../measure/index.ts'
import { type NodeSet, Trie } from '../../../trie/index.ts'
import { accountPairs, proveNodeSet } from './trieWork.ts'

/** A trie of as many accounts, hashed before the clock starts; what is timed is its one commit. */
function commitAfterHash(count: number, leaves: boolean): PreparedBench {
  const pairs = accountPairs(count)
  // One for all runs, as an engine has one.
  const arena = new NodeArena()
  let trie = new Trie({ arena })
  let set: NodeSet | undefined
  return {
    before() {
      trie = new Trie({ arena })
      trie.update(pairs)
      trie.root()
    },
    run() {
      set = trie.commit({ leaves })
      // The count makes the entries that a consumer reads.
      if (set.nodes.length === 0) throw new Error('nothing was committed')
    },
    prove: () => proveNodeSet(set!, arena),
    after: () => trie.dispose(),
  }
}

export const CASES: readonly BenchCase[] = [
  {
    group: 'trie',
    name: 'commit-after-hash',
    about: 'the one commit of new accounts, put and hashed before; no leaf callback',
    operation: 'leaf',
    sizeUnit: 'accounts',
    sizes: [
      { size: 10, digest: '22c3bbef81f1a733' },
      { size: 100, digest: '30077a176f260ff5' },
      { size: 1000, digest: '4b250dd7a8347c88' },
      { size: 10_000, digest: '02fa23d377c58297' },
      { size: 100_000, digest: '54c33b4580b201f8', isLarge: true },
    ],
    smoke: { size: 10, digest: '22c3bbef81f1a733' },
    arms: ['inline'],
    prepare: (count) => commitAfterHash(count, false),
  },
]
