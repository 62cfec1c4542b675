/**
 * The ordered table of the memory store: immutable pages, replaced on write, as a copy-on-write tree of two levels.
 *
 * ```
 *  MemoryTable   pages [ p0 | p1 | p2 | … ]         ascending, none empty
 *  MemoryPage    bytes    key0 value0 key1 value1 …
 *                offsets  k0 v0 k1 v1 … end          entry i: key from offsets[2i], value from offsets[2i+1]
 * ```
 * A snapshot is the array of pages as it was: nothing in it ever changes. A batch rewrites the pages it touches and one
 * array of references, so 5,000 random puts into a million entries copy a few thousand pages of some kilobytes.
 * Entries lie packed, without an object each.
 */
import { assert, bytesCompare } from '../base/index.ts'

/** Bytes of entries above which a page is split. A page of one entry may be larger. */
const PAGE_BYTES_MAX = 8 * 1024
/** Below this a rewritten page takes in its right neighbour, so that deletions leave no chain of crumbs. */
const PAGE_BYTES_MIN = 2 * 1024

export type MemoryPage = { readonly bytes: Uint8Array; readonly offsets: Uint32Array }
export type MemoryTable = { readonly pages: readonly MemoryPage[]; readonly entryCount: number }

export const EMPTY_TABLE: MemoryTable = { pages: [], entryCount: 0 }

/** A change to one key: `value` undefined removes it. */
export type MemoryChange = { readonly key: Uint8Array; readonly value: Uint8Array | undefined }

/** Where an entry is, or would be: `entry` may be the entry count of the last page. */
export type MemoryPlace = { readonly page: number; readonly entry: number }

export function entryCount(page: MemoryPage): number {
  return page.offsets.length >> 1
}

/** Key of an entry: a view into the page. */
export function pageKey(page: MemoryPage, entry: number): Uint8Array {
  return page.bytes.subarray(page.offsets[2 * entry]!, page.offsets[2 * entry + 1]!)
}

/** Value of an entry: a view into the page. */
export function pageValue(page: MemoryPage, entry: number): Uint8Array {
  return page.bytes.subarray(page.offsets[2 * entry + 1]!, page.offsets[2 * entry + 2]!)
}

/** Value of `key` as a view into its page, or `undefined`. Cost: two binary searches. */
export function tableGet(table: MemoryTable, key: Uint8Array): Uint8Array | undefined {
  const page = table.pages[pageIndexOf(table.pages, key)]
  if (page === undefined) return undefined
  const entry = lowerBound(page, key)
  if (entry === entryCount(page) || compareAt(page, entry, key) !== 0) return undefined
  return pageValue(page, entry)
}

/** Place of the first key that is not below `key`. */
export function tableSeek(table: MemoryTable, key: Uint8Array): MemoryPlace {
  if (table.pages.length === 0) return { page: 0, entry: 0 }
  const page = Math.max(0, pageIndexOf(table.pages, key))
  return { page, entry: lowerBound(table.pages[page]!, key) }
}

/** The table without the keys from `gte` to before `lt` (`undefined`: to the last). */
export function tableDeleteRange(
  table: MemoryTable,
  gte: Uint8Array,
  lt: Uint8Array | undefined,
): MemoryTable {
  const first = tableSeek(table, gte)
  const end = lt === undefined ? { page: table.pages.length, entry: 0 } : tableSeek(table, lt)
  if (end.page < first.page || (end.page === first.page && end.entry <= first.entry)) return table
  const builder = new PageBuilder()
  const head = table.pages[first.page]
  if (head !== undefined) builder.addEntries(head, 0, first.entry)
  const tail = table.pages[end.page]
  if (tail !== undefined) builder.addEntries(tail, end.entry, entryCount(tail))
  const pages = table.pages.slice(0, first.page)
  builder.flushInto(pages)
  for (let index = end.page + 1; index < table.pages.length; index++)
    pages.push(table.pages[index]!)
  return { pages, entryCount: countEntries(pages) }
}

/** The table with `changes`, which are sorted by key without doubles. */
export function tableApply(table: MemoryTable, changes: readonly MemoryChange[]): MemoryTable {
  if (changes.length === 0) return table
  const { pages: before } = table
  const after: MemoryPage[] = []
  const builder = new PageBuilder()
  let pageIndex = 0
  let changeIndex = 0
  while (changeIndex < changes.length) {
    const target = Math.max(pageIndex, pageIndexOf(before, changes[changeIndex]!.key))
    while (pageIndex < target) after.push(before[pageIndex++]!)
    let changeEnd = mergePage(builder, before, pageIndex++, changes, changeIndex)
    // A small rest takes in its neighbour, with the changes that fall into it.
    while (builder.byteCount < PAGE_BYTES_MIN && pageIndex < before.length)
      changeEnd = mergePage(builder, before, pageIndex++, changes, changeEnd)
    changeIndex = changeEnd
    builder.flushInto(after)
  }
  while (pageIndex < before.length) after.push(before[pageIndex++]!)
  return { pages: after, entryCount: countEntries(after) }
}

/** Adds a page and the changes that belong to it; returns the index of the first change that belongs to a later page. */
function mergePage(
  builder: PageBuilder,
  pages: readonly MemoryPage[],
  pageIndex: number,
  changes: readonly MemoryChange[],
  changeStart: number,
): number {
  const page = pages[pageIndex]
  const next = pages[pageIndex + 1]
  const count = page === undefined ? 0 : entryCount(page)
  let entry = 0
  let changeIndex = changeStart
  for (; changeIndex < changes.length; changeIndex++) {
    const change = changes[changeIndex]!
    if (next !== undefined && compareAt(next, 0, change.key) <= 0) break
    if (page !== undefined) {
      const at = lowerBound(page, change.key)
      builder.addEntries(page, entry, at)
      entry = at < count && compareAt(page, at, change.key) === 0 ? at + 1 : at
    }
    if (change.value !== undefined) builder.addEntry(change.key, change.value)
  }
  if (page !== undefined) builder.addEntries(page, entry, count)
  return changeIndex
}

/**
 * Collects entries in order and packs them into pages of even size. Entries are noted as places in the bytes they come
 * from; what lies side by side there is copied as one run.
 */
class PageBuilder {
  private sources: Uint8Array[] = []
  /** Three numbers an entry: where key, value and entry end begin in its source. */
  private places: number[] = []
  byteCount = 0

  addEntry(key: Uint8Array, value: Uint8Array): void {
    // Key and value of a change lie apart, so they are joined first: two small copies, and one kind of entry.
    const joined = new Uint8Array(key.length + value.length)
    joined.set(key)
    joined.set(value, key.length)
    this.add(joined, 0, key.length, joined.length)
  }

  addEntries(page: MemoryPage, start: number, end: number): void {
    const { bytes, offsets } = page
    for (let entry = start; entry < end; entry++)
      this.add(bytes, offsets[2 * entry]!, offsets[2 * entry + 1]!, offsets[2 * entry + 2]!)
  }

  /** Appends the pages to `target` and starts anew. Even parts, so that the next insertions split none of them at once. */
  flushInto(target: MemoryPage[]): void {
    const { sources, places } = this
    const partBytes = this.byteCount / Math.ceil(this.byteCount / PAGE_BYTES_MAX)
    let start = 0
    let bytes = 0
    for (let index = 0; index < sources.length; index++) {
      const entryBytes = places[3 * index + 2]! - places[3 * index]!
      if (index > start && bytes + entryBytes / 2 > partBytes) {
        target.push(packPage(sources, places, start, index, bytes))
        start = index
        bytes = 0
      }
      bytes += entryBytes
    }
    if (start < sources.length) target.push(packPage(sources, places, start, sources.length, bytes))
    this.sources = []
    this.places = []
    this.byteCount = 0
  }

  private add(source: Uint8Array, key: number, value: number, end: number): void {
    this.sources.push(source)
    this.places.push(key, value, end)
    this.byteCount += end - key
  }
}

function packPage(
  sources: readonly Uint8Array[],
  places: readonly number[],
  start: number,
  end: number,
  byteCount: number,
): MemoryPage {
  const bytes = new Uint8Array(byteCount)
  const offsets = new Uint32Array(2 * (end - start) + 1)
  let offset = 0
  let runStart = start
  for (let index = start, at = 0; index < end; index++) {
    const key = places[3 * index]!
    offsets[at++] = offset
    offsets[at++] = offset + places[3 * index + 1]! - key
    offset += places[3 * index + 2]! - key
    const continues =
      index + 1 < end &&
      sources[index + 1] === sources[index] &&
      places[3 * index + 3] === places[3 * index + 2]
    if (continues) continue
    const runOffset = places[3 * runStart]!
    const run = sources[index]!.subarray(runOffset, places[3 * index + 2]!)
    bytes.set(run, offset - run.length)
    runStart = index + 1
  }
  offsets[offsets.length - 1] = offset
  assert(offset === byteCount, 'a page holds what was counted')
  return { bytes, offsets }
}

/** Index of the last page whose first key is not above `key`: -1 before the first, also for no pages. */
function pageIndexOf(pages: readonly MemoryPage[], key: Uint8Array): number {
  let low = 0
  let high = pages.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareAt(pages[middle]!, 0, key) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Index of the first entry whose key is not below `key`; the entry count if there is none. */
function lowerBound(page: MemoryPage, key: Uint8Array): number {
  let low = 0
  let high = entryCount(page)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareAt(page, middle, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Order of an entry's key and `key`, without a view. */
function compareAt(page: MemoryPage, entry: number, key: Uint8Array): number {
  const { bytes, offsets } = page
  let at = offsets[2 * entry]!
  const length = offsets[2 * entry + 1]! - at
  const shared = Math.min(length, key.length)
  for (let index = 0; index < shared; index++, at++) {
    const difference = bytes[at]! - key[index]!
    if (difference !== 0) return difference
  }
  return length - key.length
}

function countEntries(pages: readonly MemoryPage[]): number {
  let count = 0
  for (const page of pages) count += entryCount(page)
  return count
}

/** Bytes that a table's pages take. Cost: one step a page. */
export function tableBytes(table: MemoryTable): number {
  let bytes = 0
  for (const page of table.pages) bytes += page.bytes.length + page.offsets.byteLength
  return bytes
}

/** Throws where the table breaks its own rules; for tests. */
export function checkTable(table: MemoryTable): void {
  let last: Uint8Array | undefined
  for (const page of table.pages) {
    assert(entryCount(page) > 0, 'no page is empty')
    assert(page.offsets[entryCount(page) * 2] === page.bytes.length, 'a page ends with its bytes')
    for (let entry = 0; entry < entryCount(page); entry++) {
      const key = pageKey(page, entry)
      assert(last === undefined || bytesCompare(last, key) < 0, 'keys ascend')
      last = key
    }
    assert(
      entryCount(page) === 1 || page.bytes.length <= 2 * PAGE_BYTES_MAX,
      'a page of several entries is bounded',
    )
  }
  assert(countEntries(table.pages) === table.entryCount, 'the count of entries is right')
}
