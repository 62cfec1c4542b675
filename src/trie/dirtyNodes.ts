/** Lists the nodes that are to be hashed, with their paths, for whoever watches what changes come to. */
import {
  BODY_WORD,
  DETAIL_WORD,
  FLAG_DIRTY,
  HANDLE_BYTES,
  HANDLE_WORDS,
  KEY_OFFSET,
  KIND_MASK,
  NO_NODE,
  type NodeHandle,
  NodeKind,
} from '../arena/index.ts'
import type { TrieCore } from './core.ts'
import { nibbleAt } from './nibbles.ts'

export type DirtyNode = {
  readonly node: NodeHandle
  /** One nibble a byte, fresh. */
  readonly path: Uint8Array
}

/** All dirty nodes of a trie, parents first. Cost: these nodes. */
export function dirtyNodes(core: TrieCore): DirtyNode[] {
  const found: DirtyNode[] = []
  if (core.root !== NO_NODE) collect(core, core.root, [], found)
  return found
}

function collect(core: TrieCore, node: NodeHandle, path: number[], found: DirtyNode[]): void {
  const { words, bytes } = core.arena
  const word = node * HANDLE_WORDS
  if ((words[word]! & FLAG_DIRTY) === 0) return
  found.push({ node, path: Uint8Array.from(path) })
  const kind = words[word]! & KIND_MASK
  const detail = words[word + DETAIL_WORD]!
  const depth = path.length
  if (kind === NodeKind.Branch) {
    // The value of a branch, bit 16, is no node.
    for (let slot = 0; slot < 16; slot++) {
      if (((detail >>> slot) & 1) === 0) continue
      path.push(slot)
      collect(core, words[word + BODY_WORD + slot] as NodeHandle, path, found)
      path.length = depth
    }
  } else if (kind === NodeKind.Extension) {
    for (let at = depth; at < detail >>> 16; at++)
      path.push(nibbleAt(bytes, node * HANDLE_BYTES + KEY_OFFSET, at))
    collect(core, words[word + BODY_WORD] as NodeHandle, path, found)
    path.length = depth
  }
}
