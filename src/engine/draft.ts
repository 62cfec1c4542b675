/**
 * A block that is being made, before and after its execution: the fields that follow from the parent and the maker's
 * choices, then those that execution yields.
 */
import { type ChainSpec, type HeaderChoices, headerAfter, isMergedAfter } from '../chain/index.ts'
import {
  asDecoded,
  type Block,
  bodyOf,
  type HeaderFields,
  isDecodedList,
  joinDecoded,
  sealHeader,
} from '../codec/index.ts'
import type { StoredHeader } from './chainRecords.ts'

export type Draft = {
  readonly fields: HeaderFields
  /** To be executed; its header holds no results yet. */
  readonly block: Block
}

/** Begins a block on top of `parent`. What cannot be written down is refused here. @throws VarveError HEADER_*, RLP_* */
export function draftAfter(parent: StoredHeader, spec: ChainSpec, choices: HeaderChoices): Draft {
  const isMerged = isMergedAfter(spec.schedule, parent.totalDifficulty)
  const fields = headerAfter(parent.header, spec, {
    ...choices,
    ...(isMerged === undefined ? {} : { isMerged }),
  })
  const { transactions = [], uncles = [], withdrawals = [] } = choices
  // Transactions that came as bytes were refused there if they had to be; all else is written down once.
  const isDecoded = isDecodedList(transactions)
  const lists = { transactions: isDecoded ? [] : transactions, uncles }
  const given = fields.withdrawalsRoot === undefined ? lists : { ...lists, withdrawals }
  const block = asDecoded({ header: sealHeader(fields), ...given })
  if (!isDecoded) return { fields, block }
  return { fields, block: joinDecoded(block.header, { ...bodyOf(block), transactions }) }
}

/** The same block under a header with these fields. */
export function resealed(block: Block, fields: HeaderFields): Block {
  return joinDecoded(sealHeader(fields), bodyOf(block))
}
