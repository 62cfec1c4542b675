/**
 * The published blockchain tests, as far as headers, uncles and bodies decide: every block that a test calls valid
 * must pass, and every block that it calls invalid for a reason of ours must be refused for that reason. What is
 * invalid for the transactions' sake, or for what they do, is left to `execute/`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixtureRecords, fixturesMissing } from '../testing/index.ts'
import { type BlockTest, judgeBlocks, specOfTest } from './blockTests.suite.ts'

const skip = fixturesMissing('blockchain tests', 'github.com/ethereum/tests, execution-spec-tests')

/** Expected exceptions of the three vocabularies, and the codes that may answer them. */
const REASONS: readonly (readonly [RegExp, RegExp])[] = [
  [/UnknownParent|UNKNOWN_PARENT/, /^unknown parent/],
  [/InvalidNumber|INVALID_BLOCK_NUMBER/, /^BLOCK_NUMBER_INVALID|^UNCLE_HEADER_INVALID/],
  [/InvalidTimestamp|TIMESTAMP_OLDER/, /^BLOCK_TIMESTAMP_NOT_AFTER|^UNCLE_HEADER_INVALID/],
  [/ExtraDataTooBig|EXTRA_DATA_TOO_BIG/, /^BLOCK_EXTRA_DATA_TOO_LONG/],
  [/ExtraDataIncorrectDAO|EXTRA_DATA_INVALID_DAO/, /^BLOCK_EXTRA_DATA_DAO_INVALID/],
  [/InvalidGasLimit|INVALID_GASLIMIT/, /^BLOCK_GAS_(LIMIT|USED_OVER)|^UNCLE_HEADER_INVALID/],
  [/GASLIMIT_TOO_BIG/, /^BLOCK_GAS_LIMIT_TOO_BIG/],
  [/GAS_USED_OVERFLOW/, /^BLOCK_GAS_USED_OVER_LIMIT/],
  [/BaseFeeWrong|INVALID_BASEFEE/, /^BLOCK_BASE_FEE_INVALID|^UNCLE_HEADER_INVALID/],
  [/PoSBlockRejected|PARIS_WRONG_POS/, /^BLOCK_DIFFICULTY_INVALID/],
  [/PoWBlockRejected|PARIS_WRONG_POW/, /^BLOCK_DIFFICULTY_AFTER_MERGE/],
  [/InvalidDifficulty|INVALID_DIFFICULTY/, /^BLOCK_DIFFICULTY_|^UNCLE_HEADER_INVALID/],
  [/UncleHashIsNotEmpty|1559BlockRejected|UNCLES_OVER_PARIS/, /^BLOCK_UNCLES_AFTER_MERGE/],
  [/BlockImportImpossible$|BlockImportImpossible2|IMPORT_IMPOSSIBLE_/, /^BLOCK_FIELD_/],
  [/EXCESS_BLOB_GAS/, /^BLOCK_EXCESS_BLOB_GAS_INVALID/],
  [/INCORRECT_BLOCK_FORMAT|INPUT_UNMARSHAL|RLP_INVALID/, /^RLP_|^HEADER_FIELD_COUNT/],
  [/RLP_ExpectedAsList|RLP_WITHDRAWALS_NOT_READ/, /^BLOCK_WITHDRAWALS_PRESENCE/],
  [/InvalidTransactionsRoot|INVALID_TRANSACTIONS_ROOT/, /^BLOCK_TRANSACTIONS_ROOT_INVALID/],
  [/InvalidUncleParentHash/, /^UNCLE_(PARENT_NOT_ANCESTOR|IS_ANCESTOR)/],
  [/UncleInChain|UncleIsAncestor/, /^UNCLE_IS_ANCESTOR/],
  [/UncleIsBrother/, /^UNCLE_IS_BROTHER/],
  [/UncleParentIsNotAncestor|UncleTooOld/, /^UNCLE_(PARENT_NOT_ANCESTOR|IS_BROTHER)/],
]

/**
 * Faults that may come before the expected one, where a block breaks a rule of ours besides: some tests put a
 * transaction in without making the header's root anew.
 */
const OTHER_FAULTS = /^BLOCK_(BLOB_GAS_OVER|GAS_USED_OVER|TRANSACTIONS_ROOT)|^TRANSACTION_/

type Tally = { validCount: number; refusedCount: number; leftCount: number; sealCount: number }

async function runSuite(suite: string): Promise<Tally> {
  const tally: Tally = { validCount: 0, refusedCount: 0, leftCount: 0, sealCount: 0 }
  type Record = { path: string; tests: { [name: string]: BlockTest } }
  for await (const { path, tests } of fixtureRecords<Record>(suite))
    for (const [name, blockTest] of Object.entries(tests)) {
      if (blockTest.genesisRLP === undefined) continue
      const where = `${suite} ${path} ${name}`
      for (const verdict of judgeBlocks(blockTest, specOfTest(blockTest)))
        count(tally, where, verdict)
    }
  return tally
}

function count(
  tally: Tally,
  where: string,
  {
    expected,
    fault,
  }: { expected: string | undefined; fault: (Error & { code?: string }) | undefined },
): void {
  const found = fault === undefined ? 'none' : (fault.code ?? fault.message)
  if (expected === undefined) {
    assert.equal(found, 'none', `${where}: ${fault?.message}`)
    tally.validCount++
    return
  }
  const reason = REASONS.find(([exception]) => exception.test(expected))
  if (reason !== undefined) {
    assert.match(found, reason[1], `${where}: ${expected}`)
    tally.refusedCount++
    return
  }
  // Wrong in the Ethash seal alone, which is not checked.
  if (expected === 'InvalidBlockNonce') tally.sealCount++
  else tally.leftCount++
  assert.ok(found === 'none' || OTHER_FAULTS.test(found), `${where}: ${expected}, found ${found}`)
}

/** Blocks of each suite: valid, refused for a reason of ours, left to execution, wrong in the seal alone. */
const TALLIES: Readonly<Record<string, Tally>> = {
  'et-blockchain': { validCount: 445, refusedCount: 74, leftCount: 79, sealCount: 0 },
  'legacy-constantinople-blockchain': {
    validCount: 1800,
    refusedCount: 162,
    leftCount: 42,
    sealCount: 7,
  },
  'legacy-cancun-blockchain': { validCount: 2297, refusedCount: 284, leftCount: 329, sealCount: 0 },
  'eest-devnet-transitions': { validCount: 408, refusedCount: 1, leftCount: 7, sealCount: 0 },
  'eest-blockchain': { validCount: 3520, refusedCount: 33, leftCount: 194, sealCount: 0 },
}

for (const [suite, tally] of Object.entries(TALLIES))
  test(`blocks of ${suite}`, { skip }, async () => {
    assert.deepEqual(await runSuite(suite), tally)
  })
