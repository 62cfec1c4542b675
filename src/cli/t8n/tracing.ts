/** Traces of the transactions of a run, a file each: `trace-INDEX-HASH.jsonl`, or `.json` for a named tracer. */
import { join } from 'node:path'
import { isVarveError, toHex } from '../../base/index.ts'
import { type Eip3155Options, Eip3155Tracer, openTracer, type Tracer } from '../../trace/index.ts'
import { TextFile } from './files.ts'
import { ScriptTracer } from './scriptTracer.ts'
import { T8nExit, T8nFault } from './t8nFault.ts'
import type { OpenTrace } from './transition.ts'

export type TraceFlags = {
  readonly steps: boolean
  readonly options: Eip3155Options
  /** Name of a tracer, or a script; empty for steps. */
  readonly tracer: string
  /** Its options as JSON; empty for none. */
  readonly tracerConfig: string
}

/** What opens a trace for each transaction, or `undefined` where none is wanted. @throws T8nFault Config */
export function traceOpener(
  flags: TraceFlags,
  folder: string,
): ((index: number, hash: Uint8Array) => OpenTrace) | undefined {
  const { steps, options, tracer, tracerConfig } = flags
  if (tracer.includes('{')) {
    // A script counts over all transactions; other tracers serve one each.
    const script = new ScriptTracer(tracer, tracerConfig)
    return (index, hash) => named(script, traceFile(folder, index, hash, 'json'))
  }
  if (tracer !== '') {
    const open = tracerOpener(flags)
    return (index, hash) => named(open(), traceFile(folder, index, hash, 'json'))
  }
  if (!steps) return undefined
  return (index, hash) => {
    const file = traceFile(folder, index, hash, 'jsonl')
    return {
      tracer: new Eip3155Tracer((line) => file.write(line), options),
      close: () => file.close(),
    }
  }
}

function named(tracer: Tracer, file: TextFile): OpenTrace {
  let isEnded = false
  const watched: Tracer = {
    hooks: tracer.hooks,
    begin: (start) => tracer.begin?.(start),
    end: (outcome) => {
      tracer.end?.(outcome)
      isEnded = true
    },
    result: () => tracer.result(),
  }
  return {
    tracer: watched,
    close() {
      // A rejected transaction leaves an empty file.
      if (isEnded) file.write(`${JSON.stringify(tracer.result())}\n`)
      file.close()
    },
  }
}

function tracerOpener({ tracer, tracerConfig }: TraceFlags): () => Tracer {
  try {
    const config: unknown = tracerConfig === '' ? undefined : JSON.parse(tracerConfig)
    const open = () => openTracer(tracer, config)
    // Once at the start, so that a wrong name ends the run before it begins.
    open()
    return open
  } catch (error) {
    if (!isVarveError(error) && !(error instanceof SyntaxError)) throw error
    throw new T8nFault(T8nExit.Config, `failed instantiating tracer: ${error.message}`)
  }
}

function traceFile(folder: string, index: number, hash: Uint8Array, extension: string): TextFile {
  return new TextFile(join(folder, `trace-${index}-${toHex(hash)}.${extension}`))
}
