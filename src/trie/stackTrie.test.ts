import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeArena } from '../arena/index.ts'
import { bytesCompare, EMPTY_TRIE_ROOT, toHex } from '../base/index.ts'
import { encodeRlp } from '../codec/index.ts'
import { Prng } from '../testing/index.ts'
import { orderedRoot, StackTrie } from './stackTrie.ts'
import { Trie } from './trie.ts'

const arena = new NodeArena({ bytesMax: 2 ** 24 })

function trieRoot(pairs: readonly { key: Uint8Array; value: Uint8Array }[]): string {
  const trie = new Trie({ arena })
  trie.update(pairs)
  const root = toHex(trie.root())
  trie.dispose()
  return root
}

test('the ordered root equals the trie over RLP indexes, for 0 to 300 items and some more', () => {
  const prng = new Prng(1)
  assert.deepEqual(orderedRoot([]), EMPTY_TRIE_ROOT)
  const counts = [...Array.from({ length: 301 }, (_, count) => count), 1000, 70_000]
  for (const count of counts) {
    const items = Array.from({ length: count }, () =>
      prng.bytes(prng.pick([1, 3, 31, 32, 33, 110])),
    )
    const pairs = items.map((value, index) => ({ key: encodeRlp(index), value }))
    assert.equal(toHex(orderedRoot(items)), trieRoot(pairs), `${count} items`)
  }
})

test('G1: any ascending keys, one the beginning of the other too, give the root of the trie', () => {
  const prng = new Prng(2)
  for (let round = 0; round < 500; round++) {
    const alphabet = prng.pick([[0, 1, 0x10], Array.from({ length: 256 }, (_, byte) => byte)])
    const keys = Array.from({ length: prng.between(1, 40) }, () =>
      Uint8Array.from({ length: prng.between(0, 6) }, () => prng.pick(alphabet)),
    ).sort(bytesCompare)
    const unique = keys.filter(
      (key, index) => index === 0 || bytesCompare(keys[index - 1]!, key) !== 0,
    )
    const pairs = unique.map((key) => ({ key, value: prng.bytes(prng.pick([1, 2, 30, 40])) }))
    const stack = new StackTrie()
    for (const { key, value } of pairs) stack.add(key, value)
    assert.equal(toHex(stack.finish()), trieRoot(pairs), `round ${round}`)
  }
})

test('keys out of order and empty values are refused', () => {
  const stack = new StackTrie()
  stack.add(Uint8Array.of(2), Uint8Array.of(1))
  assert.throws(() => stack.add(Uint8Array.of(2), Uint8Array.of(1)), { code: 'TRIE_KEY_ORDER' })
  assert.throws(() => stack.add(Uint8Array.of(1, 9), Uint8Array.of(1)), { code: 'TRIE_KEY_ORDER' })
  assert.throws(() => stack.add(Uint8Array.of(3), new Uint8Array(0)), {
    code: 'TRIE_VALUE_INVALID',
  })
  assert.throws(() => stack.add(new Uint8Array(256).fill(9), Uint8Array.of(1)), {
    code: 'TRIE_KEY_INVALID',
  })
})
