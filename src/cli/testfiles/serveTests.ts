/** Reads a part of the input and runs its tests: what a worker does, and the command itself where it has no worker. */
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isVarveError, VarveError } from '../../base/index.ts'
import { type JsonRecord, readObject, readText } from './jsonValue.ts'
import type { InputFault, TestReply, TestRequest, TestResult, TestRow } from './messages.ts'

/** Largest file that is read: far above any that is published, and below what a string can hold. */
export const FILE_BYTES_MAX = 256 * 1024 * 1024

const newline = 0x0a

/** One kind of tests, and how they are run. */
export type TestKind<Result extends TestResult> = {
  /** Whether a JSON value looks like such a test, so that other files in a folder can be passed over. */
  isTest(value: unknown): boolean
  /** @throws VarveError TESTFILE_INVALID */
  run(name: string, test: unknown): readonly Result[] | Promise<readonly Result[]>
}

/** Answers requests, one at a time. */
export class TestServer<Result extends TestResult> {
  private readonly kind: TestKind<Result>
  private readonly filter: RegExp | undefined

  /** @throws SyntaxError where the filter is no regular expression */
  constructor(kind: TestKind<Result>, filter: string | undefined) {
    this.kind = kind
    this.filter = filter === undefined ? undefined : new RegExp(filter)
  }

  async answer(request: TestRequest): Promise<TestReply<Result>> {
    const run = new RequestRun(this.kind, this.filter)
    switch (request.kind) {
      case 'file':
        await run.file(request.path)
        break
      case 'lines':
        await run.lines(request.path, request.bytes)
        break
      default:
        request satisfies never
    }
    return { rows: run.rows, faults: run.faults, testCount: run.testCount }
  }
}

/** One request on its way to a reply. */
class RequestRun<Result extends TestResult> {
  readonly rows: TestRow<Result>[] = []
  readonly faults: InputFault[] = []
  testCount = 0
  private readonly kind: TestKind<Result>
  private readonly filter: RegExp | undefined

  constructor(kind: TestKind<Result>, filter: RegExp | undefined) {
    this.kind = kind
    this.filter = filter
  }

  async file(path: string): Promise<void> {
    await this.guard(path, () => {
      const { size } = statSync(path)
      if (size > FILE_BYTES_MAX)
        throw unreadable(`expected at most ${FILE_BYTES_MAX} bytes, found ${size}`)
      return this.tests(path, readObject(JSON.parse(readFileSync(path, 'utf8')), 'top level'))
    })
  }

  async lines(path: string, bytes: Uint8Array): Promise<void> {
    const decoder = new TextDecoder()
    for (let start = 0; start < bytes.length; ) {
      const found = bytes.indexOf(newline, start)
      const end = found < 0 ? bytes.length : found
      const line = bytes.subarray(start, end)
      if (line.length > 0) await this.guard(path, () => this.record(decoder.decode(line)))
      start = end + 1
    }
  }

  private record(line: string): Promise<void> {
    const record = readObject(JSON.parse(line), 'record')
    return this.tests(readText(record['path'], 'path'), readObject(record['tests'], 'tests'))
  }

  private async tests(path: string, tests: JsonRecord): Promise<void> {
    for (const [name, test] of Object.entries(tests)) {
      if (!this.kind.isTest(test)) continue
      this.testCount++
      if (this.filter !== undefined && !this.filter.test(`${path}/${name}`)) continue
      const folder = dirname(path)
      await this.guard(path, async () => {
        for (const result of await this.kind.run(name, test)) this.rows.push({ ...result, folder })
      })
    }
  }

  /** Turns a fault of the input into an entry of `faults`. */
  private async guard(path: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (isVarveError(error)) this.faults.push(faultAt(path, error.code, error.message))
      else if (error instanceof SyntaxError || isSystemError(error))
        this.faults.push(faultAt(path, 'TESTFILE_UNREADABLE', error.message))
      else throw error
    }
  }
}

function faultAt(path: string, code: string, message: string): InputFault {
  return { code, message: `${path}: ${message}` }
}

/** A fault of the file system, as Node throws it. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

export function unreadable(problem: string): VarveError<TestInputErrorCode> {
  return new VarveError('TESTFILE_UNREADABLE', problem)
}

/** Error codes of this module. */
export type TestInputErrorCode =
  /** A file of tests cannot be opened, unpacked or parsed, or holds none of the kind. */
  | 'TESTFILE_UNREADABLE'
  /** There are tests, and nothing to run in them: the options leave none over, or they expect nothing. */
  | 'TESTFILE_NONE_SELECTED'
