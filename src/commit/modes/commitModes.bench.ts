/**
 * Hash and commit with a consumer, in every fixed mode and as chosen, taking turns in one process: accounts as in
 * geth's AfterHash benchmark, all new, told to a sink that keeps the nodes as rows of a batch and follows each leaf to
 * its storage root. Wall and processor time; the result of every mode is the same rows.
 */
import { NodeArena } from '../../arena/index.ts'
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, toBareHex } from '../../base/index.ts'
import { encodeRlp } from '../../codec/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import { bench, median, Prng, report } from '../../testing/index.ts'
import { workerUrl } from '../../threads/index.ts'
import { Trie, type TrieChange } from '../../trie/index.ts'
import { openSink, type RowResult } from './benchSink.suite.ts'
import type { SinkSource } from './changeSink.ts'
import { COMMIT_MODES, type CommitModeWish } from './modeChooser.ts'
import { TrieCrew } from './trieCrew.ts'

function accounts(count: number): TrieChange[] {
  const prng = new Prng(count)
  return Array.from({ length: count }, () => {
    const nonce = prng.bytes(8)
    nonce[0]! = (nonce[0]! & 0x7f) | 1
    const balance = prng.bytes(prng.between(1, 32))
    balance[0]! |= 1
    const value = encodeRlp([nonce, balance, EMPTY_TRIE_ROOT, EMPTY_CODE_HASH])
    return { key: keccak256(prng.bytes(20)), value }
  })
}

class Arm {
  readonly wish: CommitModeWish
  readonly wallUs: number[] = []
  readonly cpuUs: number[] = []
  check = ''
  readonly crew: TrieCrew
  private readonly arena = new NodeArena()
  private readonly source: SinkSource<undefined, undefined, RowResult> = {
    module: workerUrl(import.meta.url, './benchSink.suite'),
    open: openSink,
    options: undefined,
  }

  constructor(wish: CommitModeWish) {
    this.wish = wish
    this.crew = new TrieCrew(this.arena, wish)
  }

  async run(changes: readonly TrieChange[], isCounted: boolean): Promise<void> {
    const trie = new Trie({ arena: this.arena, helpers: this.crew })
    trie.update(changes)
    const cpu = process.cpuUsage()
    const start = process.hrtime.bigint()
    const result = await this.crew.commitTo([{ trie, tag: undefined }], this.source, {
      leaves: true,
      previous: false,
    })
    const wall = Number(process.hrtime.bigint() - start) / 1000
    const { user, system } = process.cpuUsage(cpu)
    trie.dispose()
    this.check = `${toBareHex(keccak256(result.batch.slab)).slice(0, 8)}.${result.leafCount}`
    if (!isCounted) return
    this.wallUs.push(wall / changes.length)
    this.cpuUs.push((user + system) / changes.length)
  }
}

async function compare(count: number, rounds: number, isFull: boolean): Promise<void> {
  const changes = accounts(count)
  const arms = [...COMMIT_MODES, 'auto' as const].map((wish) => new Arm(wish))
  // Code is compiled, the helper awake and the choice settled before anything counts.
  const warmUpCount = isFull ? Math.max(6, Math.min(400, Math.ceil(200_000 / count))) : 2
  for (let round = 0; round < warmUpCount; round++)
    for (const arm of arms) await arm.run(changes, false)
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? arms : [...arms].reverse()
    for (const arm of order) await arm.run(changes, true)
  }
  const inline = arms[0]!
  const best = Math.min(...arms.slice(0, 3).map((arm) => median(arm.wallUs)))
  for (const { wish, wallUs, cpuUs, check, crew } of arms) {
    if (check !== inline.check) throw new Error(`${wish} gave other rows than inline`)
    const name = `${count} accounts, ${wish}: hash and commit, a leaf`
    report({ name, unit: 'us', samples: wallUs, check })
    report({ name: `${name}, processor`, unit: 'us', samples: cpuUs, check })
    // Pairs of one round, so that what the machine does besides falls on both.
    const ratios = wallUs.map((wall, index) => wall / inline.wallUs[index]!)
    report({ name: `${name}, against inline`, unit: 'ratio', samples: ratios, check })
    if (wish === 'auto') {
      const modes = crew.chooser.log.slice(-20).map(({ mode }) => mode)
      const regret = median(wallUs) / best
      report({
        name: `${count} accounts: auto against the best fixed mode`,
        unit: 'ratio',
        samples: [regret],
        check: [...new Set(modes)].join('+') || 'inline, small',
      })
    }
    await crew.close()
  }
}

bench('commit modes', async (mode) => {
  const sizes = mode === 'full' ? [10, 20, 100, 199, 1000, 10_000, 100_000] : [10, 300]
  for (const size of sizes) {
    const rounds = mode === 'full' ? Math.max(9, Math.min(200, Math.round(200_000 / size))) : 1
    await compare(size, rounds, mode === 'full')
  }
})
