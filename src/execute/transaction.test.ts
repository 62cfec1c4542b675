/**
 * Aim: a transaction's rejections, price, refund and effects, each by the smallest case. Method: one machine over a
 * few accounts; the published state tests cover the combinations (`conformance/`).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, U64_MAX, VarveError } from '../base/index.ts'
import type { UnsignedTransaction } from '../codec/index.ts'
import { Status } from '../evm/index.ts'
import {
  AUTHORITY,
  authorization,
  BASE_FEE,
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
import type { ExecutionBlock } from './transactionCheck.ts'
import {
  isTransactionRejection,
  type TransactionRejectionErrorCode,
} from './transactionRejection.ts'

const BLOB = new Uint8Array(32).fill(1)
const SLOT = new Uint8Array(32)
const ONE = new Uint8Array(32).fill(1, 31)
/** SSTORE(0, 0): clears slot 0. */
const CLEAR_SLOT = Uint8Array.of(0x5f, 0x5f, 0x55)
/** The same before PUSH0. */
const CLEAR_SLOT_OLD = Uint8Array.of(0x60, 0, 0x60, 0, 0x55)

type Rejected = {
  readonly code: TransactionRejectionErrorCode
  readonly wording: string
  readonly fork?: Fork
  readonly transaction: UnsignedTransaction
  readonly accounts?: readonly TestAccount[]
  readonly block?: Partial<ExecutionBlock>
}

const sender = (change: Partial<TestAccount>): readonly TestAccount[] => [
  { address: SENDER, balance: ETHER, ...change },
]

const rejections: readonly Rejected[] = [
  {
    code: 'TX_TYPE_NOT_SUPPORTED',
    wording: 'transaction type not supported',
    fork: Fork.Istanbul,
    transaction: typed(1),
  },
  { code: 'TX_TYPE_NOT_SUPPORTED', wording: '', fork: Fork.Berlin, transaction: typed(2) },
  { code: 'TX_TYPE_NOT_SUPPORTED', wording: '', fork: Fork.Shanghai, transaction: typed(3) },
  { code: 'TX_TYPE_NOT_SUPPORTED', wording: '', fork: Fork.Cancun, transaction: typed(4) },
  {
    code: 'TX_NONCE_TOO_LOW',
    wording: 'nonce too low',
    accounts: sender({ nonce: 5n }),
    transaction: legacy({ nonce: 4n }),
  },
  {
    code: 'TX_NONCE_TOO_HIGH',
    wording: 'nonce too high',
    accounts: sender({ nonce: 5n }),
    transaction: legacy({ nonce: 6n }),
  },
  {
    code: 'TX_NONCE_MAX',
    wording: 'nonce has max value',
    accounts: sender({ nonce: U64_MAX }),
    transaction: legacy({ nonce: U64_MAX }),
  },
  {
    code: 'TX_GAS_LIMIT_CAP',
    wording: 'transaction gas limit too high',
    fork: Fork.Osaka,
    transaction: legacy({ gasLimit: (1n << 24n) + 1n }),
  },
  {
    code: 'TX_SENDER_NOT_EOA',
    wording: 'sender not an eoa',
    accounts: sender({ code: CLEAR_SLOT }),
    transaction: legacy(),
  },
  {
    code: 'TX_TIP_ABOVE_FEE_CAP',
    wording: 'max priority fee per gas higher than max fee per gas',
    transaction: typed(2, { maxPriorityFeePerGas: 11n }),
  },
  {
    code: 'TX_FEE_CAP_TOO_LOW',
    wording: 'max fee per gas less than block base fee',
    transaction: legacy({ gasPrice: BASE_FEE - 1n } as Partial<UnsignedTransaction>),
  },
  {
    code: 'TX_BLOB_CREATE',
    wording: 'blob transaction of type create',
    transaction: typed(3, { to: undefined }),
  },
  {
    code: 'TX_BLOBS_MISSING',
    wording: 'blob transaction missing blob hashes',
    transaction: typed(3, { blobVersionedHashes: [] }),
  },
  {
    code: 'TX_BLOBS_TOO_MANY',
    wording: 'blob transaction has too many blobs',
    fork: Fork.Osaka,
    block: { blob: { target: 14, max: 21, baseFeeUpdateFraction: 1n } },
    transaction: typed(3, { blobVersionedHashes: Array(7).fill(BLOB) }),
  },
  {
    code: 'TX_BLOB_VERSION',
    wording: 'blob has invalid hash version',
    transaction: typed(3, { blobVersionedHashes: [BLOB, new Uint8Array(32)] }),
  },
  {
    code: 'TX_BLOB_FEE_CAP_TOO_LOW',
    wording: 'max fee per blob gas less than block blob gas fee',
    block: { blobBaseFee: 2n },
    transaction: typed(3),
  },
  {
    code: 'TX_BLOB_GAS_LIMIT_REACHED',
    wording: 'blob gas limit reached',
    transaction: typed(3, { blobVersionedHashes: Array(7).fill(BLOB) }),
  },
  {
    code: 'TX_SET_CODE_CREATE',
    wording: 'EIP-7702 transaction cannot be used to create contract',
    transaction: typed(4, { to: undefined }),
  },
  {
    code: 'TX_SET_CODE_EMPTY',
    wording: 'EIP-7702 transaction with empty auth list',
    transaction: typed(4, { authorizationList: [] }),
  },
  {
    code: 'TX_FUNDS',
    wording: 'insufficient funds for gas * price + value',
    accounts: sender({ balance: 1_000_000n }),
    transaction: legacy({ value: 1n }),
  },
  {
    code: 'TX_FUNDS',
    wording: 'required balance exceeds 256 bits',
    accounts: sender({ balance: (1n << 256n) - 1n }),
    transaction: legacy({ value: (1n << 256n) - 1n }),
  },
  {
    // A blob costs 131,072 gas at the fee that is offered.
    code: 'TX_FUNDS',
    wording: 'insufficient funds',
    accounts: sender({ balance: 1_000_000n + 131_071n }),
    transaction: typed(3),
  },
  {
    code: 'TX_GAS_LIMIT_REACHED',
    wording: 'gas limit reached',
    block: { gasLimit: 99_999n },
    transaction: legacy(),
  },
  {
    code: 'TX_INTRINSIC_GAS',
    wording: 'intrinsic gas too low',
    transaction: legacy({ gasLimit: 20_999n }),
  },
  {
    // 100 bytes: 1,600 gas as data, 4,000 as floor.
    code: 'TX_FLOOR_GAS',
    wording: 'insufficient gas for floor data gas cost',
    transaction: legacy({ gasLimit: 24_999n, data: new Uint8Array(100).fill(1) }),
  },
  {
    code: 'TX_INIT_CODE_SIZE',
    wording: 'max initcode size exceeded',
    transaction: legacy({
      gasLimit: 10_000_000n,
      to: undefined,
      data: new Uint8Array(49_153),
    }),
  },
]

for (const { code, wording, fork = Fork.Prague, transaction, accounts, block } of rejections)
  test(`${code} ${wording}`, () => {
    const context = world(fork, accounts, block)
    const gasLeft = context.space.gasLeft
    assert.throws(
      () => executeTransaction(context, transaction, SENDER),
      (error) => {
        assert(isTransactionRejection(error) && error instanceof VarveError)
        assert.equal(error.code, code)
        assert(error.message.includes(wording), error.message)
        return true
      },
    )
    assert.deepEqual(context.machine.writeSet(), [], 'a rejected transaction changes nothing')
    assert.equal(context.space.gasLeft, gasLeft)
  })

test('a transfer is paid by the sender; the tip goes to the coinbase, the base fee to nobody', () => {
  const context = world(Fork.Prague)
  const { machine, space, block } = context
  const outcome = executeTransaction(context, typed(2, { value: 5n }), SENDER)
  assert.equal(outcome.status, Status.Success)
  assert.equal(outcome.gasUsed, 21_000n)
  assert.equal(outcome.gasPrice, BASE_FEE + 1n)
  assert.equal(machine.getBalance(SENDER), ETHER - 5n - 21_000n * (BASE_FEE + 1n))
  assert.equal(machine.getBalance(TARGET), 5n)
  assert.equal(machine.getBalance(COINBASE), 21_000n)
  assert.equal(machine.getNonce(SENDER), 1n)
  assert.equal(space.gasLeft, block.gasLimit - 21_000n)
})

test('blob gas is paid at the base fee of blobs and fills the block', () => {
  const context = world(Fork.Cancun, [], { blobBaseFee: 3n })
  const before = context.space.blobGasLeft
  const transaction = typed(3, { maxFeePerBlobGas: 100n, blobVersionedHashes: [BLOB, BLOB] })
  const outcome = executeTransaction(context, transaction, SENDER)
  assert.equal(outcome.blobGasUsed, 262_144n)
  assert.equal(context.space.blobGasLeft, before - 262_144n)
  const paid = ETHER - context.machine.getBalance(SENDER)
  assert.equal(paid, 21_000n * (BASE_FEE + 1n) + 262_144n * 3n)
})

test('refunds: half the gas before London, a fifth since, and what the slots gave', () => {
  const accounts: TestAccount[] = [
    { address: TARGET, code: CLEAR_SLOT_OLD, storage: [[SLOT, ONE]], nonce: 1n },
  ]
  // 21,000 + 2 pushes + 5,000 for the slot, less 15,000 that are capped at the half.
  const berlin = executeTransaction(world(Fork.Istanbul, accounts), legacy(), SENDER)
  assert.equal(berlin.gasUsed, 26_006n - 13_003n)
  const london = executeTransaction(world(Fork.London, accounts), legacy(), SENDER)
  assert.equal(london.gasUsed, 26_006n - 4_800n)
})

test('the floor of EIP-7623 is paid where the rest is less, after refunds', () => {
  const data = new Uint8Array(1000).fill(1)
  const before = executeTransaction(world(Fork.Cancun), legacy({ data }), SENDER)
  assert.equal(before.gasUsed, 21_000n + 16_000n)
  const since = executeTransaction(world(Fork.Prague), legacy({ data }), SENDER)
  assert.equal(since.gasUsed, 21_000n + 40_000n)
})

test('a failing message keeps nonce and fee, and loses all gas', () => {
  const accounts: TestAccount[] = [{ address: TARGET, code: Uint8Array.of(0xfe), nonce: 1n }]
  const context = world(Fork.Prague, accounts)
  const outcome = executeTransaction(context, legacy({ value: 9n }), SENDER)
  assert.equal(outcome.status, Status.InvalidOpcode)
  assert.equal(outcome.gasUsed, 100_000n)
  assert.equal(context.machine.getNonce(SENDER), 1n)
  assert.equal(context.machine.getBalance(TARGET), 0n)
})

test('a creation is named by the nonce, which rises once', () => {
  const context = world(Fork.Prague)
  // Returns one byte of memory, which is STOP.
  const data = Uint8Array.of(0x60, 1, 0x5f, 0xf3)
  const outcome = executeTransaction(context, legacy({ to: undefined, data }), SENDER)
  assert.equal(outcome.status, Status.Success)
  assert.deepEqual(context.machine.getCode(outcome.created!), Uint8Array.of(0))
  assert.equal(context.machine.getNonce(SENDER), 1n)
  assert.equal(context.machine.getNonce(outcome.created!), 1n)
})

test('paying nothing: before EIP-161 the coinbase comes into being, afterwards an empty one vanishes', () => {
  const free = legacy({ gasPrice: 0n } as Partial<UnsignedTransaction>)
  const old = world(Fork.TangerineWhistle)
  executeTransaction(old, free, SENDER)
  assert(old.machine.exists(COINBASE))
  const since = world(Fork.SpuriousDragon, [{ address: COINBASE }])
  assert(since.machine.exists(COINBASE))
  executeTransaction(since, free, SENDER)
  assert(!since.machine.exists(COINBASE))
})

const delegationCode = (address: Uint8Array) => Uint8Array.of(0xef, 0x01, 0x00, ...address)
const authorizations: readonly (readonly [
  what: string,
  change: Record<string, unknown>,
  authority: Partial<TestAccount> | undefined,
  code: Uint8Array | undefined,
  refund: bigint,
])[] = [
  ['of an account that is not there', {}, undefined, delegationCode(TARGET), 0n],
  ['of an account that exists', {}, { balance: 1n }, delegationCode(TARGET), 12_500n],
  ['for this chain', { chainId: 1n }, undefined, delegationCode(TARGET), 0n],
  ['for another chain', { chainId: 2n }, undefined, undefined, 0n],
  ['with the wrong nonce', { nonce: 1n }, undefined, undefined, 0n],
  ['with the greatest nonce', { nonce: U64_MAX }, { nonce: U64_MAX }, undefined, 0n],
  ['with a high s', { s: (1n << 256n) - 1n }, undefined, undefined, 0n],
  ['of a contract', {}, { code: CLEAR_SLOT }, CLEAR_SLOT, 0n],
  [
    'over another delegation',
    {},
    { code: delegationCode(COINBASE) },
    delegationCode(TARGET),
    12_500n,
  ],
  [
    'of nobody, which takes a delegation away',
    { address: new Uint8Array(20) },
    { code: delegationCode(COINBASE) },
    undefined,
    12_500n,
  ],
]

for (const [what, change, authority, code, refund] of authorizations)
  test(`authorization ${what}`, () => {
    const accounts = authority === undefined ? [] : [{ address: AUTHORITY, ...authority }]
    const context = world(Fork.Prague, accounts as TestAccount[])
    const transaction = typed(4, { authorizationList: [authorization(change)] })
    const outcome = executeTransaction(context, transaction, SENDER)
    assert.deepEqual(context.machine.getCode(AUTHORITY), code ?? new Uint8Array(0))
    // 46,000 less at most a fifth.
    assert.equal(outcome.gasUsed, 46_000n - (refund > 9_200n ? 9_200n : refund))
    const isApplied = !(code === undefined && refund === 0n) && code !== CLEAR_SLOT
    assert.equal(
      context.machine.getNonce(AUTHORITY),
      (authority?.nonce ?? 0n) + (isApplied ? 1n : 0n),
    )
  })

test('what a host throws reaches the caller, and the transaction is undone', () => {
  const context = world(Fork.Prague, [{ address: TARGET, code: CLEAR_SLOT, nonce: 1n }])
  const host = { fail: true }
  context.machine.beginBlock(context.block, {
    loadAccount: (address) =>
      address[0] === SENDER[0]
        ? { nonce: 0n, balance: ETHER, codeHash: new Uint8Array(32).fill(1) }
        : undefined,
    hasStorage: () => false,
    openStorage: () => undefined,
    loadCode: () => {
      if (host.fail) throw new VarveError('STATE_CODE_MISSING', 'no such code')
      return CLEAR_SLOT
    },
    blockHash: () => new Uint8Array(32),
  })
  assert.throws(() => executeTransaction(context, legacy(), SENDER), { code: 'STATE_CODE_MISSING' })
  assert.deepEqual(context.machine.writeSet(), [])
})
