/** What the command and its workers tell each other. */
import type { PrecompileSet } from '../../evm/index.ts'
import type { SubCaseResult } from './runStateTest.ts'

/** Handed to every worker when it starts. */
export type StateTestOptions = {
  /** Only this network. */
  readonly fork: string | undefined
  /** Source of a regular expression over `path/name`; only tests that match. */
  readonly filter: string | undefined
  /** These precompiles, whatever a file says about its making. */
  readonly precompileSet?: PrecompileSet | undefined
}

/** A part of the input that one thread runs. */
export type StateTestRequest =
  /** A JSON file as published; the worker reads it. */
  | { readonly kind: 'file'; readonly path: string }
  /** Whole lines of a packed shard, each a record `{path, tests}`. The buffer goes over to the worker. */
  | { readonly kind: 'lines'; readonly path: string; readonly bytes: Uint8Array<ArrayBuffer> }

/** A result and the folder that its test lies in. */
export type StateTestRow = SubCaseResult & { readonly folder: string }

/** A part of the input that could not be read. */
export type InputFault = { readonly code: string; readonly message: string }

export type StateTestReply = {
  /** In the order of the input. */
  readonly rows: readonly StateTestRow[]
  readonly faults: readonly InputFault[]
  /** State tests that were seen, whether a filter kept them or not. */
  readonly testCount: number
}
