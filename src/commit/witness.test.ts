/**
 * Aim: a state answers from its witness what it answers whole, finds the same root, and names what it lacks.
 * Method: the fuzzer with fixed seeds; one small state by hand for the errors.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, isVarveError, toHex } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { type AccountChange, sealDelta } from '../state/index.ts'
import { memoryStore } from '../store/index.ts'
import { encodeAccountLeaf } from './accountLeaf.ts'
import { storedNodes } from './nodeReaders.ts'
import { StateSummary } from './stateSummary.ts'
import { SummaryView } from './summaryView.ts'
import { fuzzWitness } from './witness.fuzz.ts'
import { WitnessRecorder } from './witnessRecorder.ts'
import { openWitnessState } from './witnessState.ts'

for (const seed of [1, 2, 3])
  test(`witnesses of random states, seed ${seed}`, () => {
    const counts = fuzzWitness(seed, 60)
    for (const [name, count] of Object.entries(counts)) assert.ok(count > 0, `${name} is exercised`)
  })

const addresses = [1, 2, 3, 4].map((byte) => keccak256(Uint8Array.of(byte)))
const code = Uint8Array.of(0x60, 0x01)

function account(addressHash: Uint8Array, codeHash = EMPTY_CODE_HASH): AccountChange {
  const after = { nonce: 1n, balance: 5n, codeHash }
  return { addressHash, before: undefined, after, storageCleared: false, slots: [] }
}

test('what is missing is named: node by path and hash, code by hash', () => {
  const summary = new StateSummary(storedNodes(memoryStore()), EMPTY_TRIE_ROOT)
  const codeHash = keccak256(code)
  const root = summary.update(sealDelta(addresses.map((hash) => account(hash, codeHash))))
  const whole = new SummaryView(summary, () => code)
  const recorder = new WitnessRecorder(whole, summary.nodes(), root)
  recorder.view.code(recorder.view.account(addresses[0]!)!.codeHash)
  const witness = recorder.finish()
  assert.deepEqual(witness.codes, [code])

  const { view } = openWitnessState(root, { state: witness.state, codes: [] })
  assert.equal(view.account(addresses[0]!)?.balance, 5n)
  assert.throws(
    () => view.code(codeHash),
    (error) =>
      isVarveError(error, 'WITNESS_CODE_MISSING') && error.data['codeHash'] === toHex(codeHash),
  )
  const other = addresses.find((hash) => hash[0]! >> 4 !== addresses[0]![0]! >> 4)!
  assert.throws(
    () => view.account(other),
    (error) =>
      isVarveError(error, 'WITNESS_NODE_MISSING') &&
      error.data['trie'] === 'account trie' &&
      error.data['path'] === (other[0]! >> 4).toString(16),
  )
  const rootless = openWitnessState(root, { state: [], codes: [] }).view
  assert.throws(
    () => rootless.hasStorage(other),
    (error) => isVarveError(error, 'WITNESS_NODE_MISSING') && error.data['hash'] === toHex(root),
  )
})

test('entries that nothing asks for play no part, whatever they are', () => {
  const summary = new StateSummary(storedNodes(memoryStore()), EMPTY_TRIE_ROOT)
  const root = summary.update(sealDelta([account(addresses[0]!)]))
  const leaf = summary.nodes().accounts.readNode(new Uint8Array(0), root)!
  const state = [Uint8Array.of(0x80), Uint8Array.of(), Uint8Array.of(0xff, 1), leaf, leaf]
  const { view } = openWitnessState(root, { state, codes: [Uint8Array.of()] })
  assert.equal(view.account(addresses[0]!)?.nonce, 1n)
  assert.equal(view.account(addresses[1]!), undefined)
  assert.equal(view.code(EMPTY_CODE_HASH).length, 0)
})

test('a trie node that is no account is refused where it is read', () => {
  const summary = new StateSummary(storedNodes(memoryStore()), EMPTY_TRIE_ROOT)
  const good = summary.update(sealDelta([account(addresses[0]!)]))
  const leaf = summary.nodes().accounts.readNode(new Uint8Array(0), good)!
  // The leaf's value ends with the code hash: a flag in the length of its list makes it no account.
  const value = encodeAccountLeaf(
    { nonce: 1n, balance: 5n, codeHash: EMPTY_CODE_HASH },
    EMPTY_TRIE_ROOT,
  )
  const forged = leaf.slice()
  forged[leaf.length - value.length + 1]! ^= 1
  const { view } = openWitnessState(keccak256(forged), { state: [forged], codes: [] })
  assert.throws(
    () => view.account(addresses[0]!),
    (error) => isVarveError(error, 'SUMMARY_LEAF_INVALID'),
  )
})
