// Draws the cases of `evmFuzz.mjs`: accounts with random code, and transactions that call or create.
import { bytesConcat } from '../../dist/base/index.js'
import { drawProgram } from '../../dist/evm/evm.fuzz.js'
import { OPCODES } from '../../dist/evm/index.js'
import { assemble } from './assemble.mjs'

const addressOf = (number) => `0x${number.toString(16).padStart(40, '0')}`
export const SENDER = addressOf(0xaaaaaaaa)
const TARGET = addressOf(0xcccccccc)
const OTHER = addressOf(0xdddddddd)
/** Delegates to `OTHER` (EIP-7702). */
const DELEGATED = addressOf(0xeeeeeeee)
const slotOf = (number) => `0x${number.toString(16).padStart(64, '0')}`

const GAS_BOUNDS = [3000, 60_000, 100_000, 100_000, 150_000, 200_000, 500_000]

/** Init codes of up to 32 bytes: write and stop, deploy what destroys itself, destroy at once, revert, store and deploy. */
const INIT_CODES = [
  '1 1 SSTORE STOP',
  '0x32ff 0 MSTORE 2 30 RETURN',
  `1 2 SSTORE 0xcccccccc SELFDESTRUCT`,
  'ADDRESS SELFDESTRUCT',
  '7 0 MSTORE 1 1 SSTORE 32 0 REVERT',
  '1 1 SSTORE 0 1 SSTORE 0x5f545f55 0 MSTORE 4 28 RETURN',
  '0xef 0 MSTORE 1 31 RETURN',
  '5 0 TSTORE 0 TLOAD 3 SSTORE 24577 0 RETURN',
].map(assemble)

const hexOf = (bytes) => `0x${Buffer.from(bytes).toString('hex')}`

/** Reads and writes of few slots and values, kept and transient, between calls, creations, logs of gas and reverts. */
function drawStorageSequence(random) {
  const slot = () => random.pick([0, 1, 2, 3, slotOf((1n << 256n) - 1n)])
  const value = () => random.pick([0, 0, 1, 2, 5, slotOf(1n << 200n)])
  const address = () =>
    random.pick(['ADDRESS', '0xcccccccc', '0xdddddddd', '0xeeeeeeee', '0x77777777'])
  const gas = () => random.pick(['GAS', random.below(5000), random.below(100_000)])
  const wei = () => (random.oneIn(3) ? 1 : 0)
  const creation = () => {
    const init = random.pick(INIT_CODES)
    const range = `${hexOf(init)} 0 MSTORE`
    const kind = random.oneIn(2) ? 'CREATE' : 'CREATE2'
    const salt = kind === 'CREATE2' ? random.below(2) : ''
    const created = `${range} ${salt} ${init.length} ${32 - init.length} ${wei()} ${kind}`
    return random.oneIn(2) ? `${created} POP` : `${created} 0 0 0 0 ${wei()} DUP6 GAS CALL POP POP`
  }
  const steps = [
    () => `${value()} ${slot()} SSTORE`,
    () => `${value()} ${slot()} SSTORE`,
    () => `${slot()} SLOAD POP`,
    () => `${slot()} SLOAD 1 ADD ${slot()} SSTORE`,
    () => `${value()} ${slot()} TSTORE`,
    () => `${slot()} TLOAD ${slot()} SSTORE`,
    () => `GAS 0 MSTORE 7 32 0 LOG1`,
    () => `0 32 0 0 ${wei()} ${address()} ${gas()} ${random.pick(['CALL', 'CALLCODE'])} POP`,
    () => `32 0 32 0 ${address()} ${gas()} ${random.pick(['DELEGATECALL', 'STATICCALL'])} POP`,
    () =>
      `RETURNDATASIZE 0 0 RETURNDATACOPY ${address()} BALANCE ${address()} EXTCODEHASH XOR 64 MSTORE`,
    () => `${address()} EXTCODESIZE SELFBALANCE ADD 96 MSTORE`,
    creation,
  ]
  const ends = [
    'STOP',
    '128 0 RETURN',
    '96 32 RETURN',
    '32 0 REVERT',
    '0 JUMP',
    `${address()} SELFDESTRUCT`,
    '',
  ]
  const length = random.between(1, random.pick([4, 12, 30]))
  const body = Array.from({ length }, () => random.pick(steps)())
  return assemble(`${body.join(' ')} ${random.pick(ends)} STOP`)
}

/** Opcodes whose operands may be any word. */
const PLAIN = OPCODES.filter(Boolean).filter(
  ({ code, pops, pushes }) =>
    pops <= 3 && pushes === 1 && (code < 0x20 || (code >= 0x30 && code < 0x4b)),
)
const WORDS = [
  0n,
  1n,
  2n,
  31n,
  32n,
  255n,
  256n,
  1n << 63n,
  1n << 64n,
  1n << 128n,
  1n << 255n,
  (1n << 256n) - 1n,
]

/** Words and memory: never a stack underflow, so that programs reach their ends; what they computed is returned. */
function drawComputation(random) {
  const word = () => {
    const bytes = random.bytes(random.between(1, 32))
    return random.oneIn(3) ? slotOf(random.pick(WORDS)) : `0x${Buffer.from(bytes).toString('hex')}`
  }
  const small = () => random.below(random.oneIn(8) ? 3000 : 100)
  const copied = () => random.pick(['CALLDATACOPY', 'CODECOPY'])
  const precompile = () => random.pick([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 256])
  let height = 0
  const parts = []
  const length = random.between(1, random.pick([10, 60]))
  for (let step = 0; step < length; step++)
    switch (random.below(9)) {
      case 0:
        parts.push(`${small()} MLOAD ${small()} MSTORE`)
        break
      case 1:
        parts.push(`${word()} ${small()} ${random.pick(['MSTORE', 'MSTORE8'])}`)
        break
      case 2:
        parts.push(`${small()} ${random.oneIn(4) ? word() : small()} ${small()} ${copied()}`)
        break
      case 3:
        parts.push(
          `${small()} ${small()} ${small()} MCOPY ${small()} ${small()} KECCAK256 ${small()} MSTORE`,
        )
        break
      case 4:
        parts.push(
          `${word()} ${word()} ${small()} ${small()} LOG2 ${small()} ${small()} 0xcccccccc EXTCODECOPY`,
        )
        break
      case 5:
        parts.push(
          `${small()} ${small()} ${random.pick([0, 32, 64, 96, 128, 160, 192, 213, 256, 288, 384])} ${small()} ${precompile()} GAS STATICCALL ADD`.replace(
            /^/,
            '0 ',
          ),
        )
        height++
        break
      default: {
        const { name, pops } = random.pick(PLAIN)
        while (height < pops || random.oneIn(2)) {
          parts.push(word())
          height++
        }
        parts.push(name)
        height += 1 - pops
      }
    }
  for (; height > 0; height--) parts.push(`${32 * height} MSTORE`)
  return assemble(`${parts.join(' ')} MSIZE 0 RETURN`)
}

const drawCode = (random) =>
  random.pick([drawStorageSequence, drawStorageSequence, drawComputation, drawProgram])(random)

export function drawCase(random) {
  const slots = () =>
    [0, 1, 2, 3]
      .filter(() => random.oneIn(2))
      .map((slot) => [slotOf(slot), random.pick([1n, 5n, 1n << 200n])])
  const transactions = Array.from({ length: random.pick([1, 1, 2, 3]) }, () => ({
    target: random.oneIn(8) ? undefined : random.pick([TARGET, TARGET, TARGET, OTHER]),
    input: random.bytes(random.below(100)),
    value: random.pick([0n, 0n, 1n, 7n]),
    gas: BigInt(random.pick(GAS_BOUNDS.map((bound) => random.between(bound >> 1, bound)))),
    blobHashes: random.oneIn(4) ? [random.bytes(32)] : [],
  }))
  for (const transaction of transactions)
    if (transaction.target === undefined) transaction.input = drawCode(random)
  return {
    hardfork: random.pick(['prague', 'osaka']),
    accounts: {
      [SENDER]: { nonce: 1n, balance: 1n << 100n, code: new Uint8Array(0), slots: [] },
      [TARGET]: { nonce: 1n, balance: 5000n, code: drawCode(random), slots: slots() },
      [OTHER]: { nonce: 1n, balance: 7n, code: drawCode(random), slots: slots() },
      [DELEGATED]: {
        nonce: 1n,
        balance: 1n,
        code: bytesConcat(Uint8Array.of(0xef, 1, 0), Buffer.from(OTHER.slice(2), 'hex')),
        slots: slots(),
      },
    },
    transactions,
  }
}
