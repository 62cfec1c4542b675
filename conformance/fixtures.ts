/**
 * The published fixtures, as packed in a folder with an `index.json`: shards of one JSON record a line. The folder is
 * the one that VARVE_FIXTURES names, or `../shared/fixtures` beside the checkout.
 */
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { brotliDecompressSync, createBrotliDecompress } from 'node:zlib'

type IndexEntry = {
  readonly kind: string
  readonly cases: number
  readonly subcases: number
  readonly shards: readonly { readonly file: string }[]
}

/** Suites of these kinds are counted by their cases, though the index also counts the blocks or transactions in them. */
const KINDS_BY_CASE: readonly string[] = ['witness', 'prestate', 'blockchain', 'engine']

export class Fixtures {
  private readonly folder: string
  private readonly suites: Readonly<Record<string, IndexEntry>>

  private constructor(folder: string) {
    this.folder = folder
    const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'))
    this.suites = (index as { readonly suites: Record<string, IndexEntry> }).suites
  }

  /** The fixtures, or `undefined` where there are none. */
  static open(): Fixtures | undefined {
    const folders = [
      process.env['VARVE_FIXTURES'],
      resolve(import.meta.dirname, '../../../shared/fixtures'),
    ]
    const found = folders.find(
      (folder) => folder !== undefined && existsSync(join(folder, 'index.json')),
    )
    return found === undefined ? undefined : new Fixtures(found)
  }

  has(suite: string): boolean {
    return Object.hasOwn(this.suites, suite)
  }

  /** Folders of the raw files that hold a file of this name, packed or not. */
  rawFolders(fileName: string): string[] {
    const files = join(this.folder, 'files')
    if (!existsSync(files)) return []
    return readdirSync(files)
      .filter((folder) => this.rawBytes(`${folder}/${fileName}`) !== undefined)
      .sort()
  }

  /** A raw file, unpacked where it lies there as `.br`; `undefined` where there is none. */
  rawBytes(name: string): Uint8Array | undefined {
    const path = join(this.folder, 'files', name)
    if (existsSync(path)) return readFileSync(path)
    return existsSync(`${path}.br`) ? brotliDecompressSync(readFileSync(`${path}.br`)) : undefined
  }

  rawText(name: string): string | undefined {
    const bytes = this.rawBytes(name)
    return bytes && new TextDecoder().decode(bytes)
  }

  /** Folder with the shards of a suite. */
  folderOf(suite: string): string {
    return join(this.folder, 'suites', suite)
  }

  /** How many cases the index says a suite has; sub-cases, where it counts those. */
  caseCount(suite: string): number {
    const { kind, cases, subcases } = this.suites[suite]!
    return subcases > 0 && !KINDS_BY_CASE.includes(kind) ? subcases : cases
  }

  /** Streams the records of a suite. */
  async *records<Record>(suite: string): AsyncGenerator<Record> {
    for (const { file } of this.suites[suite]!.shards) {
      const input = createReadStream(join(this.folderOf(suite), file))
      const lines = createInterface({
        input: input.pipe(createBrotliDecompress()),
        crlfDelay: Infinity,
      })
      for await (const line of lines) if (line !== '') yield JSON.parse(line) as Record
    }
  }
}

/** Hexadecimal text of any case, with or without `0x`, as bytes. */
export function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replace(/^0x/i, ''), 'hex'))
}

/** Hexadecimal text of an unsigned integer, with or without `0x`. */
export function integerOf(text: string): bigint {
  const digits = text.replace(/^0x/i, '')
  return digits === '' ? 0n : BigInt(`0x${digits}`)
}

export function hexOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}
