/**
 * Aim: the two kinds of gas of a transaction in Amsterdam, and the access list of what ran (EIP-8037, 7778, 7976, 7981,
 * 7928). Method: sums by hand over the smallest cases; the published tests cover the combinations (`conformance/`).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AmsterdamDraft,
  bytesConcat,
  Fork,
  fromBareHex,
  toHex,
  VarveError,
} from '../base/index.ts'
import type { BlockAccessList, UnsignedTransaction } from '../codec/index.ts'
import { Status } from '../evm/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { AccessListBuilder } from './accessListBuilder.ts'
import { applyCredits } from './blockCredits.ts'
import {
  AUTHORITY,
  authorization,
  COINBASE,
  ETHER,
  legacy,
  SENDER,
  TARGET,
  type TestAccount,
  typed,
  world,
} from './testWorld.suite.ts'
import { executeTransaction } from './transaction.ts'

const GAS_LIMIT = 100_000_000n
const BYTE_GAS = 1174n
const SLOT_GAS = 32n * BYTE_GAS
const ACCOUNT_GAS = 112n * BYTE_GAS
const CAP = 1n << 24n
const ZERO = new Uint8Array(32)
const ONE = new Uint8Array(32).fill(1, 31)
/** SSTORE(0, 1). */
const SET_SLOT = fromBareHex('60015f55')
/** SSTORE(0, 0). */
const CLEAR_SLOT = fromBareHex('5f5f55')
const STOP = Uint8Array.of(0)

function run(
  transaction: UnsignedTransaction,
  accounts: readonly TestAccount[] = [],
  gasLimit = GAS_LIMIT,
  amsterdamDraft?: AmsterdamDraft,
) {
  const context = world(Fork.Amsterdam, [{ address: SENDER, balance: 100n * ETHER }, ...accounts], {
    gasLimit,
    amsterdamDraft,
  })
  return { ...executeTransaction(context, transaction, SENDER), context }
}

test('growth is paid for apart, and the block counts it apart', () => {
  const { gasUsed, blockGasUsed, blockStateGasUsed } = run(legacy(), [
    { address: TARGET, code: SET_SLOT },
  ])
  const work = 21_000n + 3n + 2n + 2100n + 2900n
  assert.equal(blockGasUsed, work)
  assert.equal(blockStateGasUsed, SLOT_GAS)
  assert.equal(gasUsed, work + SLOT_GAS)
})

test('the block counts work before refunds, the sender pays after them (EIP-7778)', () => {
  const { gasUsed, blockGasUsed } = run(legacy(), [
    { address: TARGET, code: CLEAR_SLOT, storage: [[ZERO, ONE]] },
  ])
  const work = 21_000n + 2n + 2n + 2100n + 2900n
  assert.equal(blockGasUsed, work)
  assert.equal(gasUsed, work - 4800n)
})

test('a creation pays for its account ahead; where it fails, that is gone', () => {
  for (const [data, status] of [
    [STOP, Status.Success],
    [Uint8Array.of(0xfe), Status.InvalidOpcode],
  ] as const) {
    const outcome = run(legacy({ to: undefined, data, gasLimit: 200_000n } as never))
    assert.equal(outcome.status, status)
    assert.equal(outcome.blockStateGasUsed, ACCOUNT_GAS)
  }
})

test('a creation where a contract stands takes all gas; the block counts what was sure', () => {
  const created = keccak256(bytesConcat(fromBareHex('d694'), SENDER, Uint8Array.of(0x80))).slice(12)
  const data = Uint8Array.of(1, 2)
  const outcome = run(legacy({ to: undefined, data, gasLimit: 200_000n } as never), [
    { address: created, code: STOP },
  ])
  assert.equal(outcome.status, Status.AddressCollision)
  assert.equal(outcome.gasUsed, 200_000n)
  assert.equal(outcome.blockGasUsed, 21_000n + 9_000n + 2n + 2n * 16n)
  assert.equal(outcome.blockStateGasUsed, ACCOUNT_GAS)
})

test('authorizations pay for an account and a delegation; of an account that is there, the former comes back', () => {
  const transaction = typed(4, {
    gasLimit: 300_000n,
    authorizationList: [authorization()],
  })
  const perAuthorization = (112n + 23n) * BYTE_GAS
  const isNew = run(transaction, [{ address: TARGET, code: STOP }])
  assert.equal(isNew.gasUsed, 21_000n + 7_500n + perAuthorization)
  const isKnown = run(transaction, [
    { address: TARGET, code: STOP },
    { address: AUTHORITY, balance: 1n },
  ])
  assert.equal(isKnown.gasUsed, 21_000n + 7_500n + 23n * BYTE_GAS)
  // The block counts what was paid ahead.
  assert.equal(isKnown.blockStateGasUsed, perAuthorization)
})

test('each byte of data counts the same for the floor, and access lists count as data', () => {
  const data = new Uint8Array(1000)
  assert.equal(run(legacy({ data })).gasUsed, 21_000n + 64n * 1000n)
  const accessList = [{ address: TARGET, storageKeys: [ZERO] }]
  const { gasUsed } = run(typed(1, { accessList, gasPrice: 10n }))
  assert.equal(gasUsed, 21_000n + 2400n + 1900n + 64n * 52n)
})

test('the cap of 2^24 is one for work: a limit beyond it is for growth', () => {
  // GAS, to memory, returned.
  const code = fromBareHex('5a5f5260205ff3')
  const gasLimit = CAP + 1_000_000n
  const { output, gasUsed } = run(legacy({ gasLimit }), [{ address: TARGET, code }])
  assert.equal(BigInt(toHex(output)), CAP - 21_000n - 2n)
  assert.ok(gasUsed < 30_000n, 'the reservoir goes back')
  const rejected = (transaction: UnsignedTransaction, blockGasLimit?: bigint) => {
    try {
      run(transaction, [], blockGasLimit)
    } catch (error) {
      if (error instanceof VarveError) return error.code
      throw error
    }
    return 'accepted'
  }
  const data = new Uint8Array(263_000)
  assert.equal(rejected(legacy({ data, gasLimit: 2n * CAP })), 'TX_INTRINSIC_GAS')
  // A block of 20 million gas has room for 2^24 of work, and for what is left for growth after the sure work.
  assert.equal(rejected(legacy({ gasLimit: 20_021_000n }), 20_000_000n), 'accepted')
  assert.equal(rejected(legacy({ gasLimit: 20_021_001n }), 20_000_000n), 'TX_GAS_LIMIT_REACHED')
  assert.equal(rejected(legacy({ gasLimit: 100_000n }), 99_999n), 'TX_GAS_LIMIT_REACHED')
})

test('the draft before gave back less, and data was as cheap as in Prague (bal@v5.6)', () => {
  const old = (transaction: UnsignedTransaction, accounts: readonly TestAccount[] = []) =>
    run(transaction, accounts, 30_000_000n, 'bal@v5.6')
  const data = new Uint8Array(1000)
  assert.equal(old(legacy({ data })).gasUsed, 21_000n + 10n * 1000n)
  // SSTORE(0, 1), then REVERT: what grew is paid for although it is gone.
  const reverted = old(legacy(), [{ address: TARGET, code: fromBareHex('60015f555f5ffd') }])
  assert.equal(reverted.status, Status.Revert)
  assert.equal(reverted.blockStateGasUsed, SLOT_GAS)
  assert.equal(
    run(legacy(), [{ address: TARGET, code: fromBareHex('60015f555f5ffd') }]).blockStateGasUsed,
    0n,
  )
  // A slot that goes again is refunded by the counter, at most a fifth of all.
  const code = fromBareHex('60015f555f5f55')
  const work = 21_000n + 3n + 2n + 2100n + 2900n + 2n + 2n + 100n
  const undone = old(legacy(), [{ address: TARGET, code }])
  assert.equal(undone.blockStateGasUsed, SLOT_GAS)
  assert.equal(undone.gasUsed, work + SLOT_GAS - (work + SLOT_GAS) / 5n)
  assert.equal(run(legacy(), [{ address: TARGET, code }]).gasUsed, work - 2800n)
  // The account of an authorization that was there is not counted.
  const known = old(typed(4, { gasLimit: 300_000n, authorizationList: [authorization()] }), [
    { address: TARGET, code: STOP },
    { address: AUTHORITY, balance: 1n },
  ])
  assert.equal(known.blockStateGasUsed, 23n * BYTE_GAS)
})

test('init code of 65,536 bytes is the longest (EIP-7954)', () => {
  const creation = (size: number) =>
    legacy({ to: undefined, data: new Uint8Array(size), gasLimit: CAP } as never)
  assert.equal(run(creation(65_536)).status, Status.Success)
  assert.throws(
    () => run(creation(65_537)),
    (error) => error instanceof VarveError && error.code === 'TX_INIT_CODE_SIZE',
  )
})

test('the access list: steps, reads beside writes, and what ends as it began (EIP-7928)', () => {
  const context = world(
    Fork.Amsterdam,
    [
      { address: SENDER, balance: ETHER },
      // SSTORE(0, CALLDATALOAD(0)), SLOAD(5), SSTORE(6, 0).
      { address: TARGET, code: fromBareHex('5f355f556005545f600655'), storage: [[ZERO, ONE]] },
    ],
    { gasLimit: GAS_LIMIT },
  )
  const builder = new AccessListBuilder()
  builder.watch(context.machine)
  const values = [ONE, new Uint8Array(32).fill(2, 31), new Uint8Array(32)]
  values.forEach((data, index) => {
    builder.nextStep()
    executeTransaction(context, legacy({ data, nonce: BigInt(index) }), SENDER)
  })
  builder.nextStep()
  // Two calls in one step: the last word counts.
  applyCredits(context.machine, [{ address: COINBASE, amount: 2n }])
  applyCredits(context.machine, [{ address: COINBASE, amount: 3n }])
  const list = builder.build(context.machine.accesses())
  assert.deepEqual(
    list.map(({ address }) => toHex(address)),
    [TARGET, COINBASE, SENDER].map(toHex),
    'by address; nothing but what was read',
  )
  const [target, coinbase, sender] = list as BlockAccessList & { length: 3 }
  // The first transaction wrote what was there.
  assert.deepEqual(target!.slotChanges, [
    {
      slot: 0n,
      changes: [
        { step: 2, value: 2n },
        { step: 3, value: 0n },
      ],
    },
  ])
  assert.deepEqual(target!.slotReads, [5n, 6n])
  assert.deepEqual(target!.balanceChanges, [])
  assert.deepEqual(
    sender!.nonceChanges,
    [1, 2, 3].map((step) => ({ step, value: BigInt(step) })),
  )
  assert.deepEqual(
    coinbase!.balanceChanges.map(({ step }) => step),
    [1, 2, 3, 4],
  )
  assert.equal(coinbase!.balanceChanges[3]!.value, coinbase!.balanceChanges[2]!.value + 5n)
})
