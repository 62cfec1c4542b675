/** Fuzzing of RLP: random trees survive a round trip; random and mutated bytes are refused or survive one, too. */
import assert from 'node:assert/strict'
import { isVarveError, toHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { decodeRlp, encodeRlp, type RlpInput, type RlpItem } from './rlp.ts'

/** Lengths where the form changes, and neighbours. */
const LENGTHS = [0, 1, 2, 31, 32, 33, 54, 55, 56, 57, 255, 256, 257, 1000]

/** @param seed printed with any failure */
export function fuzzRlp(seed: number, stepCount: number): void {
  const random = new Prng(seed)
  for (let step = 0; step < stepCount; step++) {
    const tree = randomTree(random, 5)
    const bytes = encodeRlp(tree)
    const where = `seed ${seed} step ${step}`
    assert.deepEqual(plain(decodeRlp(bytes)), plain(tree as RlpItem), where)
    const mutant = mutate(random, bytes)
    let decoded: RlpItem
    try {
      decoded = decodeRlp(mutant)
    } catch (error) {
      assert.ok(isVarveError(error) && error.code.startsWith('RLP_'), `${where}: ${error}`)
      continue
    }
    assert.equal(toHex(encodeRlp(decoded)), toHex(mutant), where)
  }
}

/** Changes, removes, inserts or repeats a few bytes. Shared by the other fuzzers of this folder. */
export function mutate(random: Prng, bytes: Uint8Array): Uint8Array {
  const list = [...bytes]
  for (let count = random.between(1, 3); count > 0; count--) {
    const at = random.below(list.length + 1)
    switch (random.below(5)) {
      case 0:
        if (at < list.length) list[at]! ^= 1 << random.below(8)
        break
      case 1:
        list.splice(at, random.between(1, 4))
        break
      case 2:
        list.splice(at, 0, ...random.bytes(random.between(1, 4)))
        break
      case 3:
        list.length = at
        break
      default:
        if (at < list.length)
          list[at] = random.pick([0, 0x7f, 0x80, 0x81, 0xb7, 0xb8, 0xc0, 0xf7, 0xf8, 0xff])
    }
  }
  return Uint8Array.from(list)
}

function randomTree(random: Prng, depthMax: number): RlpInput {
  if (depthMax > 0 && random.oneIn(3)) {
    const list: RlpInput[] = []
    for (let count = random.below(6); count > 0; count--)
      list.push(randomTree(random, depthMax - 1))
    return list
  }
  const bytes = random.bytes(random.oneIn(2) ? random.below(4) : random.pick(LENGTHS))
  return bytes
}

function plain(item: RlpItem): unknown {
  return item instanceof Uint8Array ? toHex(item) : item.map(plain)
}
