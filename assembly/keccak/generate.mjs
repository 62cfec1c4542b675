// Writes permutation.ts, the keccak-f[1600] permutation in two shapes, from the definition in FIPS 202, section 3.
// Usage: node assembly/keccak/generate.mjs [--check]    (--check compares and exits 1 on a difference)
//
// The shape is the result of measuring (V8 11.3, Zen 4): lanes stay in linear memory, since 25 live words spill
// anyway; two rounds a turn, from the state to its copy and back; the column parities of a round are gathered while
// it writes. Unrolling all rounds took 1.6 to 2.4 times as long, lanes in locals 1.12 times.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const target = new URL('permutation.ts', import.meta.url)
const lane = (x, y) => (x % 5) + 5 * (y % 5)
const columns = [0, 1, 2, 3, 4]
const STATE = 'state'
const SWAP = 'swap'

/** Rotation of each lane (step rho): the walk (x, y) -> (y, 2x + 3y) with growing triangular numbers. */
const rotations = (() => {
  const amounts = new Array(25).fill(0)
  let [x, y] = [1, 0]
  for (let step = 0; step < 24; step++) {
    amounts[lane(x, y)] = (((step + 1) * (step + 2)) / 2) % 64
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
  }
  return amounts
})()

/** The 24 constants of step iota, from the linear feedback register x^8 + x^6 + x^5 + x^4 + 1. */
const roundConstants = (() => {
  let register = 1
  return Array.from({ length: 24 }, () => {
    let constant = 0n
    for (let power = 0; power <= 6; power++) {
      if (register & 1) constant |= 1n << BigInt(2 ** power - 1)
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0)
    }
    return constant
  })
})()

/** Lane whose rotated value lands at (x, y) in step pi. */
const sourceOf = (x, y) => {
  const sourceY = x
  const sourceX = columns.find((candidate) => (2 * candidate + 3 * sourceY) % 5 === y)
  return { x: sourceX, index: lane(sourceX, sourceY) }
}

/**
 * Lanes kept complemented by the scalar shape. Step chi has one NOT a lane; with these six inverted most of them
 * cancel. Which form each lane takes is worked out below from the polarities alone.
 */
const complemented = new Set([1, 2, 8, 12, 17, 20])
const columnFlips = columns.map(
  (x) => columns.filter((y) => complemented.has(lane(x, y))).length % 2 === 1,
)
/** Whether step theta inverts a column: its two neighbours' parities are inverted an odd number of times. */
const thetaFlips = columns.map((x) => columnFlips[(x + 4) % 5] !== columnFlips[(x + 1) % 5])
const inverted = (x, y) => {
  const source = sourceOf(x % 5, y)
  return complemented.has(source.index) !== thetaFlips[source.x]
}

/** `a ^ (~b & c)` over stored values, some of them inverted, with the fewest NOTs. */
function chiScalar(x, y) {
  const [a, b, c] = [0, 1, 2].map((step) => `t${(x + step) % 5}`)
  const [invertedA, invertedB, invertedC] = [0, 1, 2].map((step) => inverted(x + step, y))
  const not = (name, apply) => (apply ? `~${name}` : name)
  // As an AND, or by De Morgan as an OR with the result inverted.
  const forms = [
    { text: `${not(b, !invertedB)} & ${not(c, invertedC)}`, flips: 0, nots: +!invertedB + +invertedC },
    { text: `${not(b, invertedB)} | ${not(c, !invertedC)}`, flips: 1, nots: +invertedB + +!invertedC },
  ].map((form) => {
    const outer = ((+invertedA + form.flips + +complemented.has(lane(x, y))) & 1) === 1
    return { text: `${not(a, outer)} ^ (${form.text})`, nots: form.nots + +outer }
  })
  return forms[0].nots <= forms[1].nots ? forms[0].text : forms[1].text
}

const scalar = {
  type: 'u64',
  wordBytes: 8,
  zero: '0',
  load: (from, index) => `load<u64>(${from}, ${8 * index})`,
  store: (to, value, index) => `store<u64>(${to}, ${value}, ${8 * index})`,
  xor: (a, b) => `${a} ^ ${b}`,
  rotate: (_name, value, amount) => (amount === 0 ? value : `rotl<u64>(${value}, ${amount})`),
  chi: chiScalar,
  constant: (offset) => `load<u64>(constant, ${offset})`,
}

const simd = {
  type: 'v128',
  wordBytes: 16,
  zero: 'i64x2.splat(0)',
  load: (from, index) => `v128.load(${from}, ${16 * index})`,
  store: (to, value, index) => `v128.store(${to}, ${value}, ${16 * index})`,
  xor: (a, b) => `v128.xor(${a}, ${b})`,
  // Doubling is cheaper than shifting by one. A byte shuffle for the rotations by 8 and 56 would not be: V8 11.3 builds
  // its mask anew each time, in four instructions.
  rotate: (name, _value, amount) => {
    if (amount === 0) return name
    const left = amount === 1 ? `i64x2.add(${name}, ${name})` : `i64x2.shl(${name}, ${amount})`
    return `v128.or(${left}, i64x2.shr_u(${name}, ${64 - amount}))`
  },
  chi: (x) => `v128.xor(t${x}, v128.andnot(t${(x + 2) % 5}, t${(x + 1) % 5}))`,
  constant: (offset) => `v128.load64_splat(constant, ${offset})`,
}

/** One round from `from` to `to`; reads the column parities c0..c4 and leaves the next ones there. */
function* round(shape, from, to, constantOffset) {
  const { type, load, store, xor, rotate, chi, constant } = shape
  for (const x of columns) {
    const neighbour = `c${(x + 1) % 5}`
    yield `const d${x}: ${type} = ${xor(`c${(x + 4) % 5}`, rotate(neighbour, neighbour, 1))}`
  }
  for (const x of columns) yield `let t${x}: ${type}, n${x}: ${type} = ${shape.zero}`
  if (type === 'v128') yield 'let w: v128'
  yield 'let o: ' + type
  for (const y of columns) {
    for (const x of columns) {
      const source = sourceOf(x, y)
      const mixed = xor(load(from, source.index), `d${source.x}`)
      if (type === 'v128') yield `w = ${mixed}`
      yield `t${x} = ${rotate('w', mixed, rotations[source.index])}`
    }
    for (const x of columns) {
      const value = chi(x, y)
      yield `o = ${x === 0 && y === 0 ? xor(type === 'v128' ? value : `(${value})`, constant(constantOffset)) : value}`
      yield store(to, 'o', lane(x, y))
      yield y === 0 ? `n${x} = o` : `n${x} = ${xor(`n${x}`, 'o')}`
    }
  }
  for (const x of columns) yield `c${x} = n${x}`
}

function* permutation(shape) {
  const { type, load, xor } = shape
  yield '  const swap = scratch + SWAP_OFFSET'
  yield '  const constantsEnd = scratch + CONSTANTS_OFFSET + 192'
  for (const x of columns) {
    const parity = columns.map((y) => load(STATE, lane(x, y))).reduce(xor)
    yield `  let c${x}: ${type} = ${parity}`
  }
  yield '  for (let constant = scratch + CONSTANTS_OFFSET; constant < constantsEnd; constant += 16) {'
  for (const [from, to, offset] of [[STATE, SWAP, 0], [SWAP, STATE, 8]]) {
    yield '    {'
    for (const line of round(shape, from, to, offset)) yield `      ${line}`
    yield '    }'
  }
  yield '  }'
}

const hex = (constant) => `0x${constant.toString(16).padStart(16, '0')}`
const text = `// Generated by generate.mjs, which says why the code has this shape. Do not edit.
import { CONSTANTS_OFFSET, SWAP_OFFSET } from './layout'

/**
 * Writes the round constants to the scratch. To be called once for a scratch, before anything else: a table in a
 * data segment would be written again by every instance and take a fixed address in the caller's memory.
 */
export function prepare(scratch: usize): void {
${roundConstants.map((constant, index) => `  store<u64>(scratch + CONSTANTS_OFFSET, ${hex(constant)}, ${8 * index})`).join('\n')}
}

/**
 * Inverts the lanes that \`permute1\` keeps complemented, of the state at \`state\` (25 words). To be applied to a fresh
 * (all zero) state before the first \`permute1\` and before words are read after the last; absorbing is by XOR, which
 * does not mind.
 */
export function complement(state: usize): void {
${[...complemented].map((index) => `  store<u64>(state, ~load<u64>(state, ${8 * index}), ${8 * index})`).join('\n')}
}

/** keccak-f[1600] on 25 little-endian words at \`state\`, lanes ${[...complemented].join(', ')} complemented. */
export function permute1(state: usize, scratch: usize): void {
${[...permutation(scalar)].join('\n')}
}

/** keccak-f[1600] on two states at \`state\`: 25 pairs of words, the first of each pair belongs to the first state. */
export function permute2(state: usize, scratch: usize): void {
${[...permutation(simd)].join('\n')}
}
`

if (process.argv.includes('--check')) {
  if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
    console.error('assembly/keccak/permutation.ts is out of date: run node assembly/keccak/generate.mjs')
    process.exitCode = 1
  }
} else writeFileSync(target, text)
