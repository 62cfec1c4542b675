/** The Merkle Patricia trie: nodes, paths and hashes; nothing of accounts. */
export type { TrieChange } from './batch.ts'
export { type ChangePiece, pieceBuffers } from './changeList.ts'
export {
  type ChangeColumns,
  ColumnNodeSet,
  columnBuffers,
  encodeChanges,
  tellChanges,
} from './columnSet.ts'
export type { CommitOptions, OpenCommit } from './commit.ts'
export type { NodeReader } from './core.ts'
export type { TrieErrorCode } from './faults.ts'
export type { IterationOptions, TrieEntry } from './iterate.ts'
export { encodeLeafNode, lentLeaf } from './leafNode.ts'
export type { ValueVisitor, Wanted } from './lookup.ts'
export { nibbleAt, unpackNibbles } from './nibbles.ts'
export { type LeafVisitor, NodeLeaves } from './nodeLeaves.ts'
export {
  joinDisjointNodeSets,
  type LeafWrite,
  mergeNodeSets,
  type NodeDeletion,
  type NodeEntry,
  type NodeSet,
  type NodeSetErrorCode,
  NodeShape,
  type NodeSink,
  type NodeWrite,
  type WalkableNodeSet,
} from './nodeSet.ts'
export { type NodeStep, stepDown } from './nodeStep.ts'
export {
  type MultiProofQuestion,
  type ProofErrorCode,
  type ProofQuestion,
  type ProvenValue,
  verifyMultiProof,
  verifyProof,
} from './proof.ts'
export { orderedRoot, StackTrie, type StackTrieErrorCode, type StackTrieSink } from './stackTrie.ts'
export {
  resultBuffers,
  runSubtreeTask,
  type SharedOperation,
  type SubtreeResult,
  type SubtreeTask,
  type TrieHelpers,
} from './subtree.ts'
export { NO_READER, Trie, type TrieOptions } from './trie.ts'
