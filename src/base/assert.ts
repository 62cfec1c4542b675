/**
 * Assertions. A failed one is a bug of ours, never a fault of input: inputs are refused with a `VarveError`.
 * The message is a constant; building one before the check made a loop 17 times slower.
 */

/** True where assertions inside hot loops run: `VARVE_VERIFY=1`, set by the test and fuzz runners. */
export const VERIFY: boolean =
  (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[
    'VARVE_VERIFY'
  ] === '1'

/** Thrown by a failed `assert`. The engine that threw it is no longer to be trusted. */
export class AssertionFault extends Error {
  override readonly name = 'AssertionFault'
}

/** @throws AssertionFault where `condition` is false. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionFault(message)
}

/** Ends a `switch` over a union: compiles only where every kind was handled. */
export function unreachable(value: never): never {
  throw new AssertionFault(`unhandled case ${String(value)}`)
}
