/**
 * EVM code from mnemonics: words between blanks, `;` to the end of the line is a comment.
 *
 *     ADD                    an opcode by its name
 *     0x1234, 10             the shortest PUSH of that number; a hexadecimal one keeps its width
 *     name:  @name           a JUMPDEST, and a PUSH2 of its place
 */
import { assert, fromBareHex } from '../../base/index.ts'
import { OPCODES } from '../../evm/index.ts'

const PUSH0 = 0x5f
const PUSH2 = 0x61
const JUMPDEST = 0x5b
const CODES = new Map(
  OPCODES.flatMap((each) => (each === undefined ? [] : [[each.name, each.code]])),
)

/** Assembles code of this package. A word that is none fails an assertion. */
export function assemble(text: string): Uint8Array {
  const bytes: number[] = []
  const places = new Map<string, number>()
  const jumps: { readonly at: number; readonly name: string }[] = []
  const words = text.replace(/;.*$/gm, '').split(/\s+/).filter(Boolean)
  for (const word of words) {
    if (word.endsWith(':')) {
      places.set(word.slice(0, -1), bytes.length)
      bytes.push(JUMPDEST)
    } else if (word.startsWith('@')) {
      jumps.push({ at: bytes.length + 1, name: word.slice(1) })
      bytes.push(PUSH2, 0, 0)
    } else bytes.push(...(/^\d/.test(word) ? push(word) : [opcode(word)]))
  }
  for (const { at, name } of jumps) {
    const place = places.get(name)
    assert(place !== undefined, 'assembler: every jump has its place')
    bytes[at] = place >> 8
    bytes[at + 1] = place & 0xff
  }
  return Uint8Array.from(bytes)
}

function opcode(name: string): number {
  const code = CODES.get(name)
  assert(code !== undefined, 'assembler: a word is an opcode, a number, or a place')
  return code
}

function push(word: string): number[] {
  if (word === '0') return [PUSH0]
  const digits = word.startsWith('0x') ? word.slice(2) : BigInt(word).toString(16)
  const data = fromBareHex(digits.padStart(digits.length + (digits.length & 1), '0'))
  assert(data.length <= 32, 'assembler: a number has at most 32 bytes')
  return [PUSH0 + data.length, ...data]
}
