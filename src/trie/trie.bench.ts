/**
 * The shapes of go-ethereum's trie benchmarks: accounts with random addresses, nonces and balances, put into an empty
 * trie, hashed, committed; each step timed apart, sizes as the names say. And what a block does: a few changes to a
 * trie that is there, and its root.
 */
import { NodeArena } from '../arena/index.ts'
import { bytesConcat, EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, toBareHex } from '../base/index.ts'
import { encodeRlp } from '../codec/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { type BenchMode, bench, Prng, report, timeNs } from '../testing/index.ts'
import { verifyProof } from './proof.ts'
import { Trie } from './trie.ts'

type Pair = { readonly key: Uint8Array; readonly value: Uint8Array }

/** An account as in AfterHash: a nonce of 63 bits, a balance of 0 to 32 bytes, no storage, no code; 78 to 110 bytes. */
function accounts(prng: Prng, count: number): Pair[] {
  return Array.from({ length: count }, () => {
    const nonce = prng.bytes(8)
    nonce[0]! &= 0x7f
    const balance = prng.bytes(prng.between(0, 32))
    if (balance.length > 0) balance[0]! |= 1
    const key = keccak256(prng.bytes(20))
    return { key, value: encodeRlp([nonce, balance, EMPTY_TRIE_ROOT, EMPTY_CODE_HASH]) }
  })
}

function afterHash(mode: BenchMode, count: number): void {
  const pairs = accounts(new Prng(count), count)
  const arena = new NodeArena()
  const runCount = mode === 'smoke' ? 1 : Math.max(9, Math.min(300, Math.round(1_000_000 / count)))
  const steps = { put: [] as number[], hash: [] as number[], commit: [] as number[] }
  const total: number[] = []
  let check = ''
  for (let run = 0; run < runCount; run++) {
    const trie = new Trie({ arena })
    const put = timeNs(() => trie.update(pairs)) / count
    const hash = timeNs(() => trie.root()) / count
    // Reading the entries makes the views that a consumer takes.
    const commit =
      timeNs(() => {
        const { nodes, root } = trie.commit()
        check = `${toBareHex(root).slice(0, 8)}.${nodes.length}`
      }) / count
    steps.put.push(put)
    steps.hash.push(hash)
    steps.commit.push(commit)
    total.push(put + hash + commit)
    trie.dispose()
  }
  for (const [step, samples] of Object.entries(steps))
    report({ name: `${count} accounts: ${step}, a leaf`, unit: 'ns', samples, check })
  report({
    name: `${count} accounts: put, hash and commit, a leaf`,
    unit: 'ns',
    samples: total,
    check,
  })
}

bench('build, hash and commit of accounts', (mode) => {
  for (const count of mode === 'full' ? [10, 100, 1000, 10_000, 100_000] : [10, 100])
    afterHash(mode, count)
})

bench('random keys and root', (mode) => {
  const count = mode === 'full' ? 100_000 : 100
  const prng = new Prng(2)
  const pairs = Array.from({ length: count }, () => ({
    key: prng.bytes(32),
    value: prng.bytes(32),
  }))
  const arena = new NodeArena()
  let check = ''
  const samples = Array.from({ length: mode === 'full' ? 9 : 1 }, () => {
    const trie = new Trie({ arena })
    const took = timeNs(() => {
      trie.update(pairs)
      check = toBareHex(trie.root())
    })
    trie.dispose()
    return took / count
  })
  report({ name: `${count} random keys and root, a key`, unit: 'ns', samples, check })
})

bench('small updates of a live trie', (mode) => {
  const count = mode === 'full' ? 9000 : 90
  const stepCount = mode === 'full' ? 500 : 5
  const prng = new Prng(3)
  const pairs = accounts(prng, count)
  const values = accounts(prng, 1000).map(({ value }) => value)
  const trie = new Trie({ arena: new NodeArena() })
  trie.update(pairs)
  trie.commit()
  const change = () => ({ key: prng.pick(pairs).key, value: prng.pick(values) })
  const measure = (name: string, afterwards: () => void): void => {
    const samples = Array.from({ length: mode === 'full' ? 40 : 1 }, () => {
      const batches = Array.from({ length: stepCount }, () => [change(), change()])
      return (
        timeNs(() => {
          for (const batch of batches) {
            trie.update(batch)
            trie.root()
            afterwards()
          }
        }) /
        stepCount /
        1000
      )
    })
    report({ name, unit: 'us', samples, check: toBareHex(trie.root()) })
  }
  measure(`2 of ${count} accounts: update and root`, () => {})
  measure(`2 of ${count} accounts: update, root and commit`, () => trie.commit())
  trie.dispose()
})

bench('get, prove, verify', (mode) => {
  const count = mode === 'full' ? 100_000 : 100
  const pairs = accounts(new Prng(4), count)
  const trie = new Trie({ arena: new NodeArena() })
  trie.update(pairs)
  const root = trie.root()
  const asked = pairs.filter((_, index) => index % (mode === 'full' ? 50 : 5) === 0)
  const runCount = mode === 'full' ? 15 : 1
  const measure = (name: string, one: (pair: Pair) => Uint8Array): void => {
    let check: Uint8Array = new Uint8Array(0)
    const samples = Array.from({ length: runCount }, () => {
      const took = timeNs(() => {
        for (const pair of asked) check = one(pair)
      })
      return took / asked.length
    })
    report({ name, unit: 'ns', samples, check: toBareHex(keccak256(check)) })
  }
  measure(`get of ${count} accounts`, ({ key }) => trie.get(key)!)
  measure(`prove one of ${count} accounts`, ({ key }) => bytesConcat(...trie.prove([key])))
  const proofs = new Map(asked.map((pair) => [pair, trie.prove([pair.key])]))
  measure(`verify a proof of ${count} accounts`, (pair) => {
    const answer = verifyProof({ root, key: pair.key, proof: proofs.get(pair)! })
    return answer.kind === 'present' ? answer.value : new Uint8Array(0)
  })
  trie.dispose()
})
