/** Reads a part of the input and runs its tests: what a worker does, and the command itself where it has no worker. */
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isVarveError, VarveError } from '../../base/index.ts'
import { type JsonRecord, readObject, readText } from './jsonValue.ts'
import type {
  InputFault,
  StateTestOptions,
  StateTestReply,
  StateTestRequest,
  StateTestRow,
} from './messages.ts'
import { StateTestRunner, type StateTestRunOptions } from './runStateTest.ts'
import { isStateTest, readStateTest } from './stateTest.ts'

/** Largest file that is read: far above any that is published, and below what a string can hold. */
export const FILE_BYTES_MAX = 256 * 1024 * 1024

const newline = 0x0a

/**
 * Opens what requests are answered with.
 * @param trace takes the text of traces; it cannot go to another thread
 * @throws SyntaxError where the filter is no regular expression
 */
export async function openStateTestServer(
  options: StateTestOptions,
  trace?: (text: string) => void,
): Promise<(request: StateTestRequest) => StateTestReply> {
  const runner = await StateTestRunner.open()
  const { fork, precompileSet } = options
  const filter = options.filter === undefined ? undefined : new RegExp(options.filter)
  return (request) => {
    const run = new RequestRun(runner, { fork, precompileSet, trace }, filter)
    switch (request.kind) {
      case 'file':
        run.file(request.path)
        break
      case 'lines':
        run.lines(request.path, request.bytes)
        break
      default:
        request satisfies never
    }
    return { rows: run.rows, faults: run.faults, testCount: run.testCount }
  }
}

/** One request on its way to a reply, which is plain data: it may go to another thread. */
class RequestRun {
  readonly rows: StateTestRow[] = []
  readonly faults: InputFault[] = []
  testCount = 0
  private readonly runner: StateTestRunner
  private readonly options: StateTestRunOptions
  private readonly filter: RegExp | undefined

  constructor(runner: StateTestRunner, options: StateTestRunOptions, filter: RegExp | undefined) {
    this.runner = runner
    this.options = options
    this.filter = filter
  }

  file(path: string): void {
    this.guard(path, () => {
      const { size } = statSync(path)
      if (size > FILE_BYTES_MAX)
        throw unreadable(`expected at most ${FILE_BYTES_MAX} bytes, found ${size}`)
      this.tests(path, readObject(JSON.parse(readFileSync(path, 'utf8')), 'top level'))
    })
  }

  lines(path: string, bytes: Uint8Array): void {
    const decoder = new TextDecoder()
    for (let start = 0; start < bytes.length; ) {
      const found = bytes.indexOf(newline, start)
      const end = found < 0 ? bytes.length : found
      const line = bytes.subarray(start, end)
      if (line.length > 0) this.guard(path, () => this.record(decoder.decode(line)))
      start = end + 1
    }
  }

  private record(line: string): void {
    const record = readObject(JSON.parse(line), 'record')
    this.tests(readText(record['path'], 'path'), readObject(record['tests'], 'tests'))
  }

  private tests(path: string, tests: JsonRecord): void {
    for (const [name, test] of Object.entries(tests)) {
      if (!isStateTest(test)) continue
      this.testCount++
      if (this.filter !== undefined && !this.filter.test(`${path}/${name}`)) continue
      const folder = dirname(path)
      this.guard(path, () => {
        const results = this.runner.run(readStateTest(name, test), this.options)
        for (const result of results) this.rows.push({ ...result, folder })
      })
    }
  }

  /** Turns a fault of the input into an entry of `faults`. */
  private guard(path: string, work: () => void): void {
    try {
      work()
    } catch (error) {
      if (isVarveError(error)) this.faults.push(faultAt(path, error.code, error.message))
      else if (error instanceof SyntaxError || isSystemError(error))
        this.faults.push(faultAt(path, 'STATETEST_UNREADABLE', error.message))
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

export function unreadable(problem: string): VarveError<StateTestInputErrorCode> {
  return new VarveError('STATETEST_UNREADABLE', problem)
}

/** Error codes of this module. */
export type StateTestInputErrorCode =
  /** A file of state tests cannot be opened, unpacked or parsed, or holds none. */
  'STATETEST_UNREADABLE'
