/** Aim: what the protocol itself does around a block's transactions. Method: small contracts at the real addresses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigintToBytes, bytesConcat, Fork, fromBareHex, toHex, ZERO_HASH } from '../base/index.ts'
import { assemble } from '../evm/testWorld.suite.ts'
import { applyCredits, withdrawalCredits } from './blockCredits.ts'
import { collectRequests, depositsOf, requestsHash } from './requests.ts'
import {
  BEACON_ROOTS_ADDRESS,
  CONSOLIDATION_REQUESTS_ADDRESS,
  callSystemContract,
  HISTORY_STORAGE_ADDRESS,
  openBlock,
  SYSTEM_ADDRESS,
  WITHDRAWAL_REQUESTS_ADDRESS,
} from './systemCalls.ts'
import { TARGET, type TestAccount, world } from './testWorld.suite.ts'

const HASH = new Uint8Array(32).fill(0xab)
const DEPOSIT_CONTRACT = fromBareHex('00000000219ab540356cbb839cbe05303d7705fa')
/** Stores its input and its caller. */
const KEEPER = assemble('0 CALLDATALOAD 0 SSTORE CALLER 1 SSTORE')

const contract = (address: Uint8Array, code: Uint8Array): TestAccount => ({
  address,
  nonce: 1n,
  code,
})
const slot = (number: bigint) => bigintToBytes(number, 32)

test('the roots and the hash go to their contracts, each from its fork on', () => {
  const accounts = [
    contract(BEACON_ROOTS_ADDRESS, KEEPER),
    contract(HISTORY_STORAGE_ADDRESS, KEEPER),
  ]
  const opening = { parentBeaconBlockRoot: HASH, parentHash: HASH }
  const stored = (fork: Fork, address: Uint8Array) => {
    const { machine } = world(fork, accounts)
    openBlock(machine, fork, opening)
    return [machine.getStorage(address, slot(0n)), machine.getStorage(address, slot(1n))]
  }
  const kept = [BigInt(toHex(HASH)), BigInt(toHex(SYSTEM_ADDRESS))]
  assert.deepEqual(stored(Fork.Shanghai, BEACON_ROOTS_ADDRESS), [0n, 0n])
  assert.deepEqual(stored(Fork.Cancun, BEACON_ROOTS_ADDRESS), kept)
  assert.deepEqual(stored(Fork.Cancun, HISTORY_STORAGE_ADDRESS), [0n, 0n])
  assert.deepEqual(stored(Fork.Prague, HISTORY_STORAGE_ADDRESS), kept)
})

test('a contract that is missing or fails leaves no trace', () => {
  const { machine } = world(Fork.Prague, [
    contract(HISTORY_STORAGE_ADDRESS, assemble('1 1 SSTORE ADD')),
  ])
  openBlock(machine, Fork.Prague, { parentBeaconBlockRoot: HASH, parentHash: HASH })
  assert.deepEqual(machine.writeSet(), [])
  assert.equal(callSystemContract(machine, BEACON_ROOTS_ADDRESS, HASH).hasCode, false)
})

test('a system call has gas of its own, and the next one none of its warmth', () => {
  const { machine } = world(Fork.Prague, [contract(TARGET, assemble('GAS 0 MSTORE 32 0 RETURN'))])
  const first = callSystemContract(machine, TARGET, ZERO_HASH)
  assert.equal(BigInt(toHex(first.output)), 30_000_000n - 2n)
  assert.deepEqual(callSystemContract(machine, TARGET, ZERO_HASH), first)
})

test('credits add up, and nothing given to nobody leaves no account', () => {
  const { machine } = world(Fork.Shanghai)
  const withdrawal = { index: 0n, validatorIndex: 1n, address: TARGET }
  applyCredits(
    machine,
    withdrawalCredits([
      { ...withdrawal, amount: 3n },
      { ...withdrawal, amount: 4n },
    ]),
  )
  assert.equal(machine.getBalance(TARGET), 7_000_000_000n)
  const empty = world(Fork.Shanghai).machine
  applyCredits(empty, [{ address: TARGET, amount: 0n }])
  assert.deepEqual(empty.writeSet(), [])
  const old = world(Fork.Homestead).machine
  applyCredits(old, [{ address: TARGET, amount: 0n }])
  assert.ok(old.exists(TARGET), 'before EIP-161 a touch makes an account')
})

/** A deposit as the contract logs it, with its fields filled with 1, 2, 3, 4, 5. */
function depositData(): Uint8Array {
  const sizes = [48, 32, 8, 96, 8]
  const heads: Uint8Array[] = []
  const tails: Uint8Array[] = []
  let offset = 160
  sizes.forEach((size, index) => {
    heads.push(slot(BigInt(offset)))
    const padded = new Uint8Array(Math.ceil(size / 32) * 32).fill(index + 1, 0, size)
    tails.push(slot(BigInt(size)), padded)
    offset += 32 + padded.length
  })
  return bytesConcat(...heads, ...tails)
}

const TOPIC = fromBareHex('649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5')
const log = (data: Uint8Array, address = DEPOSIT_CONTRACT, topics = [TOPIC]) => ({
  address,
  topics,
  data,
})

test('deposits are read from the logs of their contract alone', () => {
  const data = depositData()
  const deposits = depositsOf(
    [log(data), log(data, TARGET), log(data, DEPOSIT_CONTRACT, [])],
    DEPOSIT_CONTRACT,
  )
  assert.equal(deposits.length, 192)
  assert.deepEqual(
    [deposits[0], deposits[48], deposits[80], deposits[88], deposits[184]],
    [1, 2, 3, 4, 5],
  )
})

test('a deposit of another layout makes the block invalid', () => {
  const fault = { code: 'EXECUTE_DEPOSIT_INVALID' }
  assert.throws(() => depositsOf([log(depositData().subarray(1))], DEPOSIT_CONTRACT), fault)
  for (const at of [31, 191, 63]) {
    const data = depositData()
    data[at]! ^= 1
    assert.throws(() => depositsOf([log(data)], DEPOSIT_CONTRACT), fault)
  }
})

test('requests come in the order of their types, empty ones are left out', () => {
  const answer = (byte: number) => assemble(`${byte} 0 MSTORE8 1 0 RETURN`)
  const accounts = [
    contract(WITHDRAWAL_REQUESTS_ADDRESS, answer(7)),
    contract(CONSOLIDATION_REQUESTS_ADDRESS, answer(8)),
  ]
  const options = { depositContract: DEPOSIT_CONTRACT, mustHaveContracts: true }
  const { machine } = world(Fork.Prague, accounts)
  const found = collectRequests(machine, [log(depositData())], options)
  assert.deepEqual(
    found.map(({ length }) => length),
    [193, 2, 2],
  )
  assert.deepEqual(found.slice(1), [Uint8Array.of(1, 7), Uint8Array.of(2, 8)])
  const none = world(Fork.Prague).machine
  assert.throws(() => collectRequests(none, [], options), { code: 'EXECUTE_CONTRACT_MISSING' })
  assert.deepEqual(collectRequests(none, [], { ...options, mustHaveContracts: false }), [])
  const broken = world(Fork.Prague, [
    contract(WITHDRAWAL_REQUESTS_ADDRESS, assemble('ADD')),
  ]).machine
  assert.throws(() => collectRequests(broken, [], { ...options, mustHaveContracts: false }), {
    code: 'EXECUTE_CALL_FAILED',
  })
})

test('the hash of no requests is that of no bytes (EIP-7685)', () => {
  assert.equal(
    toHex(requestsHash([])),
    '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  )
  assert.notDeepEqual(requestsHash([Uint8Array.of(1, 7)]), requestsHash([Uint8Array.of(2, 7)]))
})
