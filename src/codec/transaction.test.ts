/**
 * Aim: accept exactly the transactions that the published vectors accept, fork by fork, with their hash, sender and
 * intrinsic gas. Method: the vectors whole, then each rule by a hand-made transaction.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Fork,
  type ForkName,
  forkByName,
  fromHex,
  isVarveError,
  toHex,
} from '../base/index.ts'
import { fixtureRecords, fixturesMissing } from '../testing/index.ts'
import { decodeRlp, encodeRlp, encodeRlpWithPrefix, type RlpInput } from './rlp.ts'
import { SenderRecovery } from './sender.ts'
import { ADDRESS, fuzzTransactions, HASH, TRANSACTIONS } from './transaction.fuzz.ts'
import {
  decodeTransaction,
  encodeTransaction,
  sealTransaction,
  type TransactionFields,
} from './transaction.ts'
import { SECP256K1_ORDER } from './transactionReaders.ts'
import { validateTransaction } from './transactionRules.ts'

type Expected = {
  readonly hash?: string
  readonly sender?: string
  readonly intrinsicGas: string
  readonly exception?: string
}
type TransactionCase = {
  readonly txbytes: string
  readonly result: Record<string, Expected>
}

/** Names of the vectors that differ from ours. */
const FORK_ALIASES: Record<string, ForkName> = {
  EIP150: 'TangerineWhistle',
  EIP158: 'SpuriousDragon',
  ConstantinopleFix: 'Petersburg',
}

test('published transaction vectors (ethereum/tests TransactionTests)', {
  skip: fixturesMissing('TransactionTests', 'github.com/ethereum/tests'),
}, async () => {
  const recovery = await SenderRecovery.open()
  let fileCount = 0
  let caseCount = 0
  let acceptCount = 0
  for await (const record of fixtureRecords<{ tests: Record<string, TransactionCase> }>(
    'et-transaction',
  )) {
    fileCount++
    for (const [name, vector] of Object.entries(record.tests))
      for (const [forkName, expected] of Object.entries(vector.result)) {
        caseCount++
        const fork = forkByName(FORK_ALIASES[forkName] ?? forkName)
        const found = judge(recovery, vector.txbytes, fork)
        const where = `${name} ${forkName}: expected ${JSON.stringify(expected)}`
        if (expected.exception !== undefined) {
          assert.equal(typeof found, 'string', `${where}, was accepted`)
          continue
        }
        acceptCount++
        assert.ok(typeof found === 'object', `${where}, got ${found}`)
        assert.equal(found.hash, expected.hash, where)
        assert.equal(found.sender, expected.sender, where)
        assert.equal(found.intrinsicGas, Number(expected.intrinsicGas), where)
        assert.equal(found.encoded, vector.txbytes, where)
      }
  }
  assert.equal(fileCount, 210)
  assert.equal(caseCount, 2665)
  assert.equal(acceptCount, 606)
})

/** What a transaction is worth under a fork, or the code it is refused with. */
function judge(recovery: SenderRecovery, text: string, fork: Fork) {
  try {
    const transaction = decodeTransaction(fromHex(text))
    const intrinsicGas = validateTransaction(transaction, { fork, chainId: 1n })
    return {
      hash: toHex(transaction.hash),
      sender: toHex(recovery.recoverSender(transaction)),
      intrinsicGas,
      encoded: toHex(encodeTransaction(transaction)),
    }
  } catch (error) {
    if (!isVarveError(error)) throw error
    return error.code
  }
}

/** Fields of a sample as a tree, to be spoiled, and the way back. */
function treeOf(fields: TransactionFields): RlpInput[] {
  const raw = encodeTransaction(fields)
  return [...(decodeRlp(fields.type === 0 ? raw : raw.subarray(1)) as RlpInput[])]
}
function rawOf(type: number, tree: RlpInput): Uint8Array {
  return type === 0 ? encodeRlp(tree) : encodeRlpWithPrefix(tree, type)
}

test('each type decodes to what was encoded', () => {
  for (const fields of TRANSACTIONS) {
    const sealed = sealTransaction(fields)
    assert.deepEqual(decodeTransaction(sealed.raw), sealed)
  }
})

test('every scalar with a leading zero, and every list in place of bytes, is refused', () => {
  for (const fields of TRANSACTIONS) {
    const tree = treeOf(fields)
    tree.forEach((field, index) => {
      const spoil = (value: RlpInput) => {
        const copy = [...tree]
        copy[index] = value
        return () => decodeTransaction(rawOf(fields.type, copy))
      }
      const where = `type ${fields.type} field ${index}`
      if (Array.isArray(field)) {
        assert.throws(spoil(new Uint8Array(0)), isFault('RLP_KIND'), where)
        return
      }
      const isBlobs = fields.type === 3 && index === 0
      assert.throws(spoil([]), isFault(isBlobs ? 'TRANSACTION_NETWORK_FORM' : 'RLP_KIND'), where)
      const bytes = field as Uint8Array
      if (bytes.length <= 3) {
        assert.throws(spoil(Uint8Array.from([0, ...bytes])), isFault('RLP_LEADING_ZERO'), where)
        assert.throws(spoil(new Uint8Array(33).fill(1)), isFault('RLP_RANGE'), where)
      }
    })
  }
})

test('a field too few, one too many, and a byte at the end are refused', () => {
  for (const fields of TRANSACTIONS) {
    const tree = treeOf(fields)
    const decode = (list: RlpInput) => () => decodeTransaction(rawOf(fields.type, list))
    assert.throws(decode(tree.slice(0, -1)), isFault('RLP_ITEM_MISSING'))
    assert.throws(decode([...tree, 1]), isFault('RLP_LIST_LONG'))
    const trailing = Uint8Array.from([...rawOf(fields.type, tree), 0])
    assert.throws(() => decodeTransaction(trailing), isFault('RLP_TRAILING'))
  }
})

test('addresses of 0 or 20 bytes, keys and hashes of 32, nothing nested deeper', () => {
  const spoilt = (type: number, index: number, value: RlpInput) => () => {
    const tree = treeOf(TRANSACTIONS[type]!)
    tree[index] = value
    return decodeTransaction(rawOf(type, tree))
  }
  const toIndex = [3, 4, 5, 5, 5]
  for (const type of [0, 1, 2, 3, 4]) {
    for (const length of [1, 19, 21, 32])
      assert.throws(
        spoilt(type, toIndex[type]!, new Uint8Array(length).fill(1)),
        isFault('RLP_LENGTH'),
      )
    // Blob and set-code transactions cannot create.
    const create = spoilt(type, toIndex[type]!, new Uint8Array(0))
    if (type < 3) assert.equal(create().to, undefined)
    else assert.throws(create, isFault('RLP_LENGTH'))
  }
  const accessIndex = [0, 7, 8, 8, 8]
  for (const type of [1, 2, 3, 4]) {
    const at = accessIndex[type]!
    const spoil = (entry: RlpInput) => spoilt(type, at, [entry])
    assert.throws(spoil([ADDRESS, [HASH.slice(1)]]), isFault('RLP_LENGTH'), '31-byte key')
    assert.throws(spoil([ADDRESS.slice(1), []]), isFault('RLP_LENGTH'))
    assert.throws(spoil([ADDRESS, [[HASH]]]), isFault('RLP_KIND'))
    assert.throws(spoil([ADDRESS]), isFault('RLP_ITEM_MISSING'))
    assert.throws(spoil([ADDRESS, [], []]), isFault('RLP_LIST_LONG'))
  }
  assert.throws(spoilt(3, 10, [HASH.slice(1)]), isFault('RLP_LENGTH'))
  const tuple = [0, ADDRESS, 0, 0, 1, 1]
  for (let index = 0; index < tuple.length; index++) {
    const spoil = (value: RlpInput) => spoilt(4, 9, [tuple.with(index, value as number)])
    assert.throws(spoil([]), isFault('RLP_KIND'), `nested list in authorization field ${index}`)
    // The JSON text "0x0" ends up as this byte in careless encoders.
    if (index !== 1) assert.throws(spoil(Uint8Array.from([0])), isFault('RLP_LEADING_ZERO'))
  }
})

test('envelopes: unknown types, no bytes, and blobs in network form are refused', () => {
  for (const first of [0, 5, 0x7f, 0x80, 0xbf])
    assert.throws(
      () => decodeTransaction(Uint8Array.from([first, 0xc0])),
      isFault('TRANSACTION_TYPE_UNKNOWN'),
    )
  assert.throws(() => decodeTransaction(new Uint8Array(0)), isFault('TRANSACTION_TYPE_UNKNOWN'))
  const network = rawOf(3, [treeOf(TRANSACTIONS[3]!), [], [], []])
  assert.throws(() => decodeTransaction(network), isFault('TRANSACTION_NETWORK_FORM'))
})

test('signatures: v, y parity, r and s outside their ranges are refused', () => {
  const spoilt = (type: number, fromEnd: number, value: bigint) => () => {
    const tree = treeOf(TRANSACTIONS[type]!)
    tree[tree.length - fromEnd] = value
    return decodeTransaction(rawOf(type, tree))
  }
  for (const v of [0n, 1n, 26n, 29n, 34n])
    assert.throws(spoilt(0, 3, v), isFault('TRANSACTION_SIGNATURE'))
  for (const [v, chainId] of [
    [27n, undefined],
    [28n, undefined],
    [35n, 0n],
    [38n, 1n],
  ] as const)
    assert.equal((spoilt(0, 3, v)() as TransactionFields).chainId, chainId)
  for (const type of [1, 2, 3, 4])
    for (const parity of [2n, 27n, 28n])
      assert.throws(spoilt(type, 3, parity), isFault('TRANSACTION_SIGNATURE'))
  for (const type of [0, 1, 2, 3, 4])
    for (const fromEnd of [1, 2]) {
      for (const value of [0n, SECP256K1_ORDER])
        assert.throws(spoilt(type, fromEnd, value), isFault('TRANSACTION_SIGNATURE'))
      spoilt(type, fromEnd, SECP256K1_ORDER - 1n)()
    }
})

test('random and mutated transactions (short run)', () => fuzzTransactions(1, 3000))

function isFault(code: string) {
  return (error: unknown) => isVarveError(error, code)
}
