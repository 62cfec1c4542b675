/**
 * Faults of input or environment. Each module that throws them declares the union of its codes at its foot,
 * and a test holds docs/ERRORS.md against those unions.
 */

/** Data of an error: plain values that a machine can read beside the code. */
export type ErrorData = Readonly<Record<string, string | number | bigint | boolean | undefined>>

/**
 * A fault with a stable `code`. The message says what was expected, what came, and where.
 * `data` repeats the same facts for machines.
 */
export class VarveError<Code extends string = string> extends Error {
  override readonly name = 'VarveError'
  readonly code: Code
  readonly data: ErrorData

  constructor(code: Code, message: string, data: ErrorData = {}, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.data = data
  }
}

/** Narrows an unknown thrown value to a `VarveError`, optionally to one code. */
export function isVarveError(error: unknown, code?: string): error is VarveError {
  return error instanceof VarveError && (code === undefined || error.code === code)
}
