/**
 * VMTests: one run of code in the account `exec.address`, with what it must leave: gas, output, logs and accounts. A
 * test without `gas` must fail. The code runs under the fork that mainnet had at the test's block number.
 */
import { encodeRlp, logsToRlp } from 'varve/codec'
import { Machine, Status } from 'varve/evm'
import { keccak256 } from 'varve/kernels'
import { blockOf, emptyHost } from './emptyHost.ts'
import { bytesOf, type Fixtures, hexOf, integerOf } from './fixtures.ts'
import { frontier } from './forks.ts'
import type { SuiteReport } from './suiteReport.ts'

type Accounts = {
  readonly [address: string]: {
    readonly balance: string
    readonly nonce: string
    readonly code: string
    readonly storage: { readonly [slot: string]: string }
  }
}
type VmTest = {
  readonly env: { readonly [field: string]: string }
  readonly pre: Accounts
  readonly exec: { readonly [field: string]: string }
  readonly gas?: string
  readonly out?: string
  readonly logs?: string
  readonly post?: Accounts
}
type Record = { readonly path: string; readonly tests: { readonly [name: string]: VmTest } }

export async function runVmSuite(fixtures: Fixtures, report: SuiteReport): Promise<void> {
  const machine = new Machine()
  for await (const { tests } of fixtures.records<Record>(report.suite))
    for (const [name, test] of Object.entries(tests))
      if (name !== '_info') report.run(name, () => runVmTest(machine, test))
}

function runVmTest(machine: Machine, test: VmTest): string | undefined {
  const exec = (field: string) => test.exec[field]!
  const env = (field: string) => integerOf(test.env[field]!)
  const block = blockOf({
    fork: frontier,
    number: env('currentNumber'),
    timestamp: env('currentTimestamp'),
    gasLimit: env('currentGasLimit'),
    random: env('currentDifficulty'),
    coinbase: bytesOf(test.env['currentCoinbase']!),
  })
  machine.beginBlock(block, {
    ...emptyHost,
    blockHash: (number) => keccak256(new TextEncoder().encode(number.toString())),
  })
  machine.beginTransaction({
    origin: bytesOf(exec('origin')),
    gasPrice: integerOf(exec('gasPrice')),
  })
  putAccounts(machine, test.pre)
  const target = bytesOf(exec('address'))
  const caller = bytesOf(exec('caller'))
  const value = integerOf(exec('value'))
  machine.setCode(target, bytesOf(exec('code')))
  // These tests pass the value without moving it: the caller gets it first, and the target gives it away.
  machine.addBalance(caller, value)
  const balance = machine.getBalance(target)
  if (balance >= value) machine.subtractBalance(target, value)
  const input = bytesOf(exec('data'))
  const gas = integerOf(exec('gas'))
  const result = machine.call({ caller, target, input, value, gas })
  if (test.gas === undefined)
    return result.status === Status.Success ? 'expected a failure, it succeeded' : undefined
  if (result.status !== Status.Success) return `expected success, found status ${result.status}`
  if (result.gasLeft !== integerOf(test.gas))
    return `expected ${integerOf(test.gas)} gas left, found ${result.gasLeft}`
  if (hexOf(result.output) !== (test.out ?? '0x'))
    return `expected output ${test.out}, found ${hexOf(result.output)}`
  const logs = hexOf(keccak256(encodeRlp(logsToRlp(machine.logs()))))
  if (logs !== test.logs) return `expected hash of logs ${test.logs}, found ${logs}`
  return differenceFrom(machine, test.post ?? {})
}

function putAccounts(machine: Machine, accounts: Accounts): void {
  for (const [key, { balance, nonce, code, storage }] of Object.entries(accounts)) {
    const address = bytesOf(key)
    machine.addBalance(address, integerOf(balance))
    machine.setNonce(address, integerOf(nonce))
    machine.setCode(address, bytesOf(code))
    for (const [slot, value] of Object.entries(storage))
      machine.setStorage(address, wordOf(slot), integerOf(value))
  }
}

/** Every account of `expected`, and every slot that the machine has written. */
function differenceFrom(machine: Machine, expected: Accounts): string | undefined {
  for (const [key, account] of Object.entries(expected)) {
    const address = bytesOf(key)
    const found = {
      balance: machine.getBalance(address),
      nonce: machine.getNonce(address),
      code: hexOf(machine.getCode(address)),
    }
    if (found.balance !== integerOf(account.balance) || found.nonce !== integerOf(account.nonce))
      return `account ${key}: expected balance ${account.balance} and nonce ${account.nonce}, found ${found.balance} and ${found.nonce}`
    if (found.code !== hexOf(bytesOf(account.code))) return `account ${key}: its code differs`
    for (const [slot, value] of Object.entries(account.storage))
      if (machine.getStorage(address, wordOf(slot)) !== integerOf(value))
        return `account ${key}, slot ${slot}: expected ${value}, found ${machine.getStorage(address, wordOf(slot))}`
  }
  for (const { address, slots } of machine.writeSet()) {
    const storage = new Map(
      Object.entries(expected[hexOf(address)]?.storage ?? {}).map(([slot, value]) => [
        hexOf(wordOf(slot)),
        integerOf(value),
      ]),
    )
    for (const { slot, after } of slots)
      if ((storage.get(hexOf(slot)) ?? 0n) !== after)
        return `account ${hexOf(address)}, slot ${hexOf(slot)}: found ${after}, which is not expected`
  }
  return undefined
}

function wordOf(text: string): Uint8Array {
  return bytesOf(text.replace(/^0x/, '').padStart(64, '0'))
}
