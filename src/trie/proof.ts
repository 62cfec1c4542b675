/**
 * Verifies proofs of presence and absence. A proof is checked by opening a trie whose reader has its nodes and no
 * others, and reading the key: decoding, hashing and walking are the live trie's own.
 *
 * "Absent" is an answer, "invalid" is a fault: a corrupted proof is never taken for absence.
 */
import { NodeArena } from '../arena/index.ts'
import {
  bytesEqual,
  EMPTY_TRIE_ROOT,
  HASH_BYTES,
  isVarveError,
  PROOF_KEY_COUNT_MAX,
  PROOF_NODE_COUNT_MAX,
  TRIE_KEY_BYTES_MAX,
  TRIE_VALUE_BYTES_MAX,
  toBareHex,
  toHex,
  VarveError,
} from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { Trie } from './trie.ts'

/** What a valid proof says of one key. */
export type ProvenValue =
  | { readonly kind: 'present'; readonly value: Uint8Array }
  | { readonly kind: 'absent' }

export type ProofQuestion = {
  /** The root that the answer is to hold for: from a header that is trusted, never from the proof's sender. */
  readonly root: Uint8Array
  /** As it is in the trie: the state's tries have keccak-256 of the address or slot. */
  readonly key: Uint8Array
  /** Nodes in any order. Each is needed, none twice. */
  readonly proof: readonly Uint8Array[]
}

export type MultiProofQuestion = Omit<ProofQuestion, 'key'> & {
  readonly keys: readonly Uint8Array[]
}

/** All bytes of a proof: a value, and 16 hashes a node. Reached by no proof that a trie of this package makes. */
const PROOF_BYTES_MAX = TRIE_VALUE_BYTES_MAX + 2 ** 20

/**
 * Verifies a proof for one key. No nodes prove absence in the empty trie, and nothing else.
 * @throws VarveError PROOF_INVALID where the nodes do not decide the key under the root, are damaged, are more than
 *   needed, or are too many or too big
 */
export function verifyProof(question: ProofQuestion): ProvenValue {
  const { root, key, proof } = question
  checkRoot(root)
  return verify(root, [key], proof, PROOF_NODE_COUNT_MAX)[0]!
}

/**
 * Verifies one proof for many keys; the answers are in the order of the keys. Without keys only the empty proof is valid.
 * @throws VarveError PROOF_INVALID
 */
export function verifyMultiProof(question: MultiProofQuestion): ProvenValue[] {
  const { root, keys, proof } = question
  checkRoot(root)
  if (keys.length > PROOF_KEY_COUNT_MAX)
    throw proofInvalid(
      root,
      `it is asked for ${keys.length} keys, at most ${PROOF_KEY_COUNT_MAX} are`,
    )
  return verify(root, keys, proof, PROOF_NODE_COUNT_MAX * Math.max(1, keys.length))
}

function verify(
  root: Uint8Array,
  keys: readonly Uint8Array[],
  proof: readonly Uint8Array[],
  nodeCountMax: number,
): ProvenValue[] {
  for (const key of keys)
    if (key.length > TRIE_KEY_BYTES_MAX)
      throw proofInvalid(root, `key ${toHex(key)} is longer than ${TRIE_KEY_BYTES_MAX} bytes`)
  const isEmptyTrie = bytesEqual(root, EMPTY_TRIE_ROOT)
  if (proof.length === 0 && !isEmptyTrie && keys.length > 0)
    throw proofInvalid(root, 'it has no nodes, and the trie is not empty')
  const nodes = nodesByHash(root, proof, nodeCountMax)
  const used = new Set<string>()
  const reader = {
    readNode: (_path: Uint8Array, hash: Uint8Array) => {
      const text = toBareHex(hash)
      used.add(text)
      return nodes.get(text)
    },
  }
  const trie = new Trie({ arena: proofArena(), root, reader })
  try {
    const answers = keys.map((key): ProvenValue => {
      const value = trie.get(key)
      return value === undefined ? { kind: 'absent' } : { kind: 'present', value }
    })
    if (used.size !== proof.length)
      throw proofInvalid(
        root,
        `${proof.length - used.size} of its ${proof.length} nodes are not needed`,
      )
    return answers
  } catch (fault) {
    const isNodeFault =
      isVarveError(fault, 'TRIE_NODE_MISSING') || isVarveError(fault, 'TRIE_NODE_INVALID')
    if (isNodeFault) throw proofInvalid(root, (fault as VarveError).message, fault)
    throw fault
  } finally {
    trie.dispose()
  }
}

/** The root is the one thing that is trusted, so anything else in its place is named as such. */
function checkRoot(root: unknown): void {
  if (root instanceof Uint8Array && root.length === HASH_BYTES) return
  const found = root instanceof Uint8Array ? `${root.length} bytes` : typeof root
  const problem = `expected a root of ${HASH_BYTES} bytes in a Uint8Array, got ${found}`
  throw new VarveError('PROOF_INVALID', `proof: ${problem}`, { problem })
}

/** The nodes by hash in hex. Bounds and doubles are checked before anything is hashed. */
function nodesByHash(
  root: Uint8Array,
  proof: readonly Uint8Array[],
  nodeCountMax: number,
): Map<string, Uint8Array> {
  if (proof.length > nodeCountMax)
    throw proofInvalid(root, `it has ${proof.length} nodes, at most ${nodeCountMax} can be needed`)
  let byteCount = 0
  for (const node of proof) byteCount += node.length
  if (byteCount > PROOF_BYTES_MAX)
    throw proofInvalid(root, `it has ${byteCount} bytes, at most ${PROOF_BYTES_MAX} are read`)
  const nodes = new Map<string, Uint8Array>()
  for (const node of proof) nodes.set(toBareHex(keccak256(node)), node)
  if (nodes.size !== proof.length)
    throw proofInvalid(root, `${proof.length - nodes.size} of its nodes are there more than once`)
  return nodes
}

/** Memory for proofs, kept by the thread; empty between calls. */
let arena: NodeArena | undefined
function proofArena(): NodeArena {
  arena ??= new NodeArena({ bytesMax: 2 ** 28 })
  return arena
}

function proofInvalid(
  root: Uint8Array,
  problem: string,
  cause?: unknown,
): VarveError<ProofErrorCode> {
  const rootText = toHex(root)
  return new VarveError(
    'PROOF_INVALID',
    `proof under root ${rootText}: ${problem}`,
    { root: rootText, problem },
    cause === undefined ? undefined : { cause },
  )
}

/** Error codes of this module. */
export type ProofErrorCode =
  /** A proof does not prove what it is asked for. */
  'PROOF_INVALID'
