/**
 * Random operations on a trie and on a model: a map of values, a map of stored nodes, and the naive tree of
 * `naiveTrie.suite.ts`. After a commit the stored nodes must be exactly the reachable ones. Reads are made to fail at
 * random; a failed operation must leave everything as it was.
 */
import assert from 'node:assert/strict'
import { NODES_OFFSET, NodeArena } from '../arena/index.ts'
import { bytesCompare, fromBareHex, isVarveError, toBareHex } from '../base/index.ts'
import { keccak256, useTrieNodeImplementation } from '../kernels/index.ts'
import { Prng } from '../testing/index.ts'
import { pathText } from './faults.ts'
import { type NaiveTree, naiveTree } from './naiveTrie.suite.ts'
import { mergeNodeSets, type NodeSet } from './nodeSet.ts'
import { verifyMultiProof, verifyProof } from './proof.ts'
import { Trie } from './trie.ts'

type TrieFuzzOptions = {
  readonly seed: number
  readonly implementation?: 'kernel' | 'reference'
  /** An arena so small that operations run into its limit. */
  readonly isArenaTight?: boolean
}

/** Runs the steps; throws at the first difference. Returns counts that show what was exercised. */
export function fuzzTrie(seed: number, stepCount: number): Record<string, number> {
  return run({ seed }, stepCount)
}

/** The same over the kernel's twin. */
export function fuzzTrieReference(seed: number, stepCount: number): Record<string, number> {
  return run({ seed, implementation: 'reference' }, stepCount)
}

/** The same in an arena that is full most of the time: an operation works whole, or throws and changes nothing. */
export function fuzzTrieTightArena(seed: number, stepCount: number): Record<string, number> {
  return run({ seed, isArenaTight: true }, stepCount)
}

function run(options: TrieFuzzOptions, stepCount: number): Record<string, number> {
  const fuzz = new TrieFuzz(options)
  for (let step = 0; step < stepCount; step++) fuzz.step()
  fuzz.finish()
  return fuzz.counts
}

/** How keys are made; each run uses one, so that collisions are frequent. */
const KEY_SHAPES = ['tinyAlphabet', 'fixed', 'sharedPrefix', 'anyLength', 'oneByte'] as const

class TrieFuzz {
  readonly counts: Record<string, number> = {}
  private readonly prng: Prng
  private readonly arena: NodeArena
  private readonly shape: (typeof KEY_SHAPES)[number]
  private readonly keyCount: number
  private readonly pool: Uint8Array[] = []
  private values = new Map<string, Uint8Array>()
  private modelTree: NaiveTree | undefined
  private modelOf: ReadonlyMap<string, Uint8Array> | undefined
  private committedValues = new Map<string, Uint8Array>()
  private stored = new Map<string, Uint8Array>()
  private trie: Trie
  /** Reads left until one fails; negative for never. */
  private readsUntilFault = -1
  private faultKind: 'missing' | 'changed' | 'thrown' = 'missing'
  private readonly bystander: Trie
  private readonly isArenaTight: boolean

  constructor(options: TrieFuzzOptions) {
    this.prng = new Prng(options.seed)
    this.isArenaTight = options.isArenaTight === true
    this.arena = new NodeArena({
      bytesMax: options.isArenaTight ? NODES_OFFSET + 2 ** 16 : 2 ** 26,
    })
    if (options.implementation !== undefined)
      useTrieNodeImplementation(this.arena, options.implementation)
    this.shape = this.prng.pick(KEY_SHAPES)
    this.keyCount = this.prng.pick([4, 12, 40, 120])
    for (let index = 0; index < this.keyCount; index++) this.pool.push(this.newKey())
    this.trie = this.open()
    // Another trie in the same arena must not notice anything.
    this.bystander = new Trie({ arena: this.arena })
    this.bystander.put(Uint8Array.of(1, 2), Uint8Array.of(3))
    if (options.isArenaTight)
      this.bystander.put(
        Uint8Array.of(1),
        this.prng.bytes(this.prng.pick([20_000, 40_000, 52_000])),
      )
  }

  step(): void {
    try {
      this.operate()
    } catch (fault) {
      if (!isVarveError(fault, 'ARENA_FULL')) throw fault
      this.count('arenaFull')
      this.checkRoot()
    }
  }

  private operate(): void {
    const roll = this.prng.below(100)
    if (roll < 45) this.update()
    else if (roll < 55) this.get()
    else if (roll < 65) this.checkRoot()
    else if (roll < 75) this.commit()
    else if (roll < 78) this.reopen()
    else if (roll < 82) this.shrink()
    else if (roll < 84) this.rollback()
    else if (roll < 89) this.iterate()
    else if (roll < 94) this.prove()
    else this.failingUpdate()
  }

  finish(): void {
    this.checkRoot()
    this.trie.dispose()
    assert.deepEqual(this.bystander.get(Uint8Array.of(1, 2)), Uint8Array.of(3))
    this.bystander.dispose()
    assert.equal(this.arena.usedBytes, 0, 'every node was freed')
  }

  /** The naive tree of the values, built anew only after they changed. */
  private model(): NaiveTree {
    if (this.modelTree === undefined || this.modelOf !== this.values) {
      this.modelTree = naiveTree(this.values)
      this.modelOf = this.values
    }
    return this.modelTree
  }

  private count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1
  }

  private open(): Trie {
    const { root } = this.model()
    return new Trie({
      arena: this.arena,
      root,
      reader: { readNode: (path, hash) => this.read(path, hash) },
    })
  }

  private read(path: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    const bytes = this.stored.get(pathText(path))
    if (bytes !== undefined) assert.deepEqual(keccak256(bytes), hash, 'the node asked for')
    if (this.readsUntilFault-- !== 0 || bytes === undefined) return bytes
    this.count('fault')
    if (this.faultKind === 'missing') return undefined
    if (this.faultKind === 'thrown') throw new Error('the reader failed')
    const changed = Uint8Array.from(bytes)
    changed[this.prng.below(changed.length)]! ^= 1 << this.prng.below(8)
    return changed
  }

  private newKey(): Uint8Array {
    const { prng } = this
    switch (this.shape) {
      case 'tinyAlphabet':
        return Uint8Array.from({ length: prng.between(0, 5) }, () => prng.pick([0, 1, 0x10, 0x11]))
      case 'fixed':
        return prng.bytes(32)
      case 'sharedPrefix': {
        const key = new Uint8Array(32).fill(7)
        for (let change = prng.between(1, 3); change > 0; change--)
          key[prng.pick([0, 15, 30, 31])] = prng.pick([7, 8, 0x17, 0x77])
        return key
      }
      case 'anyLength':
        return prng.bytes(prng.pick([0, 1, 2, 3, 31, 32, 33, 55, 56, 57, 254, 255]))
      case 'oneByte':
        return prng.bytes(1)
    }
  }

  private key(): Uint8Array {
    if (this.prng.oneIn(20)) return this.newKey()
    const key = this.prng.pick(this.pool)
    return this.prng.oneIn(30) ? key.subarray(0, this.prng.between(0, key.length)) : key
  }

  private value(): Uint8Array {
    const { prng } = this
    if (prng.oneIn(3000)) return prng.bytes(prng.pick([65_535, 65_536, 262_144, 300_000]))
    if (prng.oneIn(3)) return Uint8Array.of(prng.pick([0, 1, 0x7f, 0x80, 0xff]))
    return prng.bytes(prng.pick([1, 2, 5, 20, 29, 30, 31, 32, 33, 54, 55, 56, 57, 110, 255, 256]))
  }

  private changes(): { key: Uint8Array; value: Uint8Array | undefined }[] {
    const { prng } = this
    const deleteShare = prng.pick([0, 2, 5, 9, 10])
    return Array.from({ length: prng.pick([1, 1, 1, 2, 3, 8, 30]) }, () => {
      const key = this.key()
      const known = this.values.get(toBareHex(key))
      if (prng.below(10) < deleteShare)
        return { key, value: prng.oneIn(5) ? new Uint8Array(0) : undefined }
      return {
        key,
        value: known !== undefined && prng.oneIn(6) ? Uint8Array.from(known) : this.value(),
      }
    })
  }

  private update(): void {
    this.count('update')
    const changes = this.changes()
    const copies = changes.map(({ key, value }) => ({ key: key.slice(), value: value?.slice() }))
    this.trie.update(copies)
    // What was handed in stays the caller's.
    for (const { key, value } of copies) {
      key.fill(0xee)
      value?.fill(0xee)
    }
    this.applyToModel(changes)
  }

  private applyToModel(
    changes: readonly { key: Uint8Array; value: Uint8Array | undefined }[],
  ): void {
    this.modelTree = undefined
    for (const { key, value } of changes)
      if (value === undefined || value.length === 0) this.values.delete(toBareHex(key))
      else this.values.set(toBareHex(key), value)
  }

  private get(): void {
    this.count('get')
    const key = this.key()
    assert.deepEqual(this.trie.get(key), this.values.get(toBareHex(key)))
  }

  private checkRoot(): void {
    this.count('root')
    assert.equal(toBareHex(this.trie.root()), toBareHex(this.model().root))
  }

  private commit(): void {
    this.count('commit')
    const parent = this.stored
    if (this.prng.oneIn(4)) {
      const first = this.trie.commit()
      this.applyNodeSet(first)
      this.committedValues = new Map(this.values)
      this.update()
      const second = this.trie.commit()
      this.stored = parent
      this.applyNodeSet(mergeNodeSets(first, second))
    } else {
      const set = this.trie.commit({ leaves: true })
      this.checkLeaves(set)
      this.applyNodeSet(set)
    }
    const expected = this.model()
    assert.deepEqual(
      [...this.stored.keys()].sort(),
      [...expected.nodes.keys()].sort(),
      'paths stored are the paths reachable',
    )
    for (const [path, bytes] of expected.nodes) assert.deepEqual(this.stored.get(path), bytes, path)
    this.committedValues = new Map(this.values)
    const again = this.trie.commit()
    assert.equal(again.nodes.length + again.deletions.length, 0, 'nothing is left to commit')
  }

  /** Checks a set against the stored nodes and applies it to a copy of them. */
  private applyNodeSet(set: NodeSet): void {
    const stored = new Map(this.stored)
    const seen = new Set<string>()
    for (const { path, hash, bytes, previous } of set.nodes) {
      const text = pathText(path)
      assert.ok(!seen.has(text), 'a path is written once')
      for (let length = 0; length < text.length; length++)
        assert.ok(!seen.has(text.slice(0, length)), 'children come before parents')
      seen.add(text)
      assert.deepEqual(
        previous,
        this.stored.get(text),
        'previous bytes are those of the parent state',
      )
      assert.notDeepEqual(previous, bytes, 'what is written is new')
      assert.deepEqual(keccak256(bytes), hash)
      stored.set(text, bytes)
    }
    for (const { path, previous } of set.deletions) {
      const text = pathText(path)
      assert.ok(!seen.has(text), 'a path is written or deleted, once')
      seen.add(text)
      assert.deepEqual(previous, this.stored.get(text), 'what is deleted was there')
      stored.delete(text)
    }
    assert.equal(toBareHex(set.root), toBareHex(this.trie.root()))
    this.stored = stored
  }

  private checkLeaves(set: NodeSet): void {
    const written = new Map(
      set.nodes.map(({ hash, bytes }) => [toBareHex(hash), toBareHex(bytes)] as const),
    )
    const listed = new Set<string>()
    for (const { key, value, parentHash } of set.leaves) {
      const text = toBareHex(key)
      assert.ok(!listed.has(text), 'a leaf is listed once')
      listed.add(text)
      assert.deepEqual(this.values.get(text), value)
      const parent = written.get(toBareHex(parentHash))
      assert.ok(parent?.includes(toBareHex(value)), 'the node that holds a leaf is written')
    }
    for (const [key, value] of this.values)
      if (toBareHex(this.committedValues.get(key) ?? new Uint8Array(0)) !== toBareHex(value))
        assert.ok(listed.has(key), 'every new value is listed')
  }

  private reopen(): void {
    this.count('reopen')
    const before = this.bystander.usedBytes
    this.commit()
    this.trie.dispose()
    assert.equal(this.arena.usedBytes, before, 'a disposed trie holds nothing')
    this.trie = this.open()
  }

  private shrink(): void {
    const before = this.trie.usedBytes
    const bytesMax = this.prng.pick([0, 100, 1000, before >> 1])
    const isChanged = this.trie.isChanged
    const freed = this.trie.shrink(bytesMax)
    assert.equal(before - freed, this.trie.usedBytes)
    // In a full arena a stub may sit in a bigger slot.
    if (!isChanged && !this.isArenaTight)
      assert.ok(this.trie.usedBytes <= Math.max(bytesMax, 40), 'shrunk as far as asked')
    this.count(freed > 0 ? 'shrink' : 'shrinkNothing')
  }

  private rollback(): void {
    this.count('rollback')
    this.trie.rollback()
    this.values = new Map(this.committedValues)
    assert.equal(this.trie.isChanged, false)
  }

  private iterate(): void {
    this.count('iterate')
    const { prng } = this
    const start = prng.oneIn(2) ? undefined : this.key()
    const end = prng.oneIn(2) ? undefined : this.key()
    const interrupt = prng.oneIn(3) ? prng.below(10) : -1
    let last: Uint8Array | undefined
    let given = 0
    let expected = this.keysFrom(start, false, end)
    const options = { ...(start && { start }), ...(end && { end }) }
    for (const { key, value } of this.trie.entries(options)) {
      assert.equal(toBareHex(key), expected[0], 'the next key')
      assert.deepEqual(value, this.values.get(expected.shift()!))
      last = key
      if (given++ === interrupt) {
        this.count('iterateInterrupted')
        prng.pick([
          () => this.update(),
          () => this.commit(),
          () => this.shrink(),
          () => this.iterate(),
          () => this.get(),
        ])()
        expected = this.keysFrom(last, true, end)
      }
      if (prng.oneIn(40)) return
    }
    assert.equal(expected.length, 0, 'all keys were given')
  }

  private keysFrom(
    start: Uint8Array | undefined,
    isPast: boolean,
    end: Uint8Array | undefined,
  ): string[] {
    return [...this.values.keys()]
      .map((text) => fromBareHex(text))
      .filter((key) => start === undefined || bytesCompare(key, start) >= (isPast ? 1 : 0))
      .filter((key) => end === undefined || bytesCompare(key, end) < 0)
      .sort(bytesCompare)
      .map(toBareHex)
  }

  private prove(): void {
    this.count('prove')
    const { prng } = this
    const keys = Array.from({ length: prng.pick([1, 1, 1, 2, 5]) }, () => this.key())
    const root = this.model().root
    const proof = this.trie.prove(keys)
    const answers = verifyMultiProof({ root, keys, proof })
    keys.forEach((key, index) => {
      const value = this.values.get(toBareHex(key))
      assert.deepEqual(
        answers[index],
        value === undefined ? { kind: 'absent' } : { kind: 'present', value },
      )
    })
    if (proof.length === 0) return
    this.count('proveDamaged')
    const damaged = proof.map((node) => node.slice())
    const node = prng.pick(damaged)
    node[prng.below(node.length)]! ^= 1 << prng.below(8)
    const invalid = { code: 'PROOF_INVALID' }
    const key = keys[0]!
    assert.throws(() => verifyMultiProof({ root, keys, proof: damaged }), invalid)
    assert.throws(() => verifyMultiProof({ root, keys, proof: [...proof, proof[0]!] }), invalid)
    assert.throws(
      () => verifyMultiProof({ root, keys, proof: [...proof, prng.bytes(40)] }),
      invalid,
    )
    assert.throws(() => verifyMultiProof({ root, keys, proof: proof.slice(0, -1) }), invalid)
    assert.throws(
      () => verifyProof({ root: keccak256(root), key, proof: this.trie.prove([key]) }),
      invalid,
    )
  }

  /** An operation whose n-th read fails: it throws, and nothing has changed. */
  private failingUpdate(): void {
    const { prng } = this
    if (!this.trie.isChanged && prng.oneIn(2)) this.trie.shrink(0)
    this.faultKind = prng.pick(['missing', 'changed', 'thrown'])
    this.readsUntilFault = prng.below(4)
    const changes = this.changes()
    try {
      prng.pick([
        () => {
          this.trie.update(changes)
          this.applyToModel(changes)
        },
        () => this.get(),
        () => this.prove(),
        () => this.iterate(),
      ])()
      this.count('faultNotReached')
    } catch (fault) {
      const isExpected =
        isVarveError(fault, 'TRIE_NODE_MISSING') ||
        isVarveError(fault, 'TRIE_NODE_INVALID') ||
        (fault instanceof Error && fault.message === 'the reader failed')
      if (!isExpected) throw fault
      this.count('faultThrown')
    } finally {
      this.readsUntilFault = -1
    }
    this.checkRoot()
  }
}
