/** How an import is answered. */
import type { HeadMove } from './tree/keptChain.ts'

/**
 * What became of a block, and how the head moved.
 * - `head`: the head moved forward, to it
 * - `side`: kept beside the chain; the head stays
 * - `reorg`: the head moved to it over to another branch, or back
 * - `known`: it was there before; nothing changed
 */
export type ImportOutcome = HeadMove & { readonly status: 'head' | 'side' | 'reorg' | 'known' }
