/**
 * Blocks that were executed and whose roots are still to come, on top of the chain's head: each with its state, so the
 * next block may start.
 *
 *     head ◀── n+1 ◀── n+2 ◀── tip          confirmed from the left, added and taken back on the right
 *
 * A block that is being made has no hash before its root is known. It stands here under a provisional header, and who
 * asks for its hash is told that there is none yet.
 */
import { assert, bytesEqual } from '../../base/index.ts'
import { ANCESTOR_COUNT, type AncestorBlock } from '../../chain/index.ts'
import type { Block, HeaderFields } from '../../codec/index.ts'
import type { BlockHashReader, BlockOutcome } from '../../execute/index.ts'
import type { LayeredMap, LayeredState } from '../../state/index.ts'
import type { StoredHeader } from '../chainRecords.ts'
import type { ImportOutcome } from '../importOutcome.ts'
import type { KeptChain } from '../tree/keptChain.ts'
import type { BlockWatch } from '../watch/blockWatch.ts'

/** Thrown by a reader of block hashes, and caught where the block is then executed later. */
export class HashNotKnown extends Error {}

/** What a block is built on. */
export type Tip = StoredHeader & { readonly state: LayeredState }

export type SpeculativeBlock = Tip & {
  /** With a provisional header where `fields` is there. */
  readonly block: Block
  /** Of a block that is being made: all that its header says but the parent's hash and the root. */
  readonly fields: HeaderFields | undefined
  readonly outcome: BlockOutcome
  /** The block's layer alone: what the summary makes the root from. Closed with the block's root. */
  readonly span: LayeredMap
  readonly watch: BlockWatch | undefined
  /** Whoever waits for the last word on the block. */
  readonly answer: Answer
}

/** The two ends of a promise. */
export type Answer = {
  readonly resolve: (accepted: Accepted) => void
  readonly reject: (error: unknown) => void
}

/** What became of a block that was accepted. */
export type Accepted = ImportOutcome & { readonly block: Block }

export class Speculation {
  private readonly chain: KeptChain
  private readonly waiting: SpeculativeBlock[] = []

  constructor(chain: KeptChain) {
    this.chain = chain
  }

  /** Blocks whose roots are to come. */
  get count(): number {
    return this.waiting.length
  }

  /** What the next block stands on. Its state is borrowed: not to be released by the caller. */
  get tip(): Tip {
    const last = this.waiting.at(-1)
    if (last !== undefined) return last
    const { header, totalDifficulty } = this.chain.head
    return { header, totalDifficulty, state: this.chain.headState }
  }

  /** The oldest one, whose root comes next. */
  get first(): SpeculativeBlock | undefined {
    return this.waiting[0]
  }

  add(block: SpeculativeBlock): void {
    this.waiting.push(block)
  }

  /** Takes out the oldest one, whose root is there. Its state is the caller's. */
  shift(): SpeculativeBlock {
    const block = this.waiting.shift()
    assert(block !== undefined, 'speculation: a root belongs to a block')
    return block
  }

  /** Takes back all blocks, the newest first. Their states and spans are the caller's. */
  takeBack(): SpeculativeBlock[] {
    return this.waiting.splice(0).reverse()
  }

  /** What `BLOCKHASH` reads on top of the tip. @throws HashNotKnown of a block that is still being made */
  blockHash(): BlockHashReader {
    const known = this.chain.blockHashBefore(this.chain.head)
    return (wanted) => {
      const block = this.waiting.find(({ header }) => BigInt(header.number) === wanted)
      if (block === undefined) return known(wanted)
      if (block.fields !== undefined) throw new HashNotKnown()
      return block.header.hash
    }
  }

  /** Ancestors of a block on top of the tip, for the uncle rules. */
  ancestorsOf(parentHash: Uint8Array): readonly AncestorBlock[] {
    const newest = this.waiting.map(({ block: { header, uncles } }) => ({
      header,
      uncleHashes: uncles.map(({ hash }) => hash),
    }))
    newest.reverse()
    const first = newest[0]
    if (first === undefined) return this.chain.ancestorsOf(parentHash)
    assert(bytesEqual(first.header.hash, parentHash), 'ancestors: of a block on the tip')
    const older = this.chain.ancestorsOf(this.chain.head.header.hash)
    return [...newest, ...older].slice(0, ANCESTOR_COUNT)
  }
}
