/**
 * The published cases: roots of ethereum/tests TrieTests, and proofs that real nodes answered.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeArena } from '../arena/index.ts'
import { bigintFromBytes, EMPTY_TRIE_ROOT, fromHex, toHex } from '../base/index.ts'
import { decodeRlp } from '../codec/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { fixtureRecords, fixturesMissing, Prng } from '../testing/index.ts'
import type { TrieChange } from './batch.ts'
import { type ProvenValue, verifyMultiProof, verifyProof } from './proof.ts'
import { Trie } from './trie.ts'

type Pair = readonly [key: string, value: string | null]
type TrieCase = {
  readonly in: readonly Pair[] | Record<string, string | null> | readonly string[]
  readonly root?: string
  readonly tests?: readonly (readonly [key: string, previous: string, next: string])[]
}
type TrieRecord = { readonly path: string; readonly tests: Record<string, TrieCase> }

/** Text of a fixture: hex after 0x, else the characters. */
function bytesOf(text: string): Uint8Array {
  return text.startsWith('0x') ? fromHex(text) : new TextEncoder().encode(text)
}

function rootOf(batches: readonly (readonly TrieChange[])[]): string {
  const arena = new NodeArena({ bytesMax: 2 ** 24 })
  const trie = new Trie({ arena })
  for (const changes of batches) trie.update(changes)
  const root = toHex(trie.root())
  trie.dispose()
  assert.equal(arena.usedBytes, 0)
  return root
}

/** Checks one case in the order given and, where order is free, in others. Returns whether it was a root case. */
function checkCase(path: string, name: string, one: TrieCase): void {
  const isSecure = /secure/i.test(path)
  const isOrdered = Array.isArray(one.in)
  const pairs = (isOrdered ? one.in : Object.entries(one.in)) as readonly Pair[]
  const changes = pairs.map(([key, value]) => ({
    key: isSecure ? keccak256(bytesOf(key)) : bytesOf(key),
    value: value === null ? undefined : bytesOf(value),
  }))
  const where = `${path} ${name}`
  assert.equal(rootOf([changes]), one.root, `${where} as one batch`)
  assert.equal(rootOf(changes.map((change) => [change])), one.root, `${where} one by one`)
  if (isOrdered) return
  const prng = new Prng(1)
  for (let round = 0; round < 20; round++) {
    const shuffled = changes
      .map((change) => ({ change, rank: prng.uint32() }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ change }) => [change])
    assert.equal(rootOf(shuffled), one.root, `${where} shuffled`)
  }
}

/** The key after each asked one, by the iterator's start. */
function checkNext(one: TrieCase): void {
  const keys = one.in as readonly string[]
  const trie = new Trie({ arena: new NodeArena({ bytesMax: 2 ** 22 }) })
  trie.update(keys.map((key) => ({ key: bytesOf(key), value: bytesOf(key) })))
  for (const [asked, , next] of one.tests!) {
    const found = [...trie.entries({ start: bytesOf(asked) })]
      .map(({ key }) => new TextDecoder().decode(key))
      .find((key) => key !== asked)
    assert.equal(found ?? '', next, `next of "${asked}"`)
  }
}

test('G1: ethereum/tests TrieTests, all 26 cases in every order that is free', {
  skip: fixturesMissing('TrieTests', 'github.com/ethereum/tests, TrieTests'),
}, async () => {
  let caseCount = 0
  for await (const { path, tests } of fixtureRecords<TrieRecord>('et-trie'))
    for (const [name, one] of Object.entries(tests)) {
      if (one.tests !== undefined) checkNext(one)
      else checkCase(path, name, one)
      caseCount++
    }
  assert.equal(caseCount, 26)
})

type StorageProof = {
  readonly key: string
  readonly value: string
  readonly proof: readonly string[]
}
type AccountProof = {
  readonly address: string
  readonly accountProof: readonly string[]
  readonly balance: string
  readonly nonce: string
  readonly codeHash: string
  readonly storageHash: string
  readonly storageProof?: readonly StorageProof[]
}
type ProofRecord = {
  readonly path: string
  readonly proof?: AccountProof
  readonly storageDiffProofs?: readonly {
    readonly pre: StorageProof
    readonly post: StorageProof
  }[]
  readonly text?: string
}

function checkStorageProof(storageHash: Uint8Array, { key, value, proof }: StorageProof): void {
  const answer = verifyProof({
    root: storageHash,
    key: keccak256(fromHex(key)),
    proof: proof.map(fromHex),
  })
  const expected = BigInt(value)
  if (expected === 0n) assert.deepEqual(answer, { kind: 'absent' })
  else assert.equal(bigintFromBytes(rlpString(answer)), expected)
}

function rlpString(answer: ProvenValue): Uint8Array {
  assert.equal(answer.kind, 'present')
  return decodeRlp((answer as { value: Uint8Array }).value) as Uint8Array
}

function checkAccountProof(proof: AccountProof): void {
  const nodes = proof.accountProof.map(fromHex)
  const root = keccak256(nodes[0]!)
  const key = keccak256(fromHex(proof.address))
  const answer = verifyProof({ root, key, proof: nodes })
  if (answer.kind === 'present') {
    const [nonce, balance, storageHash, codeHash] = decodeRlp(answer.value) as Uint8Array[]
    assert.equal(bigintFromBytes(nonce!), BigInt(proof.nonce))
    assert.equal(bigintFromBytes(balance!), BigInt(proof.balance))
    assert.equal(toHex(storageHash!), proof.storageHash)
    assert.equal(toHex(codeHash!), proof.codeHash)
  } else assert.equal(BigInt(proof.balance), 0n)
  checkDamage(root, key, nodes)
  const storageHash = fromHex(proof.storageHash)
  const slots = proof.storageProof ?? []
  for (const slot of slots) checkStorageProof(storageHash, slot)
  if (slots.length === 0) return
  // The same slots as one proof, each node once.
  const unique = new Map(slots.flatMap((slot) => slot.proof.map((node) => [node, fromHex(node)])))
  const keys = slots.map((slot) => keccak256(fromHex(slot.key)))
  const answers = verifyMultiProof({ root: storageHash, keys, proof: [...unique.values()] })
  slots.forEach((slot, index) => {
    assert.equal(answers[index]!.kind === 'present', BigInt(slot.value) !== 0n)
  })
}

/** No change of a real proof is taken for another answer. */
function checkDamage(root: Uint8Array, key: Uint8Array, nodes: readonly Uint8Array[]): void {
  const invalid = { code: 'PROOF_INVALID' }
  for (let index = 0; index < nodes.length; index++) {
    const flipped = nodes.map((node) => node.slice())
    flipped[index]![flipped[index]!.length >> 1]! ^= 1
    assert.throws(() => verifyProof({ root, key, proof: flipped }), invalid)
    const cut = nodes.filter((_, other) => other !== index)
    assert.throws(() => verifyProof({ root, key, proof: cut }), invalid)
    assert.throws(() => verifyProof({ root, key, proof: [...nodes, nodes[index]!] }), invalid)
  }
  assert.throws(() => verifyProof({ root: keccak256(root), key, proof: nodes }), invalid)
  assert.throws(() => verifyProof({ root: EMPTY_TRIE_ROOT, key, proof: nodes }), invalid)
}

/** Lists of byte lists in SSZ: offsets of the parts, then the parts. */
function sszParts(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const count = bytes.length === 0 ? 0 : view.getUint32(0, true) / 4
  const offsets = Array.from({ length: count }, (_, index) => view.getUint32(4 * index, true))
  return offsets.map((start, index) => bytes.slice(start, offsets[index + 1] ?? bytes.length))
}

/** A Portal Network content: something proven, the hash of a block, and the proof of the account that has it. */
function checkPortalText(text: string): number {
  const field = (name: string): Uint8Array[] =>
    [...text.matchAll(new RegExp(`${name}: '(0x[0-9a-f]*)'`, 'g'))].map((match) =>
      fromHex(match[1]!),
    )
  const offers = field('content_value_offer')
  const headers = field('block_header')
  field('content_key').forEach((contentKey, index) => {
    const offer = offers[index]!
    const view = new DataView(offer.buffer)
    const subject = offer.slice(view.getUint32(0, true), view.getUint32(4, true))
    const accountProof = sszParts(offer.slice(view.getUint32(4, true)))
    const stateRoot = (decodeRlp(headers[index]!) as Uint8Array[])[3]!
    const answer = verifyProof({
      root: stateRoot,
      key: contentKey.slice(1, 33),
      proof: accountProof,
    })
    assert.equal(answer.kind, 'present')
    const account = decodeRlp((answer as { value: Uint8Array }).value) as Uint8Array[]
    if (contentKey[0] === 0x22) {
      assert.deepEqual(keccak256(subject), account[3], 'the code has the hash of the account')
      return
    }
    const storageProof = sszParts(subject)
    assert.deepEqual(
      keccak256(storageProof[0]!),
      account[2],
      'the storage proof starts at its root',
    )
    const key = keccak256(Uint8Array.from({ length: 32 }, (_, at) => (at === 31 ? 2 : 0)))
    const question = { root: account[2]!, key, proof: storageProof }
    // Slot 2 holds 18; proofs that end at an inner node decide nothing.
    const isWhole = storageProof.at(-1)!.length < 64
    if (isWhole) assert.deepEqual(rlpString(verifyProof(question)), Uint8Array.of(18))
    else assert.throws(() => verifyProof(question), { code: 'PROOF_INVALID' })
  })
  return offers.length
}

test('G1: proofs of real nodes, 42 records with inclusion and exclusion; each damaged one is refused', {
  skip: fixturesMissing('real proofs', 'eth_getProof answers in the repositories of MANIFEST.md'),
}, async () => {
  let recordCount = 0
  let absentCount = 0
  for await (const record of fixtureRecords<ProofRecord>('real-proofs')) {
    recordCount++
    if (record.proof !== undefined) checkAccountProof(record.proof)
    for (const { pre, post } of record.storageDiffProofs ?? [])
      for (const one of [pre, post]) {
        checkStorageProof(keccak256(fromHex(one.proof[0]!)), one)
        if (BigInt(one.value) === 0n) absentCount++
      }
    if (record.text !== undefined) assert.ok(checkPortalText(record.text) > 0)
  }
  assert.equal(recordCount, 42)
  assert.ok(absentCount > 0)
})
