/**
 * A disk in memory for the journal's tests, as bad as a real one may be: what was not synced is lost sector by sector in
 * a power cut, files that were made or deleted may be back, and calls fail on demand.
 */
import type { Prng } from '../../testing/index.ts'
import type { JournalFile, JournalFiles } from './files.ts'

/** What a disk writes whole or not at all. */
const SECTOR_BYTES = 512

type Content = {
  /** As a process reads it. */
  bytes: Uint8Array
  /** As it is on the disk for certain. */
  synced: Uint8Array
}

/** An error as the system gives it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made for the test`), { code, syscall: 'test' })
}

export class PowerCutDisk implements JournalFiles {
  readonly folder = 'disk'
  private names = new Map<string, Content>()
  private syncedNames = new Map<string, Content>()
  private syncs: (() => void)[] = []
  /** Codes with which the next calls fail. */
  readonly fails: { write?: string; sync?: string } = {}
  /** Bytes that a failing write still writes. */
  partialBytes = 0
  syncCount = 0

  list(): string[] {
    return [...this.names.keys()].sort().reverse()
  }

  makeFolder(): void {}

  create(name: string): JournalFile {
    if (this.names.has(name)) throw systemError('EEXIST')
    const content = { bytes: new Uint8Array(0), synced: new Uint8Array(0) }
    this.names.set(name, content)
    return this.fileOf(content)
  }

  open(name: string): JournalFile {
    const content = this.names.get(name)
    if (content === undefined) throw systemError('ENOENT')
    return this.fileOf(content)
  }

  remove(name: string): void {
    this.names.delete(name)
  }

  syncFolder(): void {
    this.syncedNames = new Map(this.names)
  }

  /** Ends the oldest sync that runs beside the thread. */
  endSync(): boolean {
    const end = this.syncs.shift()
    end?.()
    return end !== undefined
  }

  /** The bytes of a file, to be damaged. */
  bytesOf(name: string): Uint8Array {
    return this.names.get(name)!.bytes
  }

  /** The process dies: everything that it wrote is there. */
  kill(): void {
    this.syncs = []
  }

  /** What a power cut leaves. */
  cutPower(prng: Prng): void {
    this.syncs = []
    const all = new Set([...this.names.keys(), ...this.syncedNames.keys()])
    const left = new Map<string, Content>()
    for (const name of all) {
      const content = prng.oneIn(2) ? this.names.get(name) : this.syncedNames.get(name)
      if (content !== undefined) left.set(name, content)
    }
    for (const content of left.values()) {
      content.bytes = tornBytes(content, prng)
      content.synced = content.bytes.slice()
    }
    this.names = left
    this.syncedNames = new Map(left)
  }

  private fileOf(content: Content): JournalFile {
    const failing = (call: 'write' | 'sync'): Error | undefined => {
      const code = this.fails[call]
      return code === undefined ? undefined : systemError(code)
    }
    return {
      size: () => content.bytes.length,
      read: (target, position) => {
        const found = content.bytes.subarray(position, position + target.length)
        target.set(found)
        return found.length
      },
      write: (parts, position) => {
        const error = failing('write')
        let bytes = Uint8Array.from(parts.flatMap((part) => [...part]))
        if (error !== undefined) bytes = bytes.subarray(0, this.partialBytes)
        const grown = new Uint8Array(Math.max(content.bytes.length, position + bytes.length))
        grown.set(content.bytes)
        grown.set(bytes, position)
        content.bytes = grown
        if (error !== undefined) throw error
      },
      truncate: (size) => {
        content.bytes = content.bytes.slice(0, size)
      },
      syncNow: () => {
        const error = failing('sync')
        if (error !== undefined) throw error
        this.syncCount++
        content.synced = content.bytes.slice()
      },
      sync: (done) => {
        const before = content.bytes.slice()
        this.syncs.push(() => {
          const error = failing('sync')
          this.syncCount++
          if (error === undefined && before.length >= content.synced.length) content.synced = before
          done(error ?? null)
        })
      },
      close: () => {},
    }
  }
}

/** Each sector that changed since the last sync is the old one, the new one, or, where there was none, nothing. */
function tornBytes({ bytes, synced }: Content, prng: Prng): Uint8Array {
  const [shorter, longer] =
    bytes.length < synced.length ? [bytes.length, synced.length] : [synced.length, bytes.length]
  const torn = new Uint8Array(prng.oneIn(3) ? longer : prng.between(shorter, longer))
  for (let at = 0; at < torn.length; at += SECTOR_BYTES) {
    const source = prng.oneIn(2) ? bytes : synced
    torn.set(source.subarray(at, Math.min(at + SECTOR_BYTES, torn.length)), at)
  }
  return torn
}
