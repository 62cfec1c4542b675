// The engines under one interface: `install(address, code, slots)`, `deploy(initCode)`, `call(target, input)`, which
// changes no state and gives `{ output, gasUsed }`, and `transact(target, input)`, whose gas is the whole transaction's,
// with refunds and input. Addresses and output are hex text. EDR's `call` cannot tell gas.
import { bigintToMinimalBytes, Fork, toHex } from '../../dist/base/index.js'
import { Machine, preparePrecompiles } from '../../dist/evm/index.js'
import { openEdr } from './edrProvider.mjs'
import { MapWorld } from './mapWorld.mjs'

const GAS = 1n << 40n
const KEY = `0x${'11'.repeat(32)}`
/** Address of `KEY`. */
const SENDER = '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a'
const BALANCE = 10n ** 24n
const bytesOf = (text) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'))

/** Gas of a transaction that ran for `executionGas` (EIP-3529: a fifth at most goes back). */
function transactionGasOf(executionGas, refund, input) {
  const inputGas = input.reduce((sum, byte) => sum + (byte === 0 ? 4n : 16n), 0n)
  const used = 21_000n + inputGas + executionGas
  return used - (refund < used / 5n ? refund : used / 5n)
}

const BLOCK = {
  fork: Fork.Prague,
  number: 1n,
  timestamp: 1_700_000_000n,
  gasLimit: 1n << 50n,
  coinbase: new Uint8Array(20).fill(0xc0),
  random: 0n,
  chainId: 31337n,
  baseFee: 0n,
  blobBaseFee: 1n,
}

async function varve() {
  await preparePrecompiles()
  const machine = new Machine()
  const world = new MapWorld()
  const caller = bytesOf(SENDER)
  world.put(SENDER, { nonce: 1n, balance: BALANCE, code: new Uint8Array(0) })
  // Every call is a block of its own: all state and code is loaded again within the clock.
  const begin = (target) => {
    machine.beginBlock(BLOCK, world)
    machine.beginTransaction({ origin: caller, gasPrice: 0n })
    machine.warmAddress(caller)
    machine.warmAddress(BLOCK.coinbase)
    if (target !== undefined) machine.warmAddress(target)
  }
  const call = (to, input) => {
    const target = bytesOf(to)
    begin(target)
    const result = machine.call({ caller, target, input, value: 0n, gas: GAS })
    if (result.status !== 0) throw new Error(`varve: status ${result.status}`)
    machine.finishTransaction()
    return { output: toHex(result.output), gasUsed: GAS - result.gasLeft }
  }
  return {
    install(address, code, slots) {
      world.put(address, { nonce: 1n, balance: 0n, code, slots })
    },
    deploy(initCode) {
      begin()
      const result = machine.create({ caller, initCode, value: 0n, gas: GAS })
      if (result.status !== 0) throw new Error(`varve: deployment has status ${result.status}`)
      machine.finishTransaction()
      world.apply(machine.writeSet())
      return toHex(result.created)
    },
    call,
    transact(to, input) {
      const { output, gasUsed } = call(to, input)
      return { output, gasUsed: transactionGasOf(gasUsed, machine.refund, input) }
    },
  }
}

/** @param stateKind 'simple', maps that are fastest here; or 'merkle', whose gas is right where the simple one's is not */
async function ethereumjs({ stateKind = 'simple', hasWasmKeccak = false } = {}) {
  const { Common, Mainnet } = await import('@ethereumjs/common')
  const { createEVM } = await import('@ethereumjs/evm')
  const { SimpleStateManager, MerkleStateManager } = await import('@ethereumjs/statemanager')
  const { createAddressFromString, createAccount } = await import('@ethereumjs/util')
  const customCrypto = hasWasmKeccak ? (await import('./ethereumjs.mjs')).wasmCrypto : {}
  const common = new Common({ chain: Mainnet, hardfork: 'prague', customCrypto })
  const StateManager = stateKind === 'simple' ? SimpleStateManager : MerkleStateManager
  const stateManager = new StateManager({ common })
  const evm = await createEVM({ common, stateManager, allowUnlimitedContractSize: true })
  const caller = createAddressFromString(SENDER)
  await stateManager.putAccount(caller, createAccount({ nonce: 1n, balance: BALANCE }))
  const run = async (fields) => {
    const result = await evm.runCall({ caller, gasLimit: GAS, ...fields })
    const { exceptionError } = result.execResult
    if (exceptionError !== undefined) throw new Error(`ethereumjs: ${exceptionError.error}`)
    await evm.journal.cleanup()
    return result
  }
  return {
    async install(text, code, slots) {
      const address = createAddressFromString(text)
      await stateManager.putAccount(address, createAccount({ nonce: 1n }))
      await stateManager.putCode(address, code)
      for (const [slot, value] of slots)
        await stateManager.putStorage(address, bytesOf(slot), bigintToMinimalBytes(value))
    },
    async deploy(initCode) {
      return (await run({ data: initCode })).createdAddress.toString()
    },
    async call(target, data) {
      const { execResult } = await run({ to: createAddressFromString(target), data })
      return { output: toHex(execResult.returnValue), gasUsed: execResult.executionGasUsed }
    },
    async transact(target, data) {
      const { execResult } = await run({ to: createAddressFromString(target), data })
      const { executionGasUsed, gasRefund = 0n, returnValue } = execResult
      const gasUsed = transactionGasOf(executionGasUsed, gasRefund, data)
      return { output: toHex(returnValue), gasUsed }
    },
    /** Runs `work`, then forgets what it changed: calls of other engines keep nothing either. */
    async isolate(work) {
      stateManager.originalStorageCache.clear()
      await stateManager.checkpoint()
      try {
        return await work()
      } finally {
        await stateManager.revert()
      }
    },
  }
}

async function edr() {
  const request = await openEdr({
    hardfork: 'prague',
    hasSystemContracts: true,
    chainId: BLOCK.chainId,
    coinbase: BLOCK.coinbase,
    blockGasLimit: BLOCK.gasLimit,
    genesisSeconds: BLOCK.timestamp,
    genesisState: [{ address: bytesOf(SENDER), balance: BALANCE, nonce: 1n }],
    baseFee: 0n,
    hasAutoMining: true,
    ownedKeys: [KEY],
  })
  const message = (to, input, gas = GAS) => ({
    from: SENDER,
    ...(to === undefined ? {} : { to }),
    data: toHex(input),
    gas: `0x${gas.toString(16)}`,
    gasPrice: '0x0',
  })
  const send = async (fields) => {
    const hash = await request('eth_sendTransaction', [fields])
    const receipt = await request('eth_getTransactionReceipt', [hash])
    if (receipt.status !== '0x1') throw new Error('edr: the transaction failed')
    return receipt
  }
  return {
    async install(address, code, slots) {
      await request('hardhat_setCode', [address, toHex(code)])
      for (const [slot, value] of slots)
        await request('hardhat_setStorageAt', [
          address,
          `0x${BigInt(slot).toString(16)}`,
          `0x${value.toString(16).padStart(64, '0')}`,
        ])
    },
    deploy: async (initCode) =>
      (await send(message(undefined, initCode, 15_000_000n))).contractAddress,
    call: async (to, input) => ({
      output: await request('eth_call', [message(to, input), 'latest']),
      gasUsed: undefined,
    }),
    // The call first: the transaction changes the state.
    transact: async (to, input) => ({
      output: await request('eth_call', [message(to, input), 'latest']),
      gasUsed: BigInt((await send(message(to, input))).gasUsed),
    }),
  }
}

/**
 * Engines by name: `create` for the clock, `createExact` for the comparison of gas where they differ. One that
 * `hashesOnly` runs the programs that hash; a slow one runs a heavy program once.
 */
export const ENGINES = {
  varve: { create: varve },
  ethereumjs: {
    create: ethereumjs,
    createExact: () => ethereumjs({ stateKind: 'merkle' }),
    isSlow: true,
  },
  'ethereumjs wasm keccak': {
    create: () => ethereumjs({ hasWasmKeccak: true }),
    createExact: () => ethereumjs({ stateKind: 'merkle', hasWasmKeccak: true }),
    isSlow: true,
    hashesOnly: true,
  },
  'EDR eth_call': { create: edr },
}
