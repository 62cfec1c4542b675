/** What `db verify` reports: one place where the database contradicts itself. */
import { toHex } from '../../base/index.ts'
import type { Table } from '../../store/index.ts'

/** A row that is not what the rest of the database says it must be. */
export type Difference = {
  readonly table: Table
  /** Key of the row, in hex; for a missing row the key it should have. */
  readonly key: string
  /** What the row is about, for a person: `account 0x…`, `block 12`, `node 0a3 of the account trie`. */
  readonly subject: string
  readonly expected: string
  readonly found: string
}

/** Builds a difference; values of bytes are shown in hex, shortened. */
export function difference(
  table: Table,
  key: Uint8Array,
  subject: string,
  expected: Uint8Array | string,
  found: Uint8Array | string | undefined,
): Difference {
  return { table, key: toHex(key), subject, expected: shown(expected), found: shown(found) }
}

/** One line for a person. */
export function describeDifference({ table, subject, expected, found }: Difference): string {
  return `table ${table}, ${subject}: expected ${expected}, found ${found}`
}

const SHOWN_CHAR_COUNT_MAX = 140

function shown(value: Uint8Array | string | undefined): string {
  if (value === undefined) return 'nothing'
  const text = typeof value === 'string' ? value : toHex(value)
  return text.length > SHOWN_CHAR_COUNT_MAX ? `${text.slice(0, SHOWN_CHAR_COUNT_MAX)}…` : text
}
