/** What a command that runs published tests and its workers tell each other. Plain data: it goes to other threads. */

/** What every command can be asked to leave out. */
export type TestSelection = {
  /** Only this network. */
  readonly fork: string | undefined
  /** Source of a regular expression over `path/name`; only tests that match. */
  readonly filter: string | undefined
}

/** A part of the input that one thread runs. */
export type TestRequest =
  /** A JSON file as published; the worker reads it. */
  | { readonly kind: 'file'; readonly path: string }
  /** Whole lines of a packed shard, each a record `{path, tests}`. The buffer goes over to the worker. */
  | { readonly kind: 'lines'; readonly path: string; readonly bytes: Uint8Array<ArrayBuffer> }

/** How one test, or one case of it, ended. A row of `--json` is this and what the command adds. */
export type TestResult = {
  /** The test's name in its file. */
  readonly name: string
  readonly pass: boolean
  readonly fork: string
  readonly error?: string
}

/** A result and the folder that its test lies in. */
export type TestRow<Result extends TestResult> = Result & { readonly folder: string }

/** A part of the input that could not be read. */
export type InputFault = { readonly code: string; readonly message: string }

export type TestReply<Result extends TestResult> = {
  /** In the order of the input. */
  readonly rows: readonly TestRow<Result>[]
  readonly faults: readonly InputFault[]
  /** Tests that were seen, whether a filter kept them or not. */
  readonly testCount: number
}
