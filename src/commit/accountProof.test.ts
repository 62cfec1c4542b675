import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, ZERO_HASH } from '../base/index.ts'
import { addressHashOf, slotHashOf } from '../state/index.ts'
import { memoryStore } from '../store/index.ts'
import { type AccountProof, proveAccount, verifyAccountProof } from './accountProof.ts'
import { storedNodes } from './nodeReaders.ts'
import { StateSummary } from './stateSummary.ts'

const somebody = new Uint8Array(20).fill(1)
const nobody = new Uint8Array(20).fill(2)
const slot = new Uint8Array(32).fill(3)
const value = new Uint8Array(32).fill(4)

const summary = new StateSummary(storedNodes(memoryStore()), EMPTY_TRIE_ROOT)
const root = summary.update({
  accounts: [
    {
      addressHash: addressHashOf(somebody),
      after: { nonce: 1n, balance: 5n, codeHash: EMPTY_CODE_HASH },
      storageCleared: false,
      slots: [{ slotHash: slotHashOf(slot), after: value }],
    },
  ],
})

test('an account that exists: its fields and slots, and no other claim', () => {
  const proof = proveAccount(summary, somebody, [slot, ZERO_HASH])
  assert.deepEqual(verifyAccountProof(root, proof), {
    account: { nonce: 1n, balance: 5n, codeHash: EMPTY_CODE_HASH },
    values: [value, ZERO_HASH],
  })
  const forgeries: Partial<AccountProof>[] = [
    { nonce: 0n },
    { balance: 6n },
    { codeHash: ZERO_HASH },
    { storageRoot: ZERO_HASH },
    { storageRoot: EMPTY_TRIE_ROOT },
  ]
  for (const forged of forgeries)
    assert.throws(() => verifyAccountProof(root, { ...proof, ...forged }), {
      code: 'PROOF_INVALID',
      message: /the root says/,
    })
})

test('absence is accepted with both published forms of the hashes, and no other', () => {
  const proof = proveAccount(summary, nobody, [slot])
  const answer = { account: undefined, values: [ZERO_HASH] }
  assert.deepEqual([proof.codeHash, proof.storageRoot], [ZERO_HASH, ZERO_HASH])
  assert.deepEqual(verifyAccountProof(root, proof), answer)
  const hashes = { codeHash: EMPTY_CODE_HASH, storageRoot: EMPTY_TRIE_ROOT }
  assert.deepEqual(verifyAccountProof(root, { ...proof, ...hashes }), answer)
  const forgeries: Partial<AccountProof>[] = [
    { nonce: 1n },
    { balance: 1n },
    { codeHash: EMPTY_TRIE_ROOT },
    { storageRoot: EMPTY_CODE_HASH },
  ]
  for (const forged of forgeries)
    assert.throws(() => verifyAccountProof(root, { ...proof, ...forged }), {
      code: 'PROOF_INVALID',
      message: /there is no such account/,
    })
})

test('addresses, slots and roots of the wrong length are refused by name', () => {
  const proof = proveAccount(summary, somebody, [slot])
  const refusal = (what: string) => ({
    code: 'PROOF_ARGUMENT_INVALID',
    message: new RegExp(`as ${what}, got`),
  })
  const wrong: readonly unknown[] = [new Uint8Array(0), new Uint8Array(31), '0x00', undefined]
  for (const entry of wrong) {
    const bytes = entry as Uint8Array
    const storageProof = [{ ...proof.storageProof[0]!, slot: bytes }]
    assert.throws(() => proveAccount(summary, bytes, []), refusal('address'))
    assert.throws(() => proveAccount(summary, somebody, [slot, bytes]), refusal('slot'))
    assert.throws(() => verifyAccountProof(bytes, proof), refusal('state root'))
    assert.throws(() => verifyAccountProof(root, { ...proof, address: bytes }), refusal('address'))
    assert.throws(() => verifyAccountProof(root, { ...proof, storageProof }), refusal('slot'))
  }
})
