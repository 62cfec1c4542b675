/** A consumer as an engine has one: rows of a batch, and each leaf followed to the storage root that it names. */
import { type PackedBatch, WriteBatch } from '../../store/index.ts'
import type { Answer } from '../../threads/index.ts'
import { type NodeEntry, NodeShape } from '../../trie/index.ts'
import { leafHasNoStorage } from '../accountLeaf.ts'
import type { ChangeSink } from './changeSink.ts'

export type RowResult = { readonly batch: PackedBatch; readonly leafCount: number }

const NO_PREFIX = new Uint8Array(0)

class RowSink implements ChangeSink<undefined, RowResult> {
  private readonly batch = new WriteBatch()
  private leafCount = 0

  begin(): void {}

  node(entry: Readonly<NodeEntry>): void {
    if (entry.shape === NodeShape.None) this.batch.deleteNode('accountNodes', NO_PREFIX, entry)
    else this.batch.putNode('accountNodes', NO_PREFIX, entry)
  }

  leaf(value: Uint8Array): void {
    if (leafHasNoStorage(value, 0, value.length)) this.leafCount++
  }

  finish(): Answer<RowResult> {
    const batch = this.batch.take()
    const reply = { batch, leafCount: this.leafCount }
    return { reply, transfer: [batch.slab.buffer, batch.fields.buffer] }
  }
}

export function openSink(): RowSink {
  return new RowSink()
}
