/** Fuzzing of block decoding: mutated blocks are refused with a code, or encode to the same bytes again. */
import assert from 'node:assert/strict'
import { isVarveError, toHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { decodeBlock, encodeBlock } from './block.ts'
import { mutate } from './rlp.fuzz.ts'
import { decodeRlp, encodeRlp, type RlpInput, type RlpItem } from './rlp.ts'
import { encodeTransaction } from './transaction.ts'

/**
 * @param seed printed with any failure
 * @param blocks valid blocks to start from
 */
export function fuzzBlocks(seed: number, stepCount: number, blocks: readonly Uint8Array[]): void {
  const random = new Prng(seed)
  let acceptCount = 0
  for (let step = 0; step < stepCount; step++) {
    const bytes = random.pick(blocks)
    // Changing a field and fitting the lists around it gets deeper than changing bytes.
    const mutant = random.oneIn(3)
      ? mutate(random, bytes)
      : encodeRlp(mutateTree(random, decodeRlp(bytes)))
    const where = `seed ${seed} step ${step}`
    let block: ReturnType<typeof decodeBlock>
    try {
      block = decodeBlock(mutant)
    } catch (error) {
      assert.ok(isVarveError(error), `${where}: ${error}`)
      continue
    }
    acceptCount++
    assert.equal(toHex(encodeBlock(block)), toHex(mutant), where)
    for (const transaction of block.transactions)
      assert.equal(toHex(encodeTransaction(transaction)), toHex(transaction.raw), where)
  }
  assert.ok(acceptCount > 0 && acceptCount < stepCount, `${acceptCount} of ${stepCount} accepted`)
}

/** Changes one item somewhere in the tree; a typed transaction counts as a tree of its own now and then. */
function mutateTree(random: Prng, item: RlpItem): RlpInput {
  if (item instanceof Uint8Array) {
    const type = item[0] ?? 0
    if (type >= 1 && type <= 4 && item[1]! >= 0xf8 && item.length > 60 && random.oneIn(2)) {
      const inner = encodeRlp(mutateTree(random, decodeRlp(item.subarray(1))))
      return Uint8Array.from([type, ...inner])
    }
    return random.oneIn(8) ? [] : mutate(random, item)
  }
  if (item.length === 0 || random.oneIn(12)) {
    const list = [...item] as RlpInput[]
    const at = random.below(list.length + 1)
    if (random.oneIn(2)) list.splice(at, 1)
    else list.splice(at, 0, random.oneIn(2) ? [] : random.bytes(random.pick([0, 1, 20, 32])))
    return list
  }
  const at = random.below(item.length)
  return item.map((inner, index) => (index === at ? mutateTree(random, inner) : inner))
}
