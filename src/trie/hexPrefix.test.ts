// Aim: paths in nodes have the hex-prefix form (Yellow Paper, appendix C). Method: the published vectors; for each a
// small trie that has a leaf, or an extension, of exactly that path, whose node is then read from a proof.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeArena } from '../arena/index.ts'
import { toBareHex } from '../base/index.ts'
import { decodeRlp } from '../codec/index.ts'
import { fixtureRecords, fixturesMissing } from '../testing/index.ts'
import { packNibblesInto } from './nibbles.ts'
import { Trie } from './trie.ts'

const skip = fixturesMissing('hexencodetest', 'ethereum/tests, BasicTests')

type Vector = { readonly seq: number[]; readonly term: boolean; readonly out: string }

/** Long enough that no node is embedded in its parent. */
const VALUE = new Uint8Array(40).fill(1)

function keyOf(nibbles: readonly number[]): Uint8Array {
  const key = new Uint8Array(nibbles.length / 2)
  packNibblesInto(Uint8Array.from(nibbles), nibbles.length, key, 0)
  return key
}

/** First field of the node at the end, or at the start, of the proof of a trie's first key. */
function pathField(keys: readonly Uint8Array[], at: 'first' | 'last'): string {
  const trie = new Trie({ arena: new NodeArena() })
  trie.update(keys.map((key) => ({ key, value: VALUE })))
  const proof = trie.prove([keys[0]!])
  const node = decodeRlp(at === 'first' ? proof[0]! : proof.at(-1)!) as readonly Uint8Array[]
  return toBareHex(node[0]!)
}

/** A leaf whose path is `seq`: below a branch where the whole key would not be a number of bytes. */
function leafField(seq: readonly number[]): string {
  if (seq.length % 2 === 1) return pathField([keyOf([0, ...seq]), keyOf([1, ...seq])], 'last')
  if (seq.length === 0) return pathField([keyOf([0, 0]), keyOf([0, 1])], 'last')
  return pathField([keyOf(seq)], 'last')
}

/** An extension whose path is `seq`: what two keys share. */
function extensionField(seq: readonly number[]): string {
  const rest = seq.length % 2 === 1 ? [] : [0]
  return pathField([keyOf([...seq, 0, ...rest]), keyOf([...seq, 1, ...rest])], 'first')
}

test('published hex-prefix vectors, in nodes of real tries', { skip }, async () => {
  type File = { path: string; tests: Record<string, Vector> }
  let count = 0
  for await (const { path, tests } of fixtureRecords<File>('et-basic')) {
    if (path !== 'BasicTests/hexencodetest.json') continue
    for (const [name, { seq, term, out }] of Object.entries(tests)) {
      assert.equal(term ? leafField(seq) : extensionField(seq), out, name)
      count++
    }
  }
  assert.equal(count, 12)
})
