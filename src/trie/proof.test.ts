import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeArena } from '../arena/index.ts'
import {
  EMPTY_TRIE_ROOT,
  fromBareHex,
  PROOF_KEY_COUNT_MAX,
  PROOF_NODE_COUNT_MAX,
} from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { Prng } from '../testing/index.ts'
import { verifyMultiProof, verifyProof } from './proof.ts'
import { Trie } from './trie.ts'

const invalid = { code: 'PROOF_INVALID' }
const arena = new NodeArena({ bytesMax: 2 ** 24 })

function trieOf(pairs: Record<string, string>): Trie {
  const trie = new Trie({ arena })
  trie.update(
    Object.entries(pairs).map(([key, value]) => ({
      key: fromBareHex(key),
      value: fromBareHex(value),
    })),
  )
  return trie
}

test('no nodes prove absence in the empty trie and nothing else', () => {
  const key = Uint8Array.of(1)
  assert.deepEqual(verifyProof({ root: EMPTY_TRIE_ROOT, key, proof: [] }), { kind: 'absent' })
  assert.throws(() => verifyProof({ root: keccak256(key), key, proof: [] }), invalid)
  assert.throws(
    () => verifyProof({ root: EMPTY_TRIE_ROOT, key, proof: [Uint8Array.of(0x80)] }),
    invalid,
  )
})

test('a proof of another state is refused, also where it holds the same pair', () => {
  const key = fromBareHex('11'.repeat(32))
  const here = trieOf({ ['11'.repeat(32)]: 'aa', ['22'.repeat(32)]: 'bb' })
  const there = trieOf({ ['11'.repeat(32)]: 'aa', ['22'.repeat(32)]: 'cc' })
  assert.throws(() => verifyProof({ root: here.root(), key, proof: there.prove([key]) }), invalid)
  const answer = verifyProof({ root: there.root(), key, proof: there.prove([key]) })
  assert.deepEqual(answer, { kind: 'present', value: Uint8Array.of(0xaa) })
})

test('tries of one key, of embedded nodes only, and with a root shorter than a hash', () => {
  const one = trieOf({ aa: '01' })
  const [node] = one.prove([Uint8Array.of(0xaa)])
  assert.ok(node!.length < 32)
  for (const [key, kind] of [
    ['aa', 'present'],
    ['ab', 'absent'],
    ['', 'absent'],
    ['aa00', 'absent'],
  ] as const) {
    const proof = one.prove([fromBareHex(key)])
    assert.equal(proof.length, 1)
    assert.equal(verifyProof({ root: one.root(), key: fromBareHex(key), proof }).kind, kind)
  }
  const embedded = trieOf({ '10': '02', '11': '03' })
  const proof = embedded.prove([fromBareHex('11')])
  assert.equal(proof.length, 1, 'embedded nodes lie in their parents')
  const key = fromBareHex('11')
  assert.deepEqual(verifyProof({ root: embedded.root(), key, proof }), {
    kind: 'present',
    value: Uint8Array.of(3),
  })
})

test('an absent key needs no node below the one that decides', () => {
  const long = '33'.repeat(40)
  // An extension over 1234 leads to a branch; 1299 leaves it half way.
  const trie = trieOf({ '123456': long, '123478': long })
  const proof = trie.prove([fromBareHex('1299')])
  assert.equal(proof.length, 1)
  const all = trie.prove([fromBareHex('123456')])
  assert.equal(all.length, 3)
  const question = { root: trie.root(), key: fromBareHex('1299') }
  assert.equal(verifyProof({ ...question, proof }).kind, 'absent')
  assert.throws(() => verifyProof({ ...question, proof: all }), invalid)
})

test('a proof after deletes down to nothing', () => {
  const trie = trieOf({ '1234': '01', '1299': '02' })
  trie.update([
    { key: fromBareHex('1234'), value: undefined },
    { key: fromBareHex('1299'), value: undefined },
  ])
  const key = fromBareHex('1234')
  assert.deepEqual(verifyProof({ root: trie.root(), key, proof: trie.prove([key]) }), {
    kind: 'absent',
  })
})

test('one proof for many keys: answers in their order, each node once', () => {
  const prng = new Prng(9)
  const trie = new Trie({ arena })
  const pairs = Array.from({ length: 200 }, () => ({ key: prng.bytes(32), value: prng.bytes(50) }))
  trie.update(pairs)
  const keys = [...pairs.map(({ key }) => key), ...Array.from({ length: 50 }, () => prng.bytes(32))]
  const proof = trie.prove(keys)
  const answers = verifyMultiProof({ root: trie.root(), keys, proof })
  pairs.forEach(({ value }, index) => {
    assert.deepEqual(answers[index], { kind: 'present', value })
  })
  assert.ok(answers.slice(200).every(({ kind }) => kind === 'absent'))
  assert.equal(new Set(proof).size, proof.length)
  assert.deepEqual(verifyMultiProof({ root: trie.root(), keys: [], proof: [] }), [])
  assert.throws(
    () => verifyMultiProof({ root: trie.root(), keys: [], proof: [proof[0]!] }),
    invalid,
  )
  // The order of nodes is free.
  assert.deepEqual(verifyMultiProof({ root: trie.root(), keys, proof: proof.reverse() }), answers)
})

test('equal subtrees at several paths are in a proof once', () => {
  const value = '07'.repeat(40)
  const trie = trieOf({ '10aa': value, '20aa': value })
  const keys = ['10aa', '20aa', '30aa'].map((key) => fromBareHex(key))
  const proof = trie.prove(keys)
  assert.equal(proof.length, 2, 'the branch and the one leaf')
  const present = { kind: 'present', value: fromBareHex(value) }
  const answers = verifyMultiProof({ root: trie.root(), keys, proof })
  assert.deepEqual(answers, [present, present, { kind: 'absent' }])
  for (const key of keys.slice(0, 2)) assert.deepEqual(trie.prove([key]), proof)
})

test('what is no root of 32 bytes is refused by name', () => {
  const key = Uint8Array.of(1)
  const wrong: readonly unknown[] = [new Uint8Array(31), new Uint8Array(33), '0x00', undefined, []]
  for (const value of wrong) {
    const root = value as Uint8Array
    const refusal = { code: 'PROOF_INVALID', message: /expected a root of 32 bytes/ }
    assert.throws(() => verifyProof({ root, key, proof: [] }), refusal)
    assert.throws(() => verifyMultiProof({ root, keys: [key], proof: [] }), refusal)
  }
})

test('size is bounded before anything is hashed', () => {
  const root = keccak256(Uint8Array.of(1))
  const key = Uint8Array.of(1)
  const tiny = Uint8Array.of(0xc0)
  const many = new Array<Uint8Array>(PROOF_NODE_COUNT_MAX + 1).fill(tiny)
  assert.throws(() => verifyProof({ root, key, proof: many }), /at most/)
  assert.throws(
    () => verifyProof({ root, key, proof: [new Uint8Array(2 ** 24 + 2 ** 20 + 1)] }),
    /at most/,
  )
  const keys = new Array<Uint8Array>(PROOF_KEY_COUNT_MAX + 1).fill(key)
  assert.throws(() => verifyMultiProof({ root, keys, proof: [tiny] }), invalid)
  assert.throws(() => verifyProof({ root: root.subarray(1), key, proof: [tiny] }), invalid)
  assert.throws(() => verifyProof({ root, key: new Uint8Array(256), proof: [tiny] }), invalid)
})
