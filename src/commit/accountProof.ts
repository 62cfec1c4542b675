/**
 * Proofs of accounts and slots in the form of EIP-1186 (`eth_getProof`), and their verification by whoever knows a
 * state root and nothing else. The root is a required argument: a proof that only agrees with itself proves nothing.
 */
import {
  ADDRESS_BYTES,
  bytesEqual,
  EMPTY_CODE_HASH,
  EMPTY_TRIE_ROOT,
  HASH_BYTES,
  isVarveError,
  PROOF_KEY_COUNT_MAX,
  toHex,
  VarveError,
  ZERO_HASH,
} from '../base/index.ts'
import { type Account, addressHashOf, slotHashOf } from '../state/index.ts'
import { verifyProof } from '../trie/index.ts'
import { type AccountLeaf, decodeAccountLeaf, decodeSlotLeaf } from './accountLeaf.ts'
import type { StateSummary } from './stateSummary.ts'

/** A slot with the nodes from the storage root to it. */
export type SlotProof = {
  /** 32 bytes. */
  readonly slot: Uint8Array
  /** The claimed value, 32 bytes; all zero where the slot is empty. */
  readonly value: Uint8Array
  readonly proof: readonly Uint8Array[]
}

/**
 * The answer to `eth_getProof`. Of an account that does not exist, all values are zero, both hashes included, as
 * geth answers. Older geth, reth and others give the hash of no code and the root of the empty trie instead; each
 * hash may be verified in either form.
 */
export type AccountProof = {
  readonly address: Uint8Array
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Uint8Array
  readonly storageRoot: Uint8Array
  readonly accountProof: readonly Uint8Array[]
  readonly storageProof: readonly SlotProof[]
}

/** What a verified proof says. `account` is `undefined` where the state has no such account. */
export type VerifiedAccount = {
  readonly account: Account | undefined
  /** One value of 32 bytes a slot, in the order asked. */
  readonly values: readonly Uint8Array[]
}

/**
 * Makes the proof of an account and some of its slots. Changes nothing.
 * @throws VarveError PROOF_ARGUMENT_INVALID, PROOF_KEYS_TOO_MANY above 1024 slots, TRIE_NODE_MISSING where the store
 *   is damaged
 */
export function proveAccount(
  summary: StateSummary,
  address: Uint8Array,
  slots: readonly Uint8Array[],
): AccountProof {
  checkSlotCount(slots.length)
  checkBytes('address', address, ADDRESS_BYTES)
  for (const slot of slots) checkBytes('slot', slot, HASH_BYTES)
  const addressHash = addressHashOf(address)
  const leaf = summary.accountLeaf(addressHash)
  const accountProof = summary.proveAccount(addressHash)
  const proofs = summary.proveStorage(addressHash, slots.map(slotHashOf))
  return {
    address,
    nonce: leaf?.nonce ?? 0n,
    balance: leaf?.balance ?? 0n,
    codeHash: leaf?.codeHash ?? ZERO_HASH,
    storageRoot: leaf?.storageRoot ?? ZERO_HASH,
    accountProof,
    storageProof: slots.map((slot, index) => ({
      slot,
      value: slotOfLeaf(proofs[index]!.value),
      proof: proofs[index]!.proof,
    })),
  }
}

/**
 * Checks a proof against a state root that the caller trusts: the account, each claimed field, and each slot.
 * @returns what the state holds under `stateRoot`; absence is an answer, not an error
 * @throws VarveError PROOF_INVALID where any part does not follow from the root, PROOF_ARGUMENT_INVALID,
 *   PROOF_KEYS_TOO_MANY
 */
export function verifyAccountProof(stateRoot: Uint8Array, proof: AccountProof): VerifiedAccount {
  checkSlotCount(proof.storageProof.length)
  checkBytes('state root', stateRoot, HASH_BYTES)
  checkBytes('address', proof.address, ADDRESS_BYTES)
  for (const { slot } of proof.storageProof) checkBytes('slot', slot, HASH_BYTES)
  const found = verifyProof({
    root: stateRoot,
    key: addressHashOf(proof.address),
    proof: proof.accountProof,
  })
  const leaf = found.kind === 'present' ? decodeLeafOfProof(found.value) : undefined
  checkClaims(proof, leaf)
  const storageRoot = leaf?.storageRoot ?? EMPTY_TRIE_ROOT
  const values = proof.storageProof.map((slot) => verifySlot(storageRoot, slot))
  if (leaf === undefined) return { account: undefined, values }
  const { nonce, balance, codeHash } = leaf
  return { account: { nonce, balance, codeHash }, values }
}

function verifySlot(storageRoot: Uint8Array, claim: SlotProof): Uint8Array {
  const found = verifyProof({ root: storageRoot, key: slotHashOf(claim.slot), proof: claim.proof })
  const value = slotOfLeaf(found.kind === 'present' ? found.value : undefined)
  if (!bytesEqual(value, claim.value))
    throw proofFault(`slot ${toHex(claim.slot)}`, toHex(value), toHex(claim.value))
  return value
}

function checkClaims(proof: AccountProof, leaf: AccountLeaf | undefined): void {
  if (leaf === undefined) {
    checkAbsenceClaims(proof)
    return
  }
  const { nonce, balance, codeHash, storageRoot } = leaf
  if (proof.nonce !== nonce) throw proofFault('nonce', nonce, proof.nonce)
  if (proof.balance !== balance) throw proofFault('balance', balance, proof.balance)
  if (!bytesEqual(proof.codeHash, codeHash))
    throw proofFault('code hash', toHex(codeHash), toHex(proof.codeHash))
  if (!bytesEqual(proof.storageRoot, storageRoot))
    throw proofFault('storage root', toHex(storageRoot), toHex(proof.storageRoot))
}

/** Nodes disagree on the two hashes of no account: zero, or those of an account without code and storage. */
function checkAbsenceClaims(proof: AccountProof): void {
  const { nonce, balance, codeHash, storageRoot } = proof
  if (nonce !== 0n) throw absenceFault('nonce', nonce)
  if (balance !== 0n) throw absenceFault('balance', balance)
  if (!bytesEqual(codeHash, ZERO_HASH) && !bytesEqual(codeHash, EMPTY_CODE_HASH))
    throw absenceFault('code hash', toHex(codeHash))
  if (!bytesEqual(storageRoot, ZERO_HASH) && !bytesEqual(storageRoot, EMPTY_TRIE_ROOT))
    throw absenceFault('storage root', toHex(storageRoot))
}

function decodeLeafOfProof(value: Uint8Array): AccountLeaf {
  try {
    return decodeAccountLeaf(value)
  } catch (error) {
    if (!isVarveError(error)) throw error
    throw proofFault('account leaf', 'an account', error.message)
  }
}

/** The 32 bytes of a storage leaf, zero where there is none. @throws VarveError PROOF_INVALID */
function slotOfLeaf(leaf: Uint8Array | undefined): Uint8Array {
  if (leaf === undefined) return new Uint8Array(HASH_BYTES)
  try {
    return decodeSlotLeaf(leaf)
  } catch (error) {
    if (!isVarveError(error)) throw error
    throw proofFault('storage leaf', 'a value as the trie holds it', error.message)
  }
}

function checkSlotCount(count: number): void {
  if (count > PROOF_KEY_COUNT_MAX)
    throw new VarveError(
      'PROOF_KEYS_TOO_MANY',
      `expected at most ${PROOF_KEY_COUNT_MAX} slots in one proof, got ${count}`,
      { count },
    )
}

/** Only hashes enter a trie, so an argument of the wrong length would else be proven absent. */
function checkBytes(what: string, value: unknown, length: number): void {
  if (value instanceof Uint8Array && value.length === length) return
  const found = value instanceof Uint8Array ? `${value.length} bytes` : typeof value
  throw new VarveError(
    'PROOF_ARGUMENT_INVALID',
    `proof: expected ${length} bytes in a Uint8Array as ${what}, got ${found}`,
    { what, length, found },
  )
}

function absenceFault(what: string, found: string | bigint): VarveError {
  return new VarveError(
    'PROOF_INVALID',
    `proof of ${what}: under the root there is no such account, the claim says ${found}`,
    { what, expected: 'no account', found },
  )
}

function proofFault(what: string, expected: string | bigint, found: string | bigint): VarveError {
  return new VarveError(
    'PROOF_INVALID',
    `proof of ${what}: the root says ${expected}, the claim ${found}`,
    {
      what,
      expected,
      found,
    },
  )
}

/** Error codes of this module; PROOF_INVALID is the trie's. */
export type AccountProofErrorCode =
  /** An address, slot or root of the wrong length, or no bytes at all. */
  | 'PROOF_ARGUMENT_INVALID'
  /** More slots than one proof may ask for. */
  | 'PROOF_KEYS_TOO_MANY'
