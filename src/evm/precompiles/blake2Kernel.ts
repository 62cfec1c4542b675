/**
 * The rounds of BLAKE2b's F as WebAssembly, whose 64-bit words JavaScript lacks: about ten times as fast as halves in
 * 32-bit integers, and a gas buys a round. The module is three straight functions that differ from each other only
 * by constants, so it is written here as bytes from the same tables as the portable twin.
 *
 * Memory: what follows the round count in EIP-152's input lies at 0, the sixteen work words behind it.
 *
 *     0          64         192      208     209       256
 *     | h: 8 u64 | m: 16 u64 | t: 2 u64 | final |       | v: 16 u64 |
 */
import { BLAKE2_IV, BLAKE2_SIGMA } from './blake2Rounds.ts'

const MESSAGE_OFFSET = 64
const COUNTER_OFFSET = 192
const FINAL_OFFSET = 208
const WORK_OFFSET = 256

/** V8 does not replace a running function by its optimised form, so long runs are cut; a multiple of ten rows. */
const ROUNDS_A_CALL = 1000

type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer }
  begin(): void
  rounds(count: number): void
  finish(): void
}
type WebAssemblyApi = {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

/** The same as `blake2Rounds`: input of EIP-152, count of rounds, 64 bytes of state. */
export type Blake2Kernel = (input: Uint8Array, rounds: number) => Uint8Array

/** Compiles the kernel (0.3 ms); `undefined` where there is no WebAssembly. */
export function createBlake2Kernel(): Blake2Kernel | undefined {
  const api = (globalThis as { WebAssembly?: WebAssemblyApi }).WebAssembly
  if (api === undefined) return undefined
  let exports: Exports
  try {
    exports = new api.Instance(new api.Module(moduleBytes())).exports as Exports
  } catch {
    return undefined
  }
  const memory = new Uint8Array(exports.memory.buffer)
  return (input, rounds) => {
    memory.set(input.subarray(4), 0)
    exports.begin()
    let left = rounds
    for (; left > ROUNDS_A_CALL; left -= ROUNDS_A_CALL) exports.rounds(ROUNDS_A_CALL)
    exports.rounds(left)
    exports.finish()
    return memory.slice(0, 64)
  }
}

/** Opcodes of the WebAssembly core specification, 5.4, as far as they are used. */
const Op = {
  block: 0x02,
  loop: 0x03,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  i64Load: 0x29,
  i64Load8U: 0x31,
  i64Store: 0x37,
  i32Const: 0x41,
  i64Const: 0x42,
  i32Eqz: 0x45,
  i32Sub: 0x6b,
  i64Add: 0x7c,
  i64Sub: 0x7d,
  i64Xor: 0x85,
  i64Rotr: 0x8a,
} as const
const TYPE_I32 = 0x7f
const TYPE_I64 = 0x7e
const TYPE_NONE = 0x40

function moduleBytes(): Uint8Array {
  const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]
  // Two types: () -> () and (i32) -> ().
  const types = section(
    1,
    vector([
      [0x60, 0, 0],
      [0x60, 1, TYPE_I32, 0],
    ]),
  )
  const functions = section(3, vector([[0], [1], [0]]))
  const memory = section(5, vector([[0, 1]]))
  const exports = section(
    7,
    vector([
      [...name('memory'), 2, 0],
      [...name('begin'), 0, 0],
      [...name('rounds'), 0, 1],
      [...name('finish'), 0, 2],
    ]),
  )
  const code = section(
    10,
    vector([body([], beginCode()), body([16, TYPE_I64], roundsCode()), body([], finishCode())]),
  )
  return Uint8Array.from([...header, ...types, ...functions, ...memory, ...exports, ...code])
}

/** v0 to v7 from h, v8 to v15 from the initial vector, with the counter and the flag mixed in. */
function beginCode(): number[] {
  const code: number[] = []
  for (let index = 0; index < 8; index++)
    code.push(Op.i32Const, 0, ...load(8 * index), ...store(WORK_OFFSET + 8 * index))
  for (let index = 0; index < 8; index++) {
    const low = BigInt(BLAKE2_IV[2 * index]!)
    const high = BigInt(BLAKE2_IV[2 * index + 1]!)
    code.push(Op.i32Const, 0, Op.i64Const, ...signed(BigInt.asIntN(64, (high << 32n) | low)))
    if (index === 4 || index === 5) code.push(...load(COUNTER_OFFSET + 8 * (index - 4)), Op.i64Xor)
    // The flag is 0 or 1; its negative turns no bit or all of them.
    if (index === 6)
      code.push(
        ...[Op.i64Const, 0, Op.i32Const, 0, Op.i64Load8U, 0, ...unsigned(FINAL_OFFSET)],
        ...[Op.i64Sub, Op.i64Xor],
      )
    code.push(...store(WORK_OFFSET + 64 + 8 * index))
  }
  return code
}

/** Local 0 counts rounds down, locals 1 to 16 are the work words; ten rows of message order are written out. */
function roundsCode(): number[] {
  const code: number[] = []
  for (let index = 0; index < 16; index++)
    code.push(...load(WORK_OFFSET + 8 * index), Op.localSet, 1 + index)
  code.push(Op.block, TYPE_NONE, Op.loop, TYPE_NONE)
  for (const order of BLAKE2_SIGMA) {
    code.push(Op.localGet, 0, Op.i32Eqz, Op.brIf, 1)
    code.push(Op.localGet, 0, Op.i32Const, 1, Op.i32Sub, Op.localSet, 0)
    for (let column = 0; column < 4; column++)
      code.push(...mix(column, 4 + column, 8 + column, 12 + column, order, 2 * column))
    for (let column = 0; column < 4; column++)
      code.push(
        ...mix(
          column,
          4 + ((column + 1) % 4),
          8 + ((column + 2) % 4),
          12 + ((column + 3) % 4),
          order,
          8 + 2 * column,
        ),
      )
  }
  code.push(Op.br, 0, Op.end, Op.end)
  for (let index = 0; index < 16; index++)
    code.push(Op.i32Const, 0, Op.localGet, 1 + index, ...store(WORK_OFFSET + 8 * index))
  return code
}

/** h = h ^ v(low half) ^ v(high half). */
function finishCode(): number[] {
  const code: number[] = []
  for (let index = 0; index < 8; index++)
    code.push(
      ...[Op.i32Const, 0, ...load(8 * index)],
      ...[...load(WORK_OFFSET + 8 * index), Op.i64Xor],
      ...[...load(WORK_OFFSET + 64 + 8 * index), Op.i64Xor],
      ...store(8 * index),
    )
  return code
}

/** G of RFC 7693, 3.1, on work words `a` to `d` with the message words `order[at]` and `order[at + 1]`. */
function mix(
  a: number,
  b: number,
  c: number,
  d: number,
  order: readonly number[],
  at: number,
): number[] {
  const get = (word: number) => [Op.localGet, 1 + word]
  const half = (message: number, turnD: number, turnB: number) => [
    ...[...get(a), ...get(b), Op.i64Add, ...load(MESSAGE_OFFSET + 8 * message), Op.i64Add],
    ...[Op.localTee, 1 + a, ...get(d), Op.i64Xor, Op.i64Const, ...signed(BigInt(turnD))],
    ...[Op.i64Rotr, Op.localTee, 1 + d, ...get(c), Op.i64Add, Op.localTee, 1 + c],
    ...[...get(b), Op.i64Xor, Op.i64Const, ...signed(BigInt(turnB)), Op.i64Rotr],
    ...[Op.localSet, 1 + b],
  ]
  return [...half(order[at]!, 32, 24), ...half(order[at + 1]!, 16, 63)]
}

/** Pushes the word at a constant offset. */
function load(offset: number): number[] {
  return [Op.i32Const, 0, Op.i64Load, 3, ...unsigned(offset)]
}

/** Stores the word on the stack; its address, 0, lies below it. */
function store(offset: number): number[] {
  return [Op.i64Store, 3, ...unsigned(offset)]
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...unsigned(content.length), ...content]
}

function vector(items: readonly (readonly number[])[]): number[] {
  return [...unsigned(items.length), ...items.flat()]
}

/** @param locals count and type of one group of locals, or nothing */
function body(locals: readonly number[], code: readonly number[]): number[] {
  const content = [locals.length === 0 ? 0 : 1, ...locals, ...code, Op.end]
  return [...unsigned(content.length), ...content]
}

function name(text: string): number[] {
  return [text.length, ...Array.from(text, (character) => character.charCodeAt(0))]
}

/** LEB128. */
function unsigned(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest >>= 7) bytes.push((rest & 127) | 128)
  return [...bytes, rest]
}

function signed(value: bigint): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest < -64n || rest > 63n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return [...bytes, Number(rest & 127n)]
}
