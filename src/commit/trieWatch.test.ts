/**
 * Aim: a watch counts each node that is read and made once and puts it down to the right key, over several chunks of an
 * update, with nodes loaded ahead, with deletions and with storage. Method: the same paths put down by a search through
 * all keys; the reader's own list of what was read, and the node set of the next collection.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesCompare, EMPTY_TRIE_ROOT, toBareHex } from '../base/index.ts'
import { type AccountUpdate, addressHashOf, EMPTY_ACCOUNT, slotHashOf } from '../state/index.ts'
import { Prng } from '../testing/index.ts'
import type { StateNodes } from './nodeReaders.ts'
import { StateSummary } from './stateSummary.ts'
import { type KeyNodes, TrieWatch } from './trieWatch.ts'

/** Keeps nodes, and lists the paths that are read: that of the account, if it is a storage trie's, and the node's. */
class ListedNodes implements StateNodes {
  readonly read: string[] = []
  private readonly nodes = new Map<string, Uint8Array>()
  readonly accounts = { readNode: (path: Uint8Array) => this.take(`:${textOf(path)}`) }

  storage(addressHash: Uint8Array) {
    const owner = toBareHex(addressHash)
    return { readNode: (path: Uint8Array) => this.take(`${owner}:${textOf(path)}`) }
  }

  /** Stores what a summary collects, and tells at which paths. */
  collect(summary: StateSummary): string[] {
    const { accountNodes, storageNodes } = summary.collect()
    const sets = [
      ['', accountNodes] as const,
      ...storageNodes.map(({ addressHash, nodes }) => [toBareHex(addressHash), nodes] as const),
    ]
    return sets.flatMap(([owner, { nodes }]) =>
      nodes.map(({ path, bytes }) => {
        const id = `${owner}:${textOf(path)}`
        this.nodes.set(id, bytes)
        return id
      }),
    )
  }

  private take(id: string): Uint8Array | undefined {
    this.read.push(id)
    return this.nodes.get(id)
  }
}

function textOf(path: Uint8Array): string {
  return Array.from(path, (nibble) => nibble.toString(16)).join('')
}

const HASHES = Array.from({ length: 1400 }, (_, index) => addressHashOf(bytesOf(index, 20))).sort(
  bytesCompare,
)
const SLOTS = Array.from({ length: 40 }, (_, index) => slotHashOf(bytesOf(index, 32))).sort(
  bytesCompare,
)

function bytesOf(index: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  new DataView(bytes.buffer).setUint32(length - 4, index)
  return bytes
}

/** An account with a nonce, and with some slots where it is one of every hundred. */
function update(index: number, nonce: bigint | undefined, slotCount = 0): AccountUpdate {
  return {
    addressHash: HASHES[index]!,
    after: nonce === undefined ? undefined : { ...EMPTY_ACCOUNT, nonce },
    storageCleared: false,
    slots: SLOTS.slice(0, slotCount).map((slotHash) => ({
      slotHash,
      after: bytesOf(Number(nonce), 32),
    })),
  }
}

/** Keys of an update as digits: those of accounts at '', those of an account's slots at its own. */
function keysOf(changes: readonly AccountUpdate[]): Map<string, string[]> {
  const keys = new Map([['', changes.map(({ addressHash }) => toBareHex(addressHash))]])
  for (const { addressHash, slots } of changes)
    keys.set(
      toBareHex(addressHash),
      slots.map(({ slotHash }) => toBareHex(slotHash)),
    )
  return keys
}

/** The row of a path: the first key below it, else the one with most digits in common, the later of two. */
function naiveRow(id: string, keys: ReadonlyMap<string, readonly string[]>): string {
  const [owner, path] = id.split(':') as [string, string]
  const shared = (key: string): number => {
    let length = 0
    while (length < path.length && key[length] === path[length]) length++
    return length
  }
  let best: string | undefined
  for (const key of keys.get(owner)!) {
    const [now, most] = [shared(key), best === undefined ? -1 : shared(best)]
    // Where no key is below the path, those with most in common stand on one side of it or on both.
    if (now > most || (now === most && best! < path && now < path.length)) best = key
  }
  return `${owner === '' ? '' : `${owner} `}${best}`
}

function nameOf({ addressHash, slotHash }: KeyNodes): string {
  const name = toBareHex(addressHash)
  return slotHash === undefined ? name : `${name} ${toBareHex(slotHash)}`
}

/** Counts by row, as text that compares. */
function tally(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
    .map(([name, count]) => `${name} ${count}`)
    .sort()
    .join('\n')
}

function rowTally(rows: readonly KeyNodes[], what: 'read' | 'made'): string {
  return tally(rows.flatMap((row) => Array.from({ length: row[what] }, () => nameOf(row))))
}

/** A stored state of all accounts. */
function storedState(): { readonly nodes: ListedNodes; readonly root: Uint8Array } {
  const nodes = new ListedNodes()
  const summary = new StateSummary(nodes, EMPTY_TRIE_ROOT)
  const root = summary.update({
    accounts: HASHES.map((_, index) => update(index, 1n, index % 100 === 0 ? 20 : 0)),
  })
  nodes.collect(summary)
  return { nodes, root }
}

test('each node is put down to the key that a search through all finds', () => {
  for (const seed of [1, 2, 3]) {
    const prng = new Prng(seed)
    const { nodes, root } = storedState()
    const watch = new TrieWatch(true)
    const summary = new StateSummary(nodes, root, { watch })
    const hasDeletions = seed > 1
    const changes = HASHES.flatMap((_, index) => {
      if (prng.oneIn(5)) return []
      if (index % 100 === 0) return [update(index, 2n, 30)]
      return [update(index, hasDeletions && prng.oneIn(4) ? undefined : 2n)]
    })
    nodes.read.length = 0
    if (seed !== 2) summary.prefetch(changes.slice(-300).map(({ addressHash }) => addressHash))
    summary.updateEach((visit) => {
      for (const change of changes) visit(change)
    })
    const report = watch.take()
    const made = nodes.collect(summary)
    const total = (counts: { account: number; storage: number }) => counts.account + counts.storage
    assert.equal(total(report.nodesRead), nodes.read.length)
    assert.equal(total(report.nodesMade), made.length)
    assert.deepEqual(report.others, { read: 0, made: 0 })
    const keys = keysOf(changes)
    const expected = (ids: readonly string[]) => tally(ids.map((id) => naiveRow(id, keys)))
    assert.equal(rowTally(report.rows, 'made'), expected(made), `seed ${seed}, made`)
    assert.equal(rowTally(report.rows, 'read'), expected(nodes.read), `seed ${seed}, read`)
    const { nodesWritten } = watch.take()
    assert.equal(total(nodesWritten), made.length)
  }
})

test('what is read outside an update is nobody’s, and is told once', () => {
  const { nodes, root } = storedState()
  const watch = new TrieWatch(true)
  const summary = new StateSummary(nodes, root, { watch })
  nodes.read.length = 0
  summary.proveAccount(HASHES[7]!)
  const report = watch.take()
  assert.ok(report.nodesRead.account >= 3)
  assert.deepEqual(report.others, { read: nodes.read.length, made: 0 })
  assert.equal(report.rows.length, 0)
  const { nodesRead, others, updateMs } = watch.take()
  assert.deepEqual(
    { nodesRead, others, updateMs },
    {
      nodesRead: { account: 0, storage: 0 },
      others: { read: 0, made: 0 },
      updateMs: 0,
    },
  )
})
