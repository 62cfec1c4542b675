/** How a block that breaks a rule is reported: one shape of message for all rule files. */
import { toHex, VarveError } from '../base/index.ts'

type Shown = Uint8Array | bigint | number | string | undefined

/** `block 19426587: gas limit: expected at least 5000, found 4999`, with the same facts as data. */
export function blockFault<Code extends string>(
  code: Code,
  blockNumber: number,
  subject: string,
  expected: Shown,
  found: Shown,
): VarveError<Code> {
  return new VarveError(
    code,
    `block ${blockNumber}: ${subject}: expected ${show(expected)}, found ${show(found)}`,
    { blockNumber, subject, expected: show(expected), found: show(found) },
  )
}

/** Longest byte string shown whole: extra data of a hostile header may have 100 KiB. */
const SHOWN_BYTES_MAX = 64

function show(value: Shown): string {
  if (value === undefined) return 'none'
  if (!(value instanceof Uint8Array)) return String(value)
  if (value.length <= SHOWN_BYTES_MAX) return toHex(value)
  return `${toHex(value.subarray(0, SHOWN_BYTES_MAX))}… (${value.length} bytes)`
}
