/** Aim: numbers that stand both in the kernel's source and in TypeScript agree. Method: read the source as text. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Fork } from '../base/index.ts'
import { EvmLayout } from '../kernels/index.ts'
import { forkTable, RULE_PARAMETERS, ruleParameters, staticGas } from './forkTable.ts'
import * as gas from './gas.ts'
import { OPCODES, opcodeName } from './opcodes.ts'
import { JOURNAL } from './stateAccess.ts'
import { ACCOUNT_STATE_BYTES, SLOT_STATE_BYTES } from './stateGas.ts'
import { STATUS_TEXTS, Status } from './status.ts'

const folder = join(import.meta.dirname, '../../assembly/evm')
const skip = existsSync(folder) ? false : 'the kernel source is not at hand'

/** Constants of a kernel file, sums and shifts evaluated. */
function constants(...files: string[]): Map<string, number> {
  const known = new Map<string, number>()
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, name, expression] of text.matchAll(
      /^(?:export )?const (\w+): \w+ = ([^\n/]+)/gm,
    )) {
      const terms = expression!.trim().split(/\s*\+\s*/)
      const values = terms.map((term) => known.get(term) ?? Number(term))
      known.set(
        name!,
        values.reduce((sum, value) => sum + value, 0),
      )
    }
  }
  return known
}

test('the memory map and the records are the same on both sides', { skip }, () => {
  const source = constants('layout.ts', 'accounts.ts', 'slots.ts', 'codes.ts')
  const areas: Record<string, number> = {
    ENV: source.get('ENVIRONMENT')!,
    M: source.get('MAILBOX')!,
  }
  for (const [name, value] of Object.entries(EvmLayout)) {
    const area = areas[name.split('_')[0]!] ?? 0
    assert.equal(source.get(name), value + area, name)
  }
})

test('areas of the memory map do not overlap', { skip }, () => {
  const source = constants('layout.ts')
  const at = (name: string): number => source.get(name)!
  const parameters = at('RULES_PARAMETERS') + 4 * RULE_PARAMETERS.length
  assert.ok(parameters <= at('ENVIRONMENT'))
  assert.ok(at('ENV_HASH_KEYS') + 64 <= at('HASH_SCRATCH'))
  assert.ok(at('HASH_SCRATCH') + 1280 <= at('SCRATCH'))
  assert.ok(at('SCRATCH') + 1024 <= at('MAILBOX'))
  assert.ok(at('BLOB_HASHES') + 32 * at('BLOB_HASH_COUNT_MAX') <= at('FRAMES'))
  const frames = at('DEPTH_MAX') + 2
  assert.ok(at('FRAMES') + frames * at('FRAME_BYTES') <= at('STACKS'))
  assert.ok(at('STACKS') + frames * at('STACK_BYTES') <= at('HEAP') - 256)
})

test('statuses have the same numbers and a text each', { skip }, () => {
  const source = constants('status.ts')
  const snake = (name: string): string => name.replace(/(?<!^)([A-Z])/g, '_$1').toUpperCase()
  for (const [name, value] of Object.entries(Status)) {
    assert.equal(source.get(snake(name)), value, name)
    assert.ok(STATUS_TEXTS[value] !== undefined)
  }
  assert.equal(STATUS_TEXTS.length, Object.keys(Status).length)
})

test('gas numbers and rule parameters are the same on both sides', { skip }, () => {
  const source = constants('rules.ts')
  for (const [name, value] of source) {
    if (name.startsWith('GAS_')) assert.equal(value, (gas as Record<string, unknown>)[name], name)
    if (name.startsWith('P_')) assert.equal(RULE_PARAMETERS[value], name.slice(2))
  }
  assert.equal(
    [...source.keys()].filter((name) => name.startsWith('P_')).length,
    RULE_PARAMETERS.length,
  )
})

test('the fork table gives each opcode its gas and needs, and hides those of later forks', () => {
  const table = forkTable(Fork.Frontier)
  assert.equal(table[512 + 0xf4], 255, 'DELEGATECALL is of Homestead')
  assert.equal(table[512 + 0xf1], 7)
  assert.equal(table[768 + 0x60], 1)
  assert.equal(forkTable(Fork.Shanghai)[512 + 0x5f], 0, 'PUSH0')
  assert.equal(forkTable(Fork.Prague)[512 + 0x1e], 255, 'CLZ')
  assert.equal(forkTable(Fork.Osaka)[512 + 0x1e], 1)
  for (const fork of Object.values(Fork))
    for (const code of [0x0c, 0x21, 0x4c, 0xa5, 0xfe, 0xfb])
      assert.equal(forkTable(fork)[512 + code], 255, `0x${code.toString(16)}`)
})

test('gas of opcodes over the forks (Yellow Paper, appendix G; EIP-150, 1884, 2929)', () => {
  const at = (code: number): number[] =>
    [Fork.Frontier, Fork.TangerineWhistle, Fork.Istanbul, Fork.Berlin].map((fork) =>
      staticGas(code, fork),
    )
  assert.deepEqual(at(0x54), [50, 200, 800, 100])
  assert.deepEqual(at(0x31), [20, 400, 700, 100])
  assert.deepEqual(at(0xf1), [40, 700, 700, 100])
  assert.deepEqual(at(0xff), [0, 5000, 5000, 5000])
  const spots: Record<string, number> = {
    ADD: 3,
    MUL: 5,
    ADDMOD: 8,
    JUMPI: 10,
    JUMPDEST: 1,
    CREATE: 32000,
    LOG2: 1125,
    KECCAK256: 30,
    BLOCKHASH: 20,
    MSTORE8: 3,
    PC: 2,
    STOP: 0,
    CLZ: 5,
    MCOPY: 3,
    TSTORE: 100,
    PUSH0: 2,
    PUSH1: 3,
    SWAP16: 3,
  }
  for (const opcode of OPCODES)
    if (opcode !== undefined && spots[opcode.name] !== undefined)
      assert.equal(staticGas(opcode.code, Fork.Osaka), spots[opcode.name], opcode.name)
})

test('kinds of journal entries are the same on both sides', { skip }, () => {
  const source = constants('journal.ts')
  for (const [name, value] of Object.entries(JOURNAL))
    assert.equal(source.get(name === 'ENTRY_BYTES' ? name : `J_${name}`), value, name)
})

test('bytes of state are the same on both sides', { skip }, () => {
  const source = constants('stateGas.ts')
  assert.equal(source.get('ACCOUNT_STATE_BYTES'), Number(ACCOUNT_STATE_BYTES))
  assert.equal(source.get('SLOT_STATE_BYTES'), Number(SLOT_STATE_BYTES))
})

test('parameters of the latest fork', () => {
  const rules = ruleParameters(Fork.Osaka)
  assert.equal(rules.COLD_ACCOUNT + rules.WARM, 2600)
  assert.equal(rules.COLD_SLOT + rules.WARM, 2100)
  assert.equal(rules.SSTORE_CLEAR_REFUND, 4800)
  assert.equal(rules.PRECOMPILES, 0x3fffe)
  assert.equal(rules.PRECOMPILE_256, 1)
})

test('names of opcodes follow the fork', () => {
  assert.equal(opcodeName(0x44, Fork.London), 'DIFFICULTY')
  assert.equal(opcodeName(0x44, Fork.Paris), 'PREVRANDAO')
  assert.equal(opcodeName(0x5f, Fork.London), 'opcode 0x5f not defined')
})
