/**
 * Fits the cost model to the machine: a trie of a few hundred leaves is hashed and committed alone and shared, and a task
 * handed over, each a few times. Some milliseconds, once, when the helper is awake.
 */
import type { NodeArena } from '../../arena/index.ts'
import { type SharedOperation, Trie, type TrieHelpers } from '../../trie/index.ts'
import { type CommitMode, MODEL_DEFAULT, type ModeCost, type ModeModel } from './modeChooser.ts'

const LEAF_COUNT = 256
const RUN_COUNT = 3
const KEY_BYTES = 32
const VALUE_BYTES = 78

type StepTimes = Record<SharedOperation, number>

/**
 * @param helpers who shares the work
 * @param handOverNs how long it takes until a task that is handed over is begun
 */
export function fitModel(
  arena: NodeArena,
  helpers: Pick<TrieHelpers, 'run'>,
  handOverNs: number,
): ModeModel {
  const alone = bestTimes(arena, helpers, 'inline')
  const shared = bestTimes(arena, helpers, 'parallel')
  const pairOf = (operation: SharedOperation): Partial<Record<CommitMode, ModeCost>> => {
    const perLeaf = alone[operation] / LEAF_COUNT
    // No more than two threads share, and what is handed over late is not shared at all.
    const sharedLeaf = (shared[operation] - handOverNs) / LEAF_COUNT
    return {
      inline: { fixed: MODEL_DEFAULT[operation].inline?.fixed ?? 0, perLeaf },
      parallel: {
        fixed: handOverNs,
        perLeaf: Math.min(1.2, Math.max(0.5, sharedLeaf / perLeaf)) * perLeaf,
      },
    }
  }
  // A sink's own cost is its own; it is taken to be as the default has it beside hash and commit.
  const speed = (alone.hash + alone.commit) / LEAF_COUNT / DEFAULT_PER_LEAF
  const sink: Partial<Record<CommitMode, ModeCost>> = {}
  for (const [mode, { fixed, perLeaf }] of Object.entries(MODEL_DEFAULT.sink) as [
    CommitMode,
    ModeCost,
  ][])
    sink[mode] = {
      fixed: mode === 'inline' ? fixed : SINK_HAND_OVERS * handOverNs,
      perLeaf: perLeaf * speed,
    }
  return { hash: pairOf('hash'), commit: pairOf('commit'), sink }
}

const DEFAULT_PER_LEAF =
  (MODEL_DEFAULT.hash.inline?.perLeaf ?? 1) + (MODEL_DEFAULT.commit.inline?.perLeaf ?? 1)
/** A commit to a sink elsewhere opens it, hands over pieces, and waits for the end. */
const SINK_HAND_OVERS = 3

function bestTimes(
  arena: NodeArena,
  helpers: Pick<TrieHelpers, 'run'>,
  mode: 'inline' | 'parallel',
): StepTimes {
  const best: StepTimes = { hash: Infinity, commit: Infinity }
  const forced: TrieHelpers = {
    run: (tasks, own) => helpers.run(tasks, own),
    choose(operation, _leafCount, alone, shared) {
      const start = performance.now()
      const result = mode === 'parallel' ? shared() : alone()
      best[operation] = Math.min(best[operation], (performance.now() - start) * 1e6)
      return result
    },
  }
  for (let run = 0; run < RUN_COUNT; run++) {
    const trie = new Trie({ arena, helpers: forced })
    trie.update(leaves())
    trie.commit()
    trie.dispose()
  }
  return best
}

/** Keys that are spread as hashes are. */
function leaves(): { readonly key: Uint8Array; readonly value: Uint8Array }[] {
  return Array.from({ length: LEAF_COUNT }, (_, index) => {
    const key = new Uint8Array(KEY_BYTES)
    let state = index + 1
    for (let at = 0; at < KEY_BYTES; at++) {
      state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
      key[at] = state >>> 24
    }
    return { key, value: new Uint8Array(VALUE_BYTES).fill(index | 1) }
  })
}
