// The programs that engines are compared on. All take a count of rounds as the first word of their input.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { assemble } from './assemble.mjs'

const MAIN = `0x${'b0'.repeat(20)}`
const CALLEE = `0x${'b1'.repeat(20)}`
/** Runs `body` once a round with the rounds left on the stack's top, which it leaves there; then `end`. */
const loop = (body, end = 'STOP') =>
  `0 CALLDATALOAD :L ${body} 1 SWAP1 SUB DUP1 @L JUMPI POP ${end}`
const RETURN_TOP = '0 MSTORE 32 0 RETURN'
const RETURN_FIRST = '32 0 RETURN'
const ODD = '0x9e3779b97f4a7c15f39cc0605cedc8341082276bf3a27251f86c6a11d0c18e95'

const wordOf = (number) => number.toString(16).padStart(64, '0')
const bytesOf = (digits) => Uint8Array.from(Buffer.from(digits.replace(/^0x/, ''), 'hex'))

/** Slots of the programs' contract: one far from all that they use, so that no engine knows the storage for empty. */
const SLOTS_FEW = [[`0x${'7e'.repeat(32)}`, 1n]]
/** 20,000 slots with values of all lengths. */
const SLOTS_MANY = Array.from({ length: 20_000 }, (_, index) => [
  `0x${wordOf(index + 1)}`,
  BigInt(ODD) >> BigInt(8 * (index % 32)),
])

const assembled = (main, callee) => ({
  codes: {
    [MAIN]: assemble(main),
    ...(callee === undefined ? {} : { [CALLEE]: assemble(callee) }),
  },
})
const compiled = (contract, name) => ({ contract, function: name })

/**
 * What to run, by name: code at addresses with `slots` at the first, or a contract to deploy and a function of it.
 * `start` is the first count of rounds that is tried when a run of the right length is looked for, or the count where
 * it is fixed. What `hashes` also meets the peer with the better keccak; the heavy one takes the slow peers 20 s a run.
 */
export const PROGRAMS = {
  // A multiply-add over all 256 bits.
  arithmetic: {
    start: 5000,
    ...assembled(`1 ${loop(`SWAP1 ${ODD} MUL DUP2 ADD SWAP1`, RETURN_TOP)}`),
  },
  // What compiled counters and masks do.
  'small numbers': {
    start: 5000,
    ...assembled(`0 ${loop('SWAP1 DUP2 ADD 65535 AND 3 MUL SWAP1', RETURN_TOP)}`),
  },
  'keccak 32 bytes': {
    start: 2000,
    hashes: true,
    ...assembled(loop('32 0 KECCAK256 0 MSTORE', RETURN_FIRST)),
  },
  'keccak 1 KiB': {
    start: 500,
    hashes: true,
    ...assembled(loop('1024 0 KECCAK256 0 MSTORE', RETURN_FIRST)),
  },
  memory: {
    start: 5000,
    ...assembled(
      loop(
        'DUP1 DUP1 5 SHL 32736 AND MSTORE DUP1 5 SHL 16352 AND MLOAD POP',
        '64 MLOAD 0 MSTORE 32 0 RETURN',
      ),
    ),
  },
  // 256 slots: read, add one, write.
  'storage warm': {
    start: 1000,
    ...assembled(loop('DUP1 255 AND DUP1 SLOAD 1 ADD SWAP1 SSTORE', `5 SLOAD ${RETURN_TOP}`)),
  },
  // A new slot a round: read, then from zero to not zero.
  'storage cold': {
    start: 300,
    ...assembled(loop('DUP1 DUP1 SLOAD 1 ADD SWAP1 SSTORE', `5 SLOAD ${RETURN_TOP}`)),
  },
  // Slots that hold nothing, then slots that hold values.
  'storage cold reads': { start: 300, ...assembled(loop('DUP1 SLOAD POP')) },
  'storage cold values': {
    start: SLOTS_MANY.length,
    isFixed: true,
    slots: SLOTS_MANY,
    ...assembled(`0 ${loop('DUP1 SLOAD DUP3 ADD SWAP2 POP', RETURN_TOP)}`),
  },
  transient: {
    start: 1000,
    ...assembled(loop('DUP1 255 AND DUP1 TLOAD 1 ADD SWAP1 TSTORE', `5 TLOAD ${RETURN_TOP}`)),
  },
  'call loop': {
    start: 500,
    ...assembled(
      loop(`DUP1 0 MSTORE 32 0 32 0 0 ${CALLEE} GAS CALL POP`, RETURN_FIRST),
      `0 CALLDATALOAD 1 ADD ${RETURN_TOP}`,
    ),
  },
  // Each round goes 32 calls deep.
  'calls 32 deep': {
    start: 20,
    ...assembled(
      loop(`32 0 MSTORE 0 0 32 0 0 ${CALLEE} GAS CALL POP`),
      '0 CALLDATALOAD DUP1 @R JUMPI STOP :R 1 SWAP1 SUB 0 MSTORE 0 0 32 0 0 ADDRESS GAS CALL POP STOP',
    ),
  },
  'ERC-20 warm': { start: 50, hashes: true, ...compiled('TokenLoop', 'warm(uint256)') },
  'ERC-20 cold': { start: 50, hashes: true, ...compiled('TokenLoop', 'cold(uint256)') },
  // Rounds are the number asked for: work grows by the golden ratio with each.
  Fibonacci: { start: 12, isExponential: true, ...compiled('Fibonacci', 'run(uint256)') },
  // A path tracer, 166 Mgas a run, whatever the input.
  snailtracer: { start: 1, isFixed: true, isHeavy: true, file: 'snailtracer.hex' },
}

const SNAILTRACER_CALL = '30627b7c'

/** Init code and selectors of the contracts, by name. */
export async function compileContracts() {
  // Eight MB of compiler, for the programs that need it.
  const { default: solc } = await import('solc')
  const source = readFileSync(new URL('contracts/Bench.sol', import.meta.url), 'utf8')
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { 'Bench.sol': { content: source } },
        settings: {
          evmVersion: 'cancun',
          optimizer: { enabled: true, runs: 1000 },
          outputSelection: {
            '*': {
              '*': ['evm.bytecode.object', 'evm.deployedBytecode.object', 'evm.methodIdentifiers'],
            },
          },
        },
      }),
    ),
  )
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors[0].formattedMessage)
  return Object.fromEntries(
    Object.entries(output.contracts['Bench.sol']).map(([name, { evm }]) => [
      name,
      {
        initCode: evm.bytecode.object,
        runtimeCode: evm.deployedBytecode.object,
        selectors: evm.methodIdentifiers,
      },
    ]),
  )
}

/** Path of snailtracer's code (revm's benchmark data, MIT), or `undefined`. */
export function snailtracerPath() {
  return [
    process.env.VARVE_SNAILTRACER,
    resolve(import.meta.dirname, '../../../shared/peers/fixtures/snailtracer.hex'),
  ].find((path) => path !== undefined && existsSync(path))
}

/** Puts a program into an engine. Returns its address (hex text) and the input for a count of rounds. */
export async function install(engine, name, contracts) {
  const program = PROGRAMS[name]
  if (program.codes !== undefined) {
    for (const [address, code] of Object.entries(program.codes))
      await engine.install(address, code, address === MAIN ? (program.slots ?? SLOTS_FEW) : [])
    return { target: MAIN, inputOf: (rounds) => bytesOf(wordOf(rounds)) }
  }
  if (program.file !== undefined) {
    await engine.install(MAIN, bytesOf(readFileSync(snailtracerPath(), 'utf8').trim()), [])
    return { target: MAIN, inputOf: () => bytesOf(SNAILTRACER_CALL) }
  }
  const { initCode, selectors } = contracts[program.contract]
  const target = await engine.deploy(bytesOf(initCode))
  return { target, inputOf: (rounds) => bytesOf(selectors[program.function] + wordOf(rounds)) }
}
