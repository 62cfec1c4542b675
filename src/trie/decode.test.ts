/**
 * Aim: a stored node is read only in the one form the trie would have written. Method: a root node of any bytes is
 * served by a reader under its right hash; then every one of those bytes is changed in turn.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeArena } from '../arena/index.ts'
import { bytesConcat, fromBareHex, isVarveError, toBareHex } from '../base/index.ts'
import { encodeRlp, type RlpInput } from '../codec/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { Prng } from '../testing/index.ts'
import { pathText } from './faults.ts'
import { naiveTree } from './naiveTrie.suite.ts'
import { Trie } from './trie.ts'

const arena = new NodeArena({ bytesMax: 2 ** 24 })

/** All entries below a root given by its nodes: the root, and others by hash. */
function readAll(root: Uint8Array, others: readonly Uint8Array[] = []): Map<string, Uint8Array> {
  const nodes = new Map([root, ...others].map((node) => [toBareHex(keccak256(node)), node]))
  const reader = { readNode: (_: Uint8Array, hash: Uint8Array) => nodes.get(toBareHex(hash)) }
  const trie = new Trie({ arena, root: keccak256(root), reader })
  try {
    return new Map([...trie.entries()].map(({ key, value }) => [toBareHex(key), value]))
  } finally {
    trie.dispose()
    assert.equal(arena.usedBytes, 0, 'a refused node leaves nothing behind')
  }
}

const empty = new Uint8Array(0)
const hex = fromBareHex
const hash = keccak256(empty)
const leaf = (path: string, value = '01'): RlpInput => [hex(path), hex(value)]
function branch(children: Record<number, RlpInput>, value: RlpInput = empty): RlpInput {
  return [...Array.from({ length: 16 }, (_, nibble) => children[nibble] ?? empty), value]
}

const refused: [string, RlpInput | Uint8Array, RegExp][] = [
  ['a string', hex('0102'), /no list/],
  ['an empty list', [], /0 items/],
  ['three items', [hex('20'), hex('01'), hex('01')], /3 items/],
  ['16 items', new Array<RlpInput>(16).fill(empty), /16 items/],
  ['18 items', new Array<RlpInput>(18).fill(empty), /18 items/],
  ['an empty path', [empty, hex('01')], /hex prefix/],
  ['a path that is a list', [[hex('20')], hex('01')], /path is a list/],
  ['hex prefix 4', leaf('40'), /hex prefix/],
  ['padding that is not 0', leaf('21'), /padded/],
  ['a key of half a byte', leaf('31'), /whole bytes/],
  ['an empty value', leaf('20aa', ''), /empty/],
  ['a value that is a list', [hex('20aa'), [hex('01')]], /value is a list/],
  ['a key of 256 bytes', leaf(`20${'aa'.repeat(256)}`), /too long/],
  ['an extension without path', [hex('00'), hash], /empty path/],
  ['an extension to nothing', [hex('11'), empty], /nothing/],
  ['an extension to an embedded leaf', [hex('11'), leaf('31')], /no branch/],
  ['an extension to an embedded extension', [hex('11'), [hex('12'), hash]], /hashed|no branch/],
  ['a child of 31 bytes', [hex('11'), hash.subarray(1)], /neither a hash/],
  ['a branch without entries', branch({}), /less than two/],
  ['a branch with one child', branch({ 3: leaf('31') }), /less than two/],
  ['a branch with a value alone', branch({}, hex('01')), /less than two/],
  [
    'a branch value that is a list',
    branch({ 1: leaf('31'), 2: leaf('31') }, [hex('01')]),
    /value is a list/,
  ],
  [
    'an embedded node of 32 bytes',
    branch({ 1: leaf('31', 'aa'.repeat(29)), 2: leaf('31') }),
    /hashed/,
  ],
  ['bytes behind the node', bytesConcat(encodeRlp(leaf('20aa')), hex('00')), /follow/],
  ['a cut node', encodeRlp(leaf('20aabb')).subarray(0, 4), /past|early/],
  ['a long form of a byte', hex('c4820020aa').fill(0x81, 1, 2), /shortest/],
  ['a long form of a length', hex('f80482200a01'), /shortest|past/],
  ['nothing', empty, /early/],
]
for (const [name, node, pattern] of refused)
  test(`refused: ${name}`, () => {
    const bytes = node instanceof Uint8Array && name !== 'a string' ? node : encodeRlp(node)
    assert.throws(() => readAll(bytes), { code: 'TRIE_NODE_INVALID', message: pattern })
  })

test('refused: a value where half a byte ends, a hashed node that should be embedded, an extension to a leaf', () => {
  const odd = branch({ 1: branch({ 1: leaf('20'), 2: leaf('20') }, hex('05')), 2: leaf('31') })
  assert.throws(() => readAll(encodeRlp(odd)), /whole key/)
  const short = encodeRlp(leaf('31'))
  const parent = encodeRlp(branch({ 1: keccak256(short), 2: leaf('31') }))
  assert.throws(() => readAll(parent, [short]), /shorter than a hash/)
  const long = encodeRlp(leaf('31', 'aa'.repeat(40)))
  assert.throws(() => readAll(encodeRlp([hex('11'), keccak256(long)]), [long]), /no branch/)
})

test('whatever byte of a node is changed, it is refused or is another canonical node', () => {
  const prng = new Prng(4)
  let readable = 0
  for (const sizes of [
    [1, 2],
    [20, 25],
    [1, 40],
  ]) {
    const values = new Map(
      ['', '10', '1010', '1011', '2030', '203040'].map((key) => [
        key,
        prng.bytes(prng.pick(sizes)),
      ]),
    )
    const { nodes } = naiveTree(values)
    const root = nodes.get('')!
    const others = [...nodes].filter(([path]) => path !== '').map(([, node]) => node)
    assert.equal(readAll(root, others).size, values.size)
    for (let index = 0; index < root.length; index++)
      for (let bit = 0; bit < 8; bit++) {
        const changed = root.slice()
        changed[index]! ^= 1 << bit
        try {
          const entries = readAll(changed, others)
          assert.deepEqual(
            naiveTree(entries).nodes.get(''),
            changed,
            'its entries give the same node',
          )
          readable++
        } catch (fault) {
          const isRefused =
            isVarveError(fault, 'TRIE_NODE_INVALID') || isVarveError(fault, 'TRIE_NODE_MISSING')
          if (!isRefused) throw fault
        }
      }
  }
  assert.ok(readable > 0, 'changed values are readable')
})

test('random bytes are never read as a node', () => {
  const prng = new Prng(6)
  for (let round = 0; round < 3000; round++) {
    const bytes = prng.bytes(prng.below(80))
    if (bytes.length > 0 && prng.oneIn(2)) bytes[0] = 0xc0 + Math.min(55, bytes.length - 1)
    assert.throws(() => readAll(bytes), { code: 'TRIE_NODE_INVALID' }, pathText(bytes))
  }
})
