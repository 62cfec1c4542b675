/**
 * Hash and commit with a consumer, in every fixed mode and as chosen, taking turns in one process: accounts as in
 * geth's AfterHash benchmark, all new, told to a sink that keeps the nodes as rows of a batch and follows each leaf to
 * its storage root. Wall and processor time; the result of every mode is the same rows.
 */
import { NodeArena, NodeWindowLoan } from '../../arena/index.ts'
import { toBareHex } from '../../base/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import { bench, median, report } from '../../testing/index.ts'
import { Lane, TaskOwner, workerUrl } from '../../threads/index.ts'
import { gethAccounts } from '../../trie/gethAccounts.suite.ts'
import { type ChangePiece, type SubtreeTask, Trie, type TrieChange } from '../../trie/index.ts'
import { openSink, type RowResult } from './benchSink.suite.ts'
import type { SinkSource } from './changeSink.ts'
import type { HelperOptions, HelperReply, HelperRequest } from './messages.ts'
import { COMMIT_MODES, type CommitModeWish } from './modeChooser.ts'
import { TrieCrew } from './trieCrew.ts'

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

/** Prints all arms at one size. */
export async function compare(count: number, rounds: number, isFull: boolean): Promise<void> {
  const changes = gethAccounts(count)
  const arms = [...COMMIT_MODES, 'auto' as const].map((wish) => new Arm(wish))
  // Code is compiled, the helper awake and the choice settled before anything counts.
  const warmUpCount = isFull ? Math.max(12, Math.min(400, Math.ceil(200_000 / count))) : 2
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

/**
 * The first form of go-ethereum's worker, for comparison: a message for each node, sent in the middle of the walk.
 * Everything else is as in the worker mode.
 */
async function channel(count: number, rounds: number): Promise<void> {
  const changes = gethAccounts(count)
  const arena = new NodeArena()
  const loan = new NodeWindowLoan(arena)
  const tasks = new TaskOwner<SubtreeTask, undefined>()
  const cancelled = new SharedArrayBuffer(4)
  const lane = new Lane<HelperRequest, HelperReply>(
    workerUrl(import.meta.url, './helper.worker'),
    { window: loan.share, board: tasks.share, cancelled } satisfies HelperOptions,
    [tasks.share.port],
  )
  const samples: number[] = []
  let leafCount = 0
  for (let round = 0; round < rounds + 2; round++) {
    const trie = new Trie({ arena })
    trie.update(changes)
    const start = process.hrtime.bigint()
    const module = workerUrl(import.meta.url, './benchSink.suite').href
    const told = [lane.run({ kind: 'open', module, options: undefined })]
    const open = trie.commitInPieces(
      (piece) => {
        for (let index = 0; index < piece.writes.length; index++)
          told.push(
            lane.run({
              kind: 'piece',
              piece: entryOf(piece, index),
              wantsPrevious: false,
              cancelCount: 0,
            }),
          )
      },
      { leaves: true },
    )
    await Promise.all(told)
    leafCount = ((await lane.run({ kind: 'finish' })) as RowResult).leafCount
    open.finish()
    const wall = Number(process.hrtime.bigint() - start) / 1000 / count
    if (round >= 2) samples.push(wall)
    trie.dispose()
  }
  const name = `${count} accounts, a message a node: hash and commit, a leaf`
  report({ name, unit: 'us', samples, check: String(leafCount) })
  tasks.close()
  await lane.close()
  loan.end()
}

/** One entry of a piece, as a piece. */
function entryOf(piece: ChangePiece, index: number): ChangePiece {
  const { paths, pathEnds, writes, formers, leafEnds, leaves } = piece
  const start = index === 0 ? 0 : pathEnds[index - 1]!
  const firstLeaf = index === 0 ? 0 : leafEnds[index - 1]!
  return {
    paths: paths.slice(start, pathEnds[index]),
    pathEnds: Uint32Array.of(pathEnds[index]! - start),
    writes: writes.slice(index, index + 1),
    formers: formers.slice(index, index + 1),
    leafEnds: Uint32Array.of(leafEnds[index]! - firstLeaf),
    leaves: leaves.slice(firstLeaf, leafEnds[index]),
  }
}

bench('commit modes', async (mode) => {
  const sizes = mode === 'full' ? [10, 20, 100, 199, 1000, 10_000, 100_000] : [10, 300]
  for (const size of sizes) {
    const rounds = mode === 'full' ? Math.max(9, Math.min(200, Math.round(200_000 / size))) : 1
    await compare(size, rounds, mode === 'full')
  }
})

bench('a message a node, as in the first form of go-ethereum’s worker', async (mode) => {
  for (const size of mode === 'full' ? [1000, 10_000] : [30])
    await channel(size, mode === 'full' ? 9 : 1)
})
