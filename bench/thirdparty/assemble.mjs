// A small assembler for programs of the EVM.
import { OPCODES } from '../../dist/evm/index.js'

const opcodeOf = new Map(OPCODES.filter(Boolean).map(({ name, code }) => [name, code]))

/** Assembles opcode names, numbers (PUSH0 or the shortest PUSH), `0x…` (PUSH of its width), `:label` and `@label`. */
export function assemble(source) {
  const bytes = []
  const labels = new Map()
  const uses = []
  for (const word of source.trim().split(/\s+/)) {
    if (word.startsWith(':')) {
      labels.set(word.slice(1), bytes.length)
      bytes.push(opcodeOf.get('JUMPDEST'))
    } else if (word.startsWith('@')) {
      uses.push([bytes.length + 1, word.slice(1)])
      bytes.push(0x61, 0, 0)
    } else if (/^(\d|0x)/.test(word)) {
      const digits = word.startsWith('0x') ? word.slice(2) : BigInt(word).toString(16)
      const even = word === '0' ? '' : digits.padStart(digits.length + (digits.length & 1), '0')
      bytes.push(0x5f + even.length / 2, ...Buffer.from(even, 'hex'))
    } else {
      if (!opcodeOf.has(word)) throw new Error(`no opcode ${word}`)
      bytes.push(opcodeOf.get(word))
    }
  }
  for (const [at, label] of uses) {
    if (!labels.has(label)) throw new Error(`no label ${label}`)
    bytes[at] = labels.get(label) >> 8
    bytes[at + 1] = labels.get(label) & 255
  }
  return Uint8Array.from(bytes)
}
