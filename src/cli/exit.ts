/** How a command ends: 0 fine, 1 the checked thing failed, 2 wrong usage. */
import { isVarveError } from '../base/index.ts'

export const EXIT_FAILED = 1
export const EXIT_USAGE = 2
/** As a shell shows a command that SIGPIPE ended. */
export const EXIT_PIPE = 141

/** A call of the command that makes no sense; ends it with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * Prints a fault as one line, or as one JSON object, and sets the exit code. What is no fault of input or environment
 * is a bug and keeps its stack.
 */
export function reportFault(error: unknown, isJson: boolean): void {
  if (error instanceof UsageError) {
    printFault({ code: 'USAGE', message: error.message }, isJson)
    process.exitCode = EXIT_USAGE
    return
  }
  process.exitCode = EXIT_FAILED
  if (isVarveError(error)) {
    printFault({ code: error.code, message: error.message, data: error.data }, isJson)
    return
  }
  console.error(error)
}

type Fault = { readonly code: string; readonly message: string; readonly data?: unknown }

function printFault(fault: Fault, isJson: boolean): void {
  if (isJson) console.log(toJson({ error: fault }))
  else console.error(`error: ${fault.message} [${fault.code}]`)
}

/** JSON on one line. Big integers become decimal strings, as they exceed what JSON readers keep exactly. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'bigint' ? item.toString() : item,
  )
}
