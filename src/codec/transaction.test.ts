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
import { SenderRecovery } from './sender.ts'
import { decodeTransaction, encodeTransaction } from './transaction.ts'
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
