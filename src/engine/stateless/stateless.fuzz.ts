/**
 * Random chains with contracts, verified twice: by an engine with the whole state, the naive model, and by witness.
 * Of each block the witness is made and replayed; then it is damaged (an entry dropped, a byte changed, lists swapped or
 * reversed), or the block is (a header field). What the engine accepts is accepted by its witness, what it refuses is
 * refused for the same reason; a damaged witness is refused by code or plays no part.
 */
import assert from 'node:assert/strict'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { Fork, fromHex, isVarveError, toHex, type VarveError } from '../../base/index.ts'
import { type Genesis, parseGenesisJson, singleForkSpec } from '../../chain/index.ts'
import {
  addressOfPublicKey,
  type Block,
  decodeBlock,
  encodeBlock,
  sealHeader,
  sealTransaction,
  signingHash,
  type Transaction,
  type Withdrawal,
} from '../../codec/index.ts'
import { memoryStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { type Engine, openEngine } from '../engine.ts'
import { addressOf } from '../testChain.suite.ts'
import { StatelessExecutor, type StatelessResult } from './statelessExecutor.ts'
import { type BlockWitness, witnessFromJson, witnessToJson } from './witness.ts'

/** Forks whose rules of state, receipts and block hashes differ. */
const FORKS = [Fork.Frontier, Fork.SpuriousDragon, Fork.Byzantium, Fork.Shanghai, Fork.Cancun]

/**
 * Takes its orders from the call's data, a byte each word: slot, value (0 clears), an address to look at, a block to
 * ask the hash of.
 *   SSTORE(d0, d32); BALANCE(d64); EXTCODESIZE(d64); BLOCKHASH(NUMBER - d96)
 */
const WORKER = '0x60203560003555604035316040353b5060603543034050'
/** Destroys itself in favour of the address in its data. */
const MORTAL = '0x600035ff'
/** Sets slot 0 and leaves one byte of code. */
const INIT_CODE = '0x60016000556001600160005360016000f3'
const workers = [0xc1, 0xc2, 0xc3].map(addressOf)
const mortals = [0xd1, 0xd2].map(addressOf)

/** Runs a chain of `stepCount` blocks; throws at the first difference. Returns counts of what was exercised. */
export async function fuzzStateless(
  seed: number,
  stepCount: number,
): Promise<Record<string, number>> {
  const fuzz = await StatelessFuzz.open(new Prng(seed))
  for (let step = 0; step < stepCount; step++) fuzz.step()
  return fuzz.counts
}

class StatelessFuzz {
  readonly counts = { blocks: 0, refusedBlocks: 0, refused: 0, harmless: 0, ancestors: 0 }
  private readonly prng: Prng
  private readonly engine: Engine
  private readonly executor: StatelessExecutor
  /** Makes what the engine is given: a chain of its own, since an engine accepts what it makes. */
  private readonly maker: Engine

  private constructor(
    prng: Prng,
    parts: { engine: Engine; maker: Engine; executor: StatelessExecutor },
  ) {
    this.prng = prng
    this.engine = parts.engine
    this.maker = parts.maker
    this.executor = parts.executor
  }

  static async open(prng: Prng): Promise<StatelessFuzz> {
    const genesis = genesisOf(FORKS[prng.below(FORKS.length)]!)
    return new StatelessFuzz(prng, {
      engine: await openEngine({ store: memoryStore(), genesis }),
      maker: await openEngine({ store: memoryStore(), genesis }),
      executor: await StatelessExecutor.open({ spec: genesis.spec }),
    })
  }

  step(): void {
    const block = this.randomBlock()
    this.checkRefused(block)
    const { witness, fault } = this.engine.recordWitness(block)
    assert.equal(fault, undefined)
    this.engine.import(block)
    assert.deepEqual(this.engine.witness('latest'), witness)
    if (witness.headers.length > 1) this.counts.ancestors++
    const expected = this.executor.execute(block, witnessFromJson(witnessToJson(witness)))
    assert.deepEqual(expected.receipts, this.engine.receipts('latest'))
    const padded = { ...witness, state: [...witness.state].reverse().concat(this.prng.bytes(40)) }
    assert.deepEqual(this.executor.reduce(block, padded), witness)
    this.counts.blocks++
    for (let round = 0; round < 12; round++) this.checkDamaged(block, witness, expected)
  }

  /** The same block with one claim of its header changed. */
  private checkRefused(block: Block): void {
    const wrong = this.spoiled(block)
    const { witness, fault } = this.engine.recordWitness(wrong)
    assert.ok(fault !== undefined)
    const found = faultOf(() => this.executor.execute(wrong, witness))
    assert.equal(found.code, fault.code)
    assert.throws(
      () => this.engine.import(wrong),
      (error) => isVarveError(error, fault.code),
    )
    this.counts.refusedBlocks++
    for (let round = 0; round < 4; round++) {
      const damaged = damage(witness, this.prng)
      if (damaged !== undefined) faultOf(() => this.executor.execute(wrong, damaged))
    }
  }

  private checkDamaged(block: Block, witness: BlockWitness, expected: StatelessResult): void {
    const damaged = damage(witness, this.prng)
    if (damaged === undefined) return
    let result: StatelessResult
    try {
      result = this.executor.execute(block, damaged)
    } catch (error) {
      assert.ok(isVarveError(error) && isRefusal(error.code), String(error))
      this.counts.refused++
      return
    }
    assert.deepEqual(result, expected)
    this.counts.harmless++
  }

  private randomBlock(): Block {
    const { prng, maker } = this
    const parent = maker.head.header
    const count = prng.below(6)
    const nonce = maker.at('latest').account(SENDER)?.nonce ?? 0n
    const block = maker.produce({
      coinbase: addressOf(prng.between(0xa0, 0xa3)),
      timestamp: parent.timestamp + BigInt(prng.between(1, 20)),
      transactions: Array.from({ length: count }, (_, index) =>
        this.randomTransaction(nonce + BigInt(index)),
      ),
      ...(parent.withdrawalsRoot !== undefined && prng.below(3) === 0
        ? { withdrawals: [withdrawalTo(addressOf(prng.between(0xe0, 0xef)))] }
        : {}),
    })
    return decodeBlock(encodeBlock(block))
  }

  private randomTransaction(nonce: bigint): Transaction {
    const { prng } = this
    const value = BigInt(prng.below(3))
    const choice = prng.below(6)
    if (choice === 0) {
      const heir = word(prng.between(0xe0, 0xef))
      return transactionOf(nonce, mortals[prng.below(mortals.length)]!, heir, value)
    }
    if (choice === 1) return transactionOf(nonce, undefined, fromHex(INIT_CODE), value)
    return transactionOf(nonce, workers[prng.below(workers.length)]!, this.randomOrders(), value)
  }

  private randomOrders(): Uint8Array {
    const { prng } = this
    const orders = new Uint8Array(128)
    orders[31] = prng.below(12)
    orders[63] = prng.below(2) * prng.below(256)
    orders.set(word(prng.between(0xc0, 0xef)), 64)
    orders[127] = prng.below(4) === 0 ? prng.between(1, 9) : 1
    return orders
  }

  private spoiled(block: Block): Block {
    const { prng } = this
    const { header } = block
    const changes = [
      { stateRoot: prng.bytes(32) },
      { gasUsed: header.gasUsed + 1n },
      { receiptsRoot: prng.bytes(32) },
      { transactionsRoot: prng.bytes(32) },
      { timestamp: 0n },
      { gasLimit: header.gasLimit * 2n },
    ]
    return { ...block, header: sealHeader({ ...header, ...changes[prng.below(changes.length)] }) }
  }
}

const KEY = new Uint8Array(32).fill(7)
const SENDER = addressOfPublicKey(secp256k1.getPublicKey(KEY, false).subarray(1))

function transactionOf(
  nonce: bigint,
  to: Uint8Array | undefined,
  data: Uint8Array,
  value: bigint,
): Transaction {
  const fields = { type: 0 as const, chainId: undefined, gasPrice: 2_000_000_000n, to, data, value }
  const unsigned = { ...fields, nonce, gasLimit: 300_000n }
  const signature = secp256k1.sign(signingHash(unsigned), KEY, {
    prehash: false,
    format: 'recovered',
  })
  const { r, s, recovery } = secp256k1.Signature.fromBytes(signature, 'recovered')
  return sealTransaction({ ...unsigned, r, s, yParity: recovery === 1 ? 1 : 0 })
}

/** A word that is the address made of one repeated byte. */
function word(byte: number): Uint8Array {
  const bytes = new Uint8Array(32)
  bytes.set(addressOf(byte), 12)
  return bytes
}

function withdrawalTo(address: Uint8Array): Withdrawal {
  return { index: 0n, validatorIndex: 0n, address, amount: 1n }
}

function genesisOf(fork: Fork): Genesis {
  const alloc: Record<string, unknown> = {
    [toHex(SENDER)]: { balance: '0xffffffffffffffffffff' },
  }
  const storage = Object.fromEntries(
    [0, 1, 2, 3, 4, 5].map((slot) => [toHex(new Uint8Array(32).fill(slot, 31)), '0x01']),
  )
  for (const address of workers) alloc[toHex(address)] = { balance: '0x1', code: WORKER, storage }
  for (const address of mortals) alloc[toHex(address)] = { balance: '0x9', code: MORTAL, storage }
  for (let byte = 1; byte < 40; byte++) alloc[toHex(addressOf(byte))] = { balance: '0x5' }
  const file = { config: { chainId: 1 }, difficulty: '0x20000', gasLimit: '0x1c9c380', alloc }
  return { ...parseGenesisJson(JSON.stringify(file)), spec: singleForkSpec(fork) }
}

/** A copy with one thing changed, or `undefined` where there is nothing to change. */
export function damage(witness: BlockWitness, prng: Prng): BlockWitness | undefined {
  const lists = {
    state: witness.state.slice(),
    codes: witness.codes.slice(),
    headers: witness.headers.slice(),
  }
  const name = (['state', 'state', 'codes', 'headers'] as const)[prng.below(4)]!
  const list = lists[name]
  if (list.length === 0) return undefined
  const index = prng.below(list.length)
  const choice = prng.below(5)
  if (choice === 0) list.splice(index, 1)
  else if (choice === 1) list[index] = flipped(list[index]!, prng)
  else if (choice === 2) list.reverse()
  else if (choice === 3) list.push(prng.bytes(prng.below(80)))
  else list[index] = lists.state[0] ?? new Uint8Array(0)
  return lists
}

function flipped(bytes: Uint8Array, prng: Prng): Uint8Array {
  const copy = bytes.slice()
  if (copy.length > 0) copy[prng.below(copy.length)]! ^= 1 << prng.below(8)
  return copy
}

/** Nothing of a damaged witness reaches as far as the rules of a block: it is refused as a witness. */
export function isRefusal(code: string): boolean {
  return /^(WITNESS|TRIE_NODE|SUMMARY_LEAF)_/.test(code)
}

function faultOf(work: () => unknown): VarveError {
  try {
    work()
  } catch (error) {
    if (isVarveError(error)) return error
    throw error
  }
  assert.fail('accepted, though the block is not valid')
}
