/** Files and streams of geth's tools: `stdin`, `stdout` and `stderr` are names of streams, the empty name is none. */
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readBounded } from '../boundedRead.ts'
import { T8nExit, T8nFault } from './t8nFault.ts'

export const STDIN = 'stdin'
/** Largest input: far above any test, and below what a string can hold. */
const INPUT_BYTES_MAX = 256 * 1024 * 1024
const STDIN_DESCRIPTOR = 0
/** Characters of a trace that are held back before they are written. */
const BUFFER_CHAR_COUNT = 64 * 1024

/** Text of a file. @param what names it in messages @throws T8nFault Io */
export function readText(path: string, what: string): string {
  return guarded(`failed reading ${what} file`, () =>
    readBounded(path, INPUT_BYTES_MAX).toString('utf8'),
  )
}

/** Parsed JSON of a file. @throws T8nFault Io, Json */
export function readJson(path: string, what: string): unknown {
  return parseJson(readText(path, what), `failed unmarshalling ${what} file`)
}

/** Parsed JSON of all that stands on stdin. @throws T8nFault Io, Json */
export function readStdin(): unknown {
  const text = guarded('failed reading stdin', () =>
    readBounded(STDIN_DESCRIPTOR, INPUT_BYTES_MAX).toString('utf8'),
  )
  return parseJson(text, 'failed unmarshalling stdin')
}

function parseJson(text: string, problem: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new T8nFault(T8nExit.Json, `${problem}: ${(error as Error).message}`)
  }
}

/** Makes the folder that outputs go to. @throws T8nFault Io */
export function makeFolder(folder: string): void {
  if (folder === '') return
  guarded('failed creating output basedir', () => mkdirSync(folder, { recursive: true }))
}

/** An output and where it goes: a file's name below the folder, a stream's name, or nothing. */
export type Output = { readonly name: string; readonly to: string; readonly value: unknown }

/** Writes outputs; those for one stream are one object with a member each. @throws T8nFault Io */
export function writeOutputs(folder: string, outputs: readonly Output[]): void {
  for (const stream of ['stdout', 'stderr'] as const) {
    const members = outputs.filter(({ to }) => to === stream)
    if (members.length === 0) continue
    const object = Object.fromEntries(members.map(({ name, value }) => [name, value]))
    process[stream].write(`${JSON.stringify(object, null, 2)}\n`)
  }
  for (const { to, value } of outputs) {
    if (to === '' || to === 'stdout' || to === 'stderr') continue
    guarded('failed writing output', () =>
      writeFileSync(join(folder, to), JSON.stringify(value, null, 1)),
    )
  }
}

/** Writes one output, whose members are on top. @throws T8nFault Io */
export function writeOutput(folder: string, to: string, value: unknown): void {
  if (to === 'stdout' || to === 'stderr') process[to].write(`${JSON.stringify(value, null, 2)}\n`)
  else writeOutputs(folder, [{ name: '', to, value }])
}

/** A text file that is written as it comes. */
export class TextFile {
  private readonly descriptor: number
  private buffer = ''

  /** Replaces a file of the same name. @throws T8nFault Io */
  constructor(path: string) {
    this.descriptor = guarded('failed creating trace-file', () => openSync(path, 'w'))
  }

  write(text: string): void {
    this.buffer += text
    if (this.buffer.length >= BUFFER_CHAR_COUNT) this.flush()
  }

  close(): void {
    this.flush()
    closeSync(this.descriptor)
  }

  private flush(): void {
    if (this.buffer === '') return
    guarded('failed writing trace-file', () => writeSync(this.descriptor, this.buffer))
    this.buffer = ''
  }
}

/** Turns faults of the file system into one with an exit code. */
function guarded<Result>(problem: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new T8nFault(T8nExit.Io, `${problem}: ${(error as Error).message}`)
  }
}
