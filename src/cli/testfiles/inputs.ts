/**
 * What the command is to run, cut into requests: JSON files as published, folders of them, and packed shards
 * (`.ndjson.br`), which are streamed.
 */
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createBrotliDecompress } from 'node:zlib'
import type { TestRequest } from './messages.ts'
import { unreadable } from './serveTests.ts'

/** A file to run. */
export type InputFile = {
  readonly path: string
  readonly kind: 'json' | 'shard'
  /** On disk. */
  readonly byteCount: number
  /** Named by the user, and not found in a folder: it must hold tests. */
  readonly isNamed: boolean
}

/** Bytes of lines in one request: some milliseconds of work, so that threads finish together. */
const REQUEST_BYTES = 512 * 1024
/** Longest line of a shard. */
const LINE_BYTES_MAX = 64 * 1024 * 1024
/** Deepest folder that is looked into. */
const FOLDER_DEPTH_MAX = 64

const NEWLINE = 0x0a

/** Finds the files below a path. @throws VarveError TESTFILE_UNREADABLE, and faults of the file system */
export function findInputs(path: string): InputFile[] {
  const stats = statSync(path)
  if (!stats.isDirectory()) {
    const kind = kindOf(path) ?? 'json'
    return [{ path, kind, byteCount: stats.size, isNamed: true }]
  }
  const files: InputFile[] = []
  collect(path, FOLDER_DEPTH_MAX, files)
  if (files.length === 0)
    throw unreadable(`${path}: expected files that end in .json or .ndjson.br, found none`)
  return files
}

/** Adds the files of a folder in the order of their names. Hidden ones hold indexes and no tests. */
function collect(folder: string, depth: number, files: InputFile[]): void {
  const entries = readdirSync(folder, { withFileTypes: true })
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (depth > 0) collect(path, depth - 1, files)
      continue
    }
    const kind = kindOf(entry.name)
    if (kind === undefined) continue
    files.push({ path, kind, byteCount: statSync(path).size, isNamed: false })
  }
}

function kindOf(name: string): InputFile['kind'] | undefined {
  if (name.endsWith('.ndjson.br')) return 'shard'
  return name.endsWith('.json') ? 'json' : undefined
}

/**
 * Cuts a file into requests.
 * @param onBytes told how many bytes of the file have been taken in
 * @throws VarveError TESTFILE_UNREADABLE where a shard does not unpack
 */
export async function* requestsOf(
  file: InputFile,
  onBytes: (byteCount: number) => void,
): AsyncGenerator<TestRequest> {
  if (file.kind === 'json') {
    yield { kind: 'file', path: file.path }
    onBytes(file.byteCount)
    return
  }
  const input = createReadStream(file.path)
  input.on('data', (chunk) => onBytes(chunk.length))
  const unpacked = createBrotliDecompress()
  input.on('error', (error) => unpacked.destroy(error))
  const lines = new LineBuffer(file.path)
  try {
    for await (const chunk of input.pipe(unpacked)) {
      const bytes = lines.add(chunk as Uint8Array)
      if (bytes !== undefined) yield { kind: 'lines', path: file.path, bytes }
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && !('data' in error))
      throw unreadable(`${file.path}: ${error.message}`)
    throw error
  } finally {
    input.destroy()
  }
  const rest = lines.rest()
  if (rest !== undefined) yield { kind: 'lines', path: file.path, bytes: rest }
}

/** Gathers bytes into blocks of whole lines. */
class LineBuffer {
  private readonly path: string
  private parts: Uint8Array[] = []
  private byteCount = 0

  constructor(path: string) {
    this.path = path
  }

  /** Takes a chunk in; returns whole lines once there are enough of them. */
  add(chunk: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end === 0 || this.byteCount + end < REQUEST_BYTES) {
      this.push(chunk)
      if (this.byteCount > LINE_BYTES_MAX)
        throw unreadable(`${this.path}: expected lines of at most ${LINE_BYTES_MAX} bytes`)
      return undefined
    }
    this.push(chunk.subarray(0, end))
    const lines = this.rest()
    this.push(chunk.subarray(end))
    return lines
  }

  /** Takes everything out. */
  rest(): Uint8Array<ArrayBuffer> | undefined {
    if (this.byteCount === 0) return undefined
    const bytes = new Uint8Array(this.byteCount)
    let offset = 0
    for (const part of this.parts) {
      bytes.set(part, offset)
      offset += part.length
    }
    this.parts = []
    this.byteCount = 0
    return bytes
  }

  private push(part: Uint8Array): void {
    if (part.length === 0) return
    this.parts.push(part)
    this.byteCount += part.length
  }
}
