/** Time to hash leaves of the account trie where they lie, by the kernel and by its twin. */
import {
  BODY_WORD,
  DETAIL_WORD,
  FLAG_DIRTY,
  HANDLE_BYTES,
  KEY_OFFSET,
  NodeArena,
  NodeKind,
} from '../arena/index.ts'
import { toBareHex } from '../base/index.ts'
import { bench, Prng, report, timeNs } from '../testing/index.ts'
import { keccak256 } from './keccak.ts'
import { TrieNodeKernel } from './trieNode.ts'

const KEY_BYTES = 32
const VALUE_BYTES = 94

bench('hash leaves of accounts, kernel and twin', (mode) => {
  const count = mode === 'full' ? 10_000 : 50
  for (const implementation of ['kernel', 'reference'] as const) {
    const prng = new Prng(1)
    const arena = new NodeArena({ bytesMax: 2 ** 25 })
    const kernel = new TrieNodeKernel(arena, implementation)
    const handles = new Uint32Array(count)
    for (let index = 0; index < count; index++) {
      const handle = arena.allocate(KEY_OFFSET + KEY_BYTES + VALUE_BYTES)
      arena.words[handle * 2]! |= NodeKind.Leaf | FLAG_DIRTY
      arena.words[handle * 2 + DETAIL_WORD] = 4 | (KEY_BYTES << 16)
      arena.words[handle * 2 + BODY_WORD] = VALUE_BYTES
      arena.bytes.set(prng.bytes(KEY_BYTES + VALUE_BYTES), handle * HANDLE_BYTES + KEY_OFFSET)
      handles[index] = handle
    }
    const runCount = mode === 'smoke' ? 1 : implementation === 'kernel' ? 30 : 3
    const samples = Array.from({ length: runCount }, () => {
      return timeNs(() => kernel.hashNodes(handles, 0, count, false)) / count
    })
    const start = handles[0]! * HANDLE_BYTES
    const check = toBareHex(keccak256(arena.bytes.slice(start, start + 40)))
    report({ name: `hash a leaf (${implementation})`, unit: 'ns', samples, check })
  }
})
