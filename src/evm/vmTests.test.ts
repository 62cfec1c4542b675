/**
 * The legacy VM tests: one piece of code, run without a transaction. The execution environment names a value that is
 * not moved, so the target starts with that much less.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigintToMinimalBytes, Fork, fromHex, toBareHex, toHex } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { fixtureRecords, fixturesMissing } from '../testing/index.ts'
import { type Log, Machine } from './machine.ts'
import { Status } from './status.ts'
import { blockOf, World } from './testWorld.suite.ts'

type VmAccount = { balance: string; nonce: string; code: string; storage: Record<string, string> }
type VmTest = {
  readonly env: Record<string, string>
  readonly exec: Record<string, string>
  readonly pre: Record<string, VmAccount>
  readonly post?: Record<string, VmAccount>
  readonly gas?: string
  readonly out?: string
  readonly logs?: string
}

test('legacy VM tests', {
  skip: fixturesMissing('legacy VM tests', 'ethereum/legacytests Constantinople/VMTests'),
}, async () => {
  const machine = new Machine()
  let count = 0
  for await (const { tests } of fixtureRecords<{ tests: Record<string, VmTest> }>(
    'legacy-constantinople-vm',
  ))
    for (const [name, vmTest] of Object.entries(tests)) {
      runVmTest(machine, name, vmTest)
      count++
    }
  assert.equal(count, 295)
})

function runVmTest(
  machine: Machine,
  name: string,
  { env, exec, pre, post, gas, out, logs }: VmTest,
): void {
  const world = new World()
  for (const [address, account] of Object.entries(pre))
    world.put(fromHex(address), worldAccount(account))
  const target = fromHex(exec['address']!)
  const caller = fromHex(exec['caller']!)
  const value = BigInt(exec['value']!)
  const own = world.accounts.get(toBareHex(target))
  world.put(target, {
    ...own,
    code: fromHex(exec['code']!),
    balance: BigInt.asUintN(256, (own?.balance ?? 0n) - value),
  })
  world.put(caller, { balance: value })
  machine.beginBlock(
    blockOf(Fork.Frontier, {
      number: BigInt(env['currentNumber']!),
      timestamp: BigInt(env['currentTimestamp']!),
      gasLimit: BigInt(env['currentGasLimit']!),
      coinbase: fromHex(env['currentCoinbase']!),
      random: BigInt(env['currentDifficulty']!),
    }),
    world,
  )
  machine.beginTransaction({
    origin: fromHex(exec['origin']!),
    gasPrice: BigInt(exec['gasPrice']!),
  })
  const input = fromHex(exec['data']!)
  const result = machine.call({ caller, target, input, value, gas: BigInt(exec['gas']!) })
  if (post === undefined) {
    assert.ok(result.status > Status.Revert, `${name}: expected a failure`)
    return
  }
  assert.equal(result.status, Status.Success, name)
  assert.equal(result.gasLeft, BigInt(gas!), `${name}: gas`)
  assert.equal(toHex(result.output), out, name)
  assert.equal(toHex(keccak256(logsRlp(machine.logs()))), logs, `${name}: logs`)
  for (const [address, { storage }] of Object.entries(post))
    for (const [slot, expected] of Object.entries(storage)) {
      const key = new Uint8Array(32)
      const bytes = bigintToMinimalBytes(BigInt(slot))
      key.set(bytes, 32 - bytes.length)
      assert.equal(
        machine.getStorage(fromHex(address), key),
        BigInt(expected),
        `${name}: slot ${slot}`,
      )
    }
}

function worldAccount(account: VmAccount): {
  nonce: bigint
  balance: bigint
  code: Uint8Array
  storage: Map<bigint, bigint>
} {
  const slots = Object.entries(account.storage).map(
    ([key, value]) => [BigInt(key), BigInt(value)] as const,
  )
  return {
    nonce: BigInt(account.nonce),
    balance: BigInt(account.balance),
    code: fromHex(account.code),
    storage: new Map(slots),
  }
}

/** RLP of logs, written out here since this layer knows no codec. */
function logsRlp(logs: readonly Log[]): Uint8Array {
  return list(
    logs.map(({ address, topics, data }) =>
      list([text(address), list(topics.map(text)), text(data)]),
    ),
  )
}

function text(bytes: Uint8Array): Uint8Array {
  return bytes.length === 1 && bytes[0]! < 0x80 ? bytes : prefixed(0x80, bytes)
}

function list(items: readonly Uint8Array[]): Uint8Array {
  return prefixed(0xc0, Uint8Array.from(items.flatMap((item) => [...item])))
}

function prefixed(base: number, payload: Uint8Array): Uint8Array {
  if (payload.length < 56) return Uint8Array.from([base + payload.length, ...payload])
  const length = bigintToMinimalBytes(BigInt(payload.length))
  return Uint8Array.from([base + 55 + length.length, ...length, ...payload])
}
