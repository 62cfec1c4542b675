/**
 * Which uncles a block may name. Yellow Paper section 11.1:
 *
 *     window, newest first:   parent   2nd   3rd   4th   5th   6th   7th ancestor
 *     an uncle's own parent:     –      ✓     ✓     ✓     ✓     ✓     ✓
 *     so the uncle stands beside one of the first six ancestors, and is none of them,
 *     and no ancestor in the window named it before.
 *
 * Not here: the uncles' proof-of-work seals.
 */
import { assert, bytesEqual } from '../base/index.ts'
import type { Header } from '../codec/index.ts'
import { blockFault } from './blockFault.ts'
import { type HeaderContext, validateHeader } from './headerRules.ts'
import type { ChainSpec } from './spec.ts'

/** Uncles that one block may name. */
export const UNCLE_COUNT_MAX = 2
/** Ancestors that the rules look at: an uncle six deep has its parent seven deep. */
export const ANCESTOR_COUNT = 7

/** A block of the chain as its descendants' uncle checks see it. */
export type AncestorBlock = {
  readonly header: Header
  readonly uncleHashes: readonly Uint8Array[]
}

/** Where a block's ancestors come from; implemented by `AncestorWindow`, or by a block store at a reorganisation. */
export type AncestorReader = {
  /**
   * Ancestors of a block, its parent first, up to `ANCESTOR_COUNT` of them; fewer only where genesis is among them.
   * @param parentHash hash of the block's parent
   */
  ancestorsOf(parentHash: Uint8Array): readonly AncestorBlock[]
}

/**
 * The last blocks of one line of descent, for an importer that goes forward. Owned by its importer, which fills it
 * with the last seven blocks of its store when it resumes.
 */
export class AncestorWindow implements AncestorReader {
  /** Newest first. */
  private readonly blocks: AncestorBlock[] = []

  /** @param blocks oldest first: what is known of the chain so far; the last ones count */
  constructor(blocks: readonly AncestorBlock[] = []) {
    for (const block of blocks) this.push(block)
  }

  /** Appends the block that extends the chain. Cost: moves seven references. */
  push(block: AncestorBlock): void {
    const newest = this.blocks[0]
    // Another parent means another line of descent: what is here are no ancestors of the new block.
    if (newest !== undefined && !bytesEqual(block.header.parentHash, newest.header.hash))
      this.blocks.length = 0
    this.blocks.unshift(block)
    if (this.blocks.length > ANCESTOR_COUNT) this.blocks.pop()
  }

  /** None for any parent but the newest block: a window cannot know all ancestors of an older one. */
  ancestorsOf(parentHash: Uint8Array): readonly AncestorBlock[] {
    const newest = this.blocks[0]
    return newest !== undefined && isHash(newest, parentHash) ? this.blocks : []
  }
}

/**
 * Checks the uncles of a block whose header has passed. Before Paris only; later headers admit no uncles.
 * The body's match with the header's uncle hash is `bodyRules.ts`.
 * Cost: nothing for a block without uncles.
 * @throws VarveError with an `UncleRuleErrorCode`, or UNCLE_HEADER_INVALID with the broken header rule as its cause
 */
export function validateUncles(
  header: Header,
  uncles: readonly Header[],
  spec: ChainSpec,
  reader: AncestorReader,
  context: HeaderContext = {},
): void {
  if (uncles.length === 0) return
  const { number } = header
  checkCount(number, uncles)
  const ancestors = reader.ancestorsOf(header.parentHash)
  // With fewer, an uncle named before could pass: an importer that resumes has to fill its window first.
  assert(
    ancestors.length === Math.min(ANCESTOR_COUNT, number),
    'the reader knows all ancestors that the rules look at',
  )
  uncles.forEach((uncle, index) => {
    checkPlace(number, uncle, uncles.slice(0, index), ancestors)
    const parent = ancestors.find((block, depth) => depth > 0 && isHash(block, uncle.parentHash))
    if (parent === undefined) throw lineageFault(number, uncle, ancestors)
    try {
      validateHeader(uncle, parent.header, spec, context)
    } catch (cause) {
      const fault = blockFault<UncleRuleErrorCode>(
        'UNCLE_HEADER_INVALID',
        number,
        'uncle header',
        'a valid one',
        cause instanceof Error ? cause.message : 'none',
      )
      fault.cause = cause
      throw fault
    }
  })
}

/**
 * What can be said of a block's uncles where its ancestors are not known: how many they are, that each is named once,
 * and that each is old enough and not too old to be rewarded.
 * @throws VarveError UNCLE_COUNT_TOO_MANY, UNCLE_ALREADY_INCLUDED, UNCLE_PARENT_NOT_ANCESTOR
 */
export function validateUnclesAlone(header: Header, uncles: readonly Header[]): void {
  const { number } = header
  checkCount(number, uncles)
  uncles.forEach((uncle, index) => {
    checkPlace(number, uncle, uncles.slice(0, index), [])
    const depth = number - uncle.number
    if (depth < 1 || depth >= ANCESTOR_COUNT) throw lineageFault(number, uncle, [])
  })
}

function checkCount(number: number, uncles: readonly Header[]): void {
  if (uncles.length <= UNCLE_COUNT_MAX) return
  throw blockFault<UncleRuleErrorCode>(
    'UNCLE_COUNT_TOO_MANY',
    number,
    'uncles',
    `at most ${UNCLE_COUNT_MAX}`,
    uncles.length,
  )
}

/** The uncle is neither one of the chain nor one that was named before. */
function checkPlace(
  number: number,
  uncle: Header,
  earlier: readonly Header[],
  ancestors: readonly AncestorBlock[],
): void {
  if (ancestors.some((block) => isHash(block, uncle.hash)))
    throw blockFault<UncleRuleErrorCode>(
      'UNCLE_IS_ANCESTOR',
      number,
      'uncle',
      'no ancestor of the block',
      uncle.hash,
    )
  const isNamed =
    earlier.some((other) => bytesEqual(other.hash, uncle.hash)) ||
    ancestors.some((block) => block.uncleHashes.some((hash) => bytesEqual(hash, uncle.hash)))
  if (isNamed)
    throw blockFault<UncleRuleErrorCode>(
      'UNCLE_ALREADY_INCLUDED',
      number,
      'uncle',
      'one not named before',
      uncle.hash,
    )
}

/** Says why the uncle's parent will not do. */
function lineageFault(number: number, uncle: Header, ancestors: readonly AncestorBlock[]) {
  const parent = ancestors[0]
  if (parent !== undefined && isHash(parent, uncle.parentHash))
    return blockFault<UncleRuleErrorCode>(
      'UNCLE_IS_BROTHER',
      number,
      'uncle parent',
      'an ancestor before the parent',
      uncle.parentHash,
    )
  return blockFault<UncleRuleErrorCode>(
    'UNCLE_PARENT_NOT_ANCESTOR',
    number,
    'uncle parent',
    `one of the ancestors 2 to ${ANCESTOR_COUNT}`,
    uncle.parentHash,
  )
}

function isHash(block: AncestorBlock, hash: Uint8Array): boolean {
  return bytesEqual(block.header.hash, hash)
}

/** Error codes of this module: the rule that an uncle breaks. */
export type UncleRuleErrorCode =
  /** A block names more than two uncles. */
  | 'UNCLE_COUNT_TOO_MANY'
  /** An uncle is a block of the chain itself. */
  | 'UNCLE_IS_ANCESTOR'
  /** An uncle was named by this block or by an ancestor before. */
  | 'UNCLE_ALREADY_INCLUDED'
  /** An uncle has the same parent as the block. */
  | 'UNCLE_IS_BROTHER'
  /** An uncle's parent is no ancestor, or is more than seven blocks back. */
  | 'UNCLE_PARENT_NOT_ANCESTOR'
  /** An uncle breaks a header rule against its own parent; `cause` says which. */
  | 'UNCLE_HEADER_INVALID'
