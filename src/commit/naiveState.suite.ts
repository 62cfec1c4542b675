/** The model that tests compare summaries with: the tries of a whole state, built from nothing each time. */
import { toBareHex, toHex } from '../base/index.ts'
import { type HashKey, hashOfKey } from '../state/index.ts'
import type { ModelState } from '../state/layers/model.suite.ts'
import { type NaiveTree, naiveTree } from '../trie/naiveTrie.suite.ts'
import { encodeAccountLeaf, encodeSlotLeaf } from './accountLeaf.ts'

/** A whole state as naive trees: nodes by path, a hex digit a nibble. */
export class NaiveState {
  readonly accounts: NaiveTree
  readonly storages = new Map<HashKey, NaiveTree>()

  constructor(state: ModelState) {
    const leaves = new Map<string, Uint8Array>()
    for (const [key, { account, slots }] of state) {
      if (account === undefined) continue
      const values = [...slots].map(
        ([slot, value]) => [toBareHex(hashOfKey(slot)), encodeSlotLeaf(value)] as const,
      )
      const tree = naiveTree(new Map(values))
      this.storages.set(key, tree)
      leaves.set(toBareHex(hashOfKey(key)), encodeAccountLeaf(account, tree.root))
    }
    this.accounts = naiveTree(leaves)
  }

  get root(): string {
    return toHex(this.accounts.root)
  }

  /** `place` is '' for the account trie, else the key of a storage trie's account. */
  node(place: HashKey | '', path: string): Uint8Array | undefined {
    const tree = place === '' ? this.accounts : this.storages.get(place)
    return tree?.nodes.get(path)
  }
}
