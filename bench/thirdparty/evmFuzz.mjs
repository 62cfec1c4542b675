// Random programs and storage sequences here and in @ethereumjs/evm, Prague and Osaka: status class, gas, refund, output
// and logs of every transaction, and all accounts and slots afterwards, must be equal.
// Usage: node evmFuzz.mjs [SEED] [COUNT]
//
// A case is one block of one to three transactions. One that differs is reduced, while it still differs, and printed;
// the exit code is 1 then.
import { Common, Mainnet } from '@ethereumjs/common'
import { createEVM } from '@ethereumjs/evm'
import { SimpleStateManager } from '@ethereumjs/statemanager'
import { createAccount, createAddressFromString } from '@ethereumjs/util'
import { bigintFromBytes, Fork, fromHex, toHex } from '../../dist/base/index.js'
import { Machine, preparePrecompiles } from '../../dist/evm/index.js'
import { Prng } from '../../dist/testing/index.js'
import { drawCase, SENDER } from './evmFuzzCases.mjs'
import { reduceCase } from './evmFuzzReduce.mjs'
import { MapWorld } from './mapWorld.mjs'

const COINBASE = `0x${'c0'.repeat(20)}`
const BLOCK = {
  number: 1000n,
  timestamp: 1_700_000_000n,
  gasLimit: 1n << 40n,
  coinbase: fromHex(COINBASE),
  random: 0x20000n,
  chainId: 1n,
  baseFee: 7n,
  blobBaseFee: 1n,
}
const GAS_PRICE = 10n
const HARDFORKS = { prague: Fork.Prague, osaka: Fork.Osaka }
const SUCCESS = 0
const REVERT = 1
const machine = new Machine()

const statusClass = (isSuccess, isRevert) =>
  isSuccess ? 'success' : isRevert ? 'revert' : 'failure'

function runVarve({ hardfork, accounts, transactions }) {
  const world = new MapWorld()
  for (const [address, account] of Object.entries(accounts)) world.put(address, account)
  const sender = fromHex(SENDER)
  machine.beginBlock({ ...BLOCK, fork: HARDFORKS[hardfork] }, world)
  const results = transactions.map(({ target, input, value, gas, blobHashes }) => {
    machine.beginTransaction({ origin: sender, gasPrice: GAS_PRICE, blobHashes })
    machine.warmAddress(sender)
    machine.warmAddress(BLOCK.coinbase)
    if (target !== undefined) machine.warmAddress(fromHex(target))
    if (target !== undefined) machine.setNonce(sender, machine.getNonce(sender) + 1n)
    const { status, gasLeft, output } =
      target === undefined
        ? machine.create({ caller: sender, initCode: input, value, gas })
        : machine.call({ caller: sender, target: fromHex(target), input, value, gas })
    const result = {
      status: statusClass(status === SUCCESS, status === REVERT),
      gasUsed: gas - gasLeft,
      output: status === SUCCESS || status === REVERT ? toHex(output) : '0x',
      refund: machine.refund,
      logs: machine
        .logs()
        .map(({ address, topics, data }) => [toHex(address), topics.map(toHex), toHex(data)]),
    }
    machine.finishTransaction()
    return result
  })
  world.apply(machine.writeSet())
  const state = world
    .accounts()
    .map(([address, { nonce, balance, codeHash, slots }]) => [
      address,
      { nonce, balance, codeHash: toHex(codeHash), slots: slots.sort() },
    ])
  return { results, state: Object.fromEntries(state.sort()) }
}

const engines = {}
for (const hardfork of Object.keys(HARDFORKS)) {
  // Proofs of random points are never right.
  const kzg = { verifyProof: () => false }
  const common = new Common({ chain: Mainnet, hardfork, customCrypto: { kzg } })
  engines[hardfork] = { common, evm: await createEVM({ common }) }
}
const peerBlock = {
  header: {
    number: BLOCK.number,
    coinbase: createAddressFromString(COINBASE),
    timestamp: BLOCK.timestamp,
    difficulty: 0n,
    prevRandao: fromHex(`0x${BLOCK.random.toString(16).padStart(64, '0')}`),
    gasLimit: BLOCK.gasLimit,
    baseFeePerGas: BLOCK.baseFee,
    getBlobGasPrice: () => BLOCK.blobBaseFee,
  },
}

async function runPeer({ hardfork, accounts, transactions }) {
  const { common, evm } = engines[hardfork]
  const stateManager = new SimpleStateManager({ common })
  evm.stateManager = stateManager
  evm.journal.stateManager = stateManager
  for (const [text, { nonce, balance, code, slots }] of Object.entries(accounts)) {
    const address = createAddressFromString(text)
    await stateManager.putAccount(address, createAccount({ nonce, balance }))
    if (code.length > 0) await stateManager.putCode(address, code)
    for (const [slot, value] of slots)
      await stateManager.putStorage(address, fromHex(slot), minimalBytes(value))
  }
  const results = []
  for (const transaction of transactions) results.push(await runPeerTransaction(evm, transaction))
  return { results, state: peerState(stateManager) }
}

const minimalBytes = (value) => {
  const digits = value.toString(16)
  return fromHex(`0x${digits.padStart(digits.length + (digits.length & 1), '0')}`)
}

async function runPeerTransaction(evm, { target, input, value, gas, blobHashes }) {
  const { journal, stateManager, transientStorage } = evm
  journal.cleanJournal()
  transientStorage.clear()
  stateManager.originalStorageCache.clear()
  for (const address of evm.precompiles.keys()) journal.addAlwaysWarmAddress(address)
  for (const address of [SENDER, COINBASE, target])
    if (address !== undefined) journal.addAlwaysWarmAddress(address)
  const { execResult } = await evm.runCall({
    block: peerBlock,
    caller: createAddressFromString(SENDER),
    ...(target === undefined ? {} : { to: createAddressFromString(target) }),
    data: input,
    value,
    gasLimit: gas,
    gasPrice: GAS_PRICE,
    blobVersionedHashes: blobHashes.map(toHex),
  })
  const error = execResult.exceptionError?.error
  // What its runTx does after a message, for EIP-6780. The simple state leaves code and slots of a deleted account behind.
  for (const text of execResult.selfdestruct?.keys() ?? []) {
    if (!execResult.createdAddresses.has(text)) continue
    const address = createAddressFromString(text)
    await journal.deleteAccount(address)
    await stateManager.clearStorage(address)
    stateManager.topCodeStack().delete(text)
  }
  await journal.cleanup()
  const status = statusClass(error === undefined, error === 'revert')
  return {
    status,
    gasUsed: execResult.executionGasUsed,
    output: status === 'failure' ? '0x' : toHex(execResult.returnValue),
    refund: execResult.gasRefund ?? 0n,
    logs: (execResult.logs ?? []).map(([address, topics, data]) => [
      toHex(address),
      topics.map(toHex),
      toHex(data),
    ]),
  }
}

function peerState(stateManager) {
  const state = {}
  for (const [address, account] of stateManager.topAccountStack()) {
    if (account === undefined) continue
    const { nonce, balance, codeHash } = account
    state[address] = { nonce, balance, codeHash: toHex(codeHash), slots: [] }
  }
  for (const [key, value] of stateManager.topStorageStack()) {
    const [address, slot] = key.split('_')
    const number = bigintFromBytes(value)
    if (number !== 0n) state[address]?.slots.push([slot, number])
  }
  for (const { slots } of Object.values(state)) slots.sort()
  return Object.fromEntries(Object.entries(state).sort())
}

const textOf = (value) =>
  JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}` : item), 1)

/** Both outcomes as text, where they differ, and how many transactions succeeded. */
async function compare(fuzzCase) {
  let peer
  try {
    peer = textOf(await runPeer(fuzzCase))
  } catch (error) {
    peer = `threw ${error.message}`
  }
  const outcome = runVarve(fuzzCase)
  const own = textOf(outcome)
  const successCount = outcome.results.filter(({ status }) => status === 'success').length
  return { differs: own !== peer, own, peer, successCount }
}

function printDifference({ own, peer }) {
  const [ownLines, peerLines] = [own.split('\n'), peer.split('\n')]
  for (let line = 0; line < Math.max(ownLines.length, peerLines.length); line++)
    if (ownLines[line] !== peerLines[line])
      console.log(`  varve ${ownLines[line]?.trim()}\n  peer  ${peerLines[line]?.trim()}`)
}

const printable = (fuzzCase) =>
  JSON.stringify(fuzzCase, (_, item) =>
    typeof item === 'bigint' ? `${item}` : item instanceof Uint8Array ? toHex(item) : item,
  )

async function main() {
  const seed = Number(process.argv[2] ?? Date.now() % 2 ** 31)
  const caseCount = Number(process.argv[3] ?? 1000)
  if (!Number.isInteger(seed) || !Number.isInteger(caseCount) || caseCount < 1)
    throw new Error('usage: evmFuzz.mjs [SEED] [COUNT]')
  console.log(`seed ${seed}, ${caseCount} cases`)
  await preparePrecompiles()
  const random = new Prng(seed)
  let transactionCount = 0
  let successCount = 0
  let differenceCount = 0
  for (let index = 0; index < caseCount; index++) {
    const fuzzCase = drawCase(random)
    transactionCount += fuzzCase.transactions.length
    const comparison = await compare(fuzzCase)
    successCount += comparison.successCount
    if (!comparison.differs) continue
    differenceCount++
    const reduced = await reduceCase(fuzzCase, async (other) => (await compare(other)).differs)
    console.log(`case ${index} of seed ${seed} differs: ${printable(reduced)}`)
    printDifference(await compare(reduced))
    if (differenceCount >= 20) break
  }
  console.log(
    `${transactionCount} transactions, ${successCount} succeeded, ${differenceCount} cases differ`,
  )
  if (differenceCount > 0) process.exitCode = 1
}

await main()
