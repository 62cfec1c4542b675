/**
 * Watches what a summary does to its tries, for metrics and for the question what of a block cost so much: time by part,
 * nodes read and made, and on whose account.
 *
 *     StateSummary ── reads ─▶ watched(source) ─▶ source
 *          └── lap, applied, rootOf, end, collected ─▶ TrieWatch ─▶ take(): all since the last one
 *
 * A node of the account trie is put down to the first of the update's accounts that lies below it, a node of a storage
 * trie to the first of the update's slots; a sibling that a deletion reads or an insertion moves, to the key next to it.
 * So the rows add up to the totals. Memory is bounded: what comes after `ROW_COUNT_MAX` keys is one row, `others`.
 */
import { bytesCompare, bytesEqual } from '../base/index.ts'
import type { AccountUpdate } from '../state/index.ts'
import {
  type NodeReader,
  NodeShape,
  nibbleAt,
  type Trie,
  type WalkableNodeSet,
} from '../trie/index.ts'
import type { StateNodes } from './nodeReaders.ts'
import type { SummaryNodeSet } from './stateSummary.ts'

/** Parts of a summary's work, in their order; `Commits` is the collecting of nodes for a write. */
export const TRIE_PARTS = [
  'accountReads',
  'storageUpdates',
  'accountUpdates',
  'accountHashes',
  'accountCommits',
  'storageCommits',
] as const
export type TriePart = (typeof TRIE_PARTS)[number]

/** Keys of one block that have rows of their own, and nodes that wait to be put down to one. */
const ROW_COUNT_MAX = 65_536

/** Nodes of one key: of an account's way in the account trie, or of a slot's in its storage trie. */
export type KeyNodes = {
  readonly addressHash: Uint8Array
  /** `undefined` for the account itself. */
  readonly slotHash: Uint8Array | undefined
  /** Nodes that were read from the source. */
  readonly read: number
  /** Nodes that the block has made. */
  readonly made: number
}

export type NodeCounts = { readonly account: number; readonly storage: number }

/** What a summary did. A message can carry it. */
export type TrieReport = {
  /** Milliseconds. */
  readonly parts: Readonly<Record<TriePart, number>>
  /** All of an update, from the difference to the root. */
  readonly updateMs: number
  readonly nodesRead: NodeCounts
  readonly nodeBytesRead: number
  /** Milliseconds in the source, also for nodes that were loaded ahead of the update. */
  readonly nodeReadMs: number
  /** Nodes that the updates made; 0 where rows were not asked for. */
  readonly nodesMade: NodeCounts
  /** Nodes handed over to be written, and to be deleted; leaves of the account trie too, which have no rows. */
  readonly nodesWritten: NodeCounts
  readonly nodesDeleted: NodeCounts
  /** Where they were asked for: rows that add up to `nodesRead` and `nodesMade`. */
  readonly rows: readonly KeyNodes[]
  /** What has no row. */
  readonly others: { readonly read: number; readonly made: number }
  /** Bytes of node memory in use. */
  readonly nodeBytes: number
}

type Mutable<Value> = Value extends object ? { -readonly [Key in keyof Value]: Value[Key] } : Value
/** A report that is being made. */
type Tally = { -readonly [Part in Exclude<keyof TrieReport, 'rows'>]: Mutable<TrieReport[Part]> }
type Row = { addressHash: Uint8Array; slotHash: Uint8Array | undefined; read: number; made: number }
type Rows = { readonly account: Row; readonly slots: readonly Row[] }
/** A node that was read, or made, and is not put down yet. */
type Node = {
  readonly owner: Uint8Array | undefined
  readonly path: Uint8Array
  readonly what: 'read' | 'made'
}

export class TrieWatch {
  private readonly hasRows: boolean
  private tally = newTally()
  private rows: Row[] = []
  /** Not put down yet. */
  private accountNodes: Node[] = []
  private storageNodes: Node[] = []
  /** Changes of the update under way, in the order of their hashes. */
  private changed: Rows[] = []
  private updateStart = 0
  private lapStart = 0

  /** @param hasRows whether nodes are put down to keys, which costs an object a node */
  constructor(hasRows: boolean) {
    this.hasRows = hasRows
  }

  /** The same nodes, watched. */
  watched(source: StateNodes): StateNodes {
    return {
      accounts: this.watchedReader(source.accounts, undefined),
      storage: (addressHash) => this.watchedReader(source.storage(addressHash), addressHash),
    }
  }

  /** An update begins. */
  begin(): void {
    this.updateStart = performance.now()
    this.lapStart = this.updateStart
  }

  /** What went by since the last part is none's. */
  skip(): void {
    this.lapStart = performance.now()
  }

  /** A part has ended: what went by since the last one was its. */
  lap(part: TriePart): void {
    const now = performance.now()
    this.tally.parts[part] += now - this.lapStart
    this.lapStart = now
  }

  /** Some of the update's changes were applied. */
  applied(changes: readonly AccountUpdate[]): void {
    if (!this.hasRows) return
    const start = performance.now()
    const rows = changes.map(({ addressHash, slots }) => ({
      account: newRow(addressHash, undefined),
      slots: slots.map(({ slotHash }) => newRow(addressHash, slotHash)),
    }))
    // Nodes of the account trie wait for the whole update: some were loaded ahead, for accounts that come later.
    this.putDown(this.storageNodes, rows)
    this.storageNodes = []
    for (const each of rows) this.changed.push(each)
    this.skipSince(start)
  }

  /** The root of a trie. @param owner of a storage trie */
  rootOf(trie: Trie, owner: Uint8Array | undefined): Uint8Array {
    if (!this.hasRows) return trie.root()
    const kind = owner === undefined ? 'account' : 'storage'
    return trie.rootWatched((path) => {
      this.tally.nodesMade[kind]++
      this.note({ owner, path, what: 'made' })
    })
  }

  /** The update has its root. */
  end(nodeBytes: number): void {
    this.tally.updateMs += performance.now() - this.updateStart
    this.tally.nodeBytes = nodeBytes
    const { changed } = this
    this.changed = []
    this.putDown(this.accountNodes, changed)
    this.putDown(this.storageNodes, changed)
    this.accountNodes = []
    this.storageNodes = []
    for (const { account, slots } of changed)
      for (const row of [account, ...slots]) if (row.read + row.made > 0) this.rows.push(row)
  }

  /** Nodes are handed over. */
  collected({ accountNodes, storageNodes }: SummaryNodeSet): void {
    this.tallySet(accountNodes, 'account')
    for (const { nodes } of storageNodes) this.tallySet(nodes, 'storage')
  }

  /** All since the last call. */
  take(): TrieReport {
    const { tally } = this
    // Reads outside an update: of proofs, or of a block that was refused.
    for (const { what } of [...this.accountNodes, ...this.storageNodes]) tally.others[what]++
    const report = { ...tally, rows: this.greatestRows() }
    // What is in memory stays there.
    this.tally = { ...newTally(), nodeBytes: tally.nodeBytes }
    this.rows = []
    this.accountNodes = []
    this.storageNodes = []
    this.changed = []
    return report
  }

  /** The rows, and where there are too many the greatest of them; the rest goes to `others`. */
  private greatestRows(): readonly Row[] {
    const { rows, tally } = this
    if (rows.length <= ROW_COUNT_MAX) return rows
    rows.sort((a, b) => b.read + b.made - a.read - a.made)
    for (const { read, made } of rows.splice(ROW_COUNT_MAX)) {
      tally.others.read += read
      tally.others.made += made
    }
    return rows
  }

  private watchedReader(reader: NodeReader, owner: Uint8Array | undefined): NodeReader {
    return {
      readNode: (path, hash) => {
        const start = performance.now()
        const bytes = reader.readNode(path, hash)
        this.tally.nodeReadMs += performance.now() - start
        this.tally.nodeBytesRead += bytes?.length ?? 0
        this.tally.nodesRead[owner === undefined ? 'account' : 'storage']++
        if (this.hasRows) this.note({ owner, path: path.slice(), what: 'read' })
        return bytes
      },
    }
  }

  private tallySet(nodes: WalkableNodeSet, kind: keyof NodeCounts): void {
    const { nodesWritten, nodesDeleted } = this.tally
    nodes.walk(({ shape }) => {
      if (shape === NodeShape.None) nodesDeleted[kind]++
      else nodesWritten[kind]++
    })
  }

  private note(node: Node): void {
    const nodes = node.owner === undefined ? this.accountNodes : this.storageNodes
    if (nodes.length < ROW_COUNT_MAX) nodes.push(node)
    else this.tally.others[node.what]++
  }

  private putDown(nodes: readonly Node[], changed: readonly Rows[]): void {
    if (nodes.length === 0) return
    const accounts = changed.map(({ account }) => account)
    for (const { owner, path, what } of nodes) {
      const row = owner === undefined ? nearest(accounts, path) : slotRow(changed, owner, path)
      if (row === undefined) this.tally.others[what]++
      else row[what]++
    }
  }

  /** The watch's own work is nobody's. */
  private skipSince(start: number): void {
    this.updateStart += performance.now() - start
  }
}

function newTally(): Tally {
  return {
    parts: {
      accountReads: 0,
      storageUpdates: 0,
      accountUpdates: 0,
      accountHashes: 0,
      accountCommits: 0,
      storageCommits: 0,
    },
    updateMs: 0,
    nodesRead: { account: 0, storage: 0 },
    nodeBytesRead: 0,
    nodeReadMs: 0,
    nodesMade: { account: 0, storage: 0 },
    nodesWritten: { account: 0, storage: 0 },
    nodesDeleted: { account: 0, storage: 0 },
    others: { read: 0, made: 0 },
    nodeBytes: 0,
  }
}

function newRow(addressHash: Uint8Array, slotHash: Uint8Array | undefined): Row {
  return { addressHash, slotHash, read: 0, made: 0 }
}

/** The row of a node of an account's storage trie; the account's own where no slot of it has changed. */
function slotRow(changed: readonly Rows[], owner: Uint8Array, path: Uint8Array): Row | undefined {
  const index = firstIndex(changed, ({ account }) => bytesCompare(account.addressHash, owner) >= 0)
  const found = changed[index]
  if (found === undefined || !bytesEqual(found.account.addressHash, owner)) return undefined
  return nearest(found.slots, path) ?? found.account
}

/** Of rows in the order of their keys, the first below a path, else the one with most nibbles in common. */
function nearest(rows: readonly Row[], path: Uint8Array): Row | undefined {
  const index = firstIndex(rows, (row) => compareToPath(keyOf(row), path) >= 0)
  const [before, after] = [rows[index - 1], rows[index]]
  if (before === undefined || after === undefined) return before ?? after
  return sharedNibbles(keyOf(after), path) >= sharedNibbles(keyOf(before), path) ? after : before
}

function keyOf({ addressHash, slotHash }: Row): Uint8Array {
  return slotHash ?? addressHash
}

/** First index for which `isReached` holds, of items for which it holds from some index on. */
function firstIndex<Item>(items: readonly Item[], isReached: (item: Item) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isReached(items[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}

function sharedNibbles(key: Uint8Array, path: Uint8Array): number {
  let depth = 0
  while (depth < path.length && nibbleAt(key, 0, depth) === path[depth]) depth++
  return depth
}

/** 0 for a key below the path. */
function compareToPath(key: Uint8Array, path: Uint8Array): number {
  const depth = sharedNibbles(key, path)
  return depth === path.length ? 0 : nibbleAt(key, 0, depth) - path[depth]!
}
