/**
 * Code blocks: a header, the code, zeros to run into (STOP, and operands of a PUSH at the end), and the map of valid
 * jump destinations. Blocks are kept by code hash over blocks until there are too many; init code has none.
 *
 *     0 u32 size of the code     4 u32 heap class      8 u32 CF_ flags     12 u32 address of the jump map
 *     16 u32 predecoded records, 0 where not made      20 u32 their heap class
 *     24 u32 next in the table's list                  32 the hash
 *     64 u32 fork they were made for    68 u32 their map    72 u32 frames that ran it
 *     80 code, then at least 48 zeros
 */
import { A_CODE, A_CODE_HASH, account, hasCode } from './accounts'
import { allocate, classOf, release } from './heap'
import { hostLoadCode } from './host'
import { P_DELEGATION, parameter } from './rules'
import { FAULT_BUG, fail } from './status'
import { clearTable, hashWord } from './table'
import { copyWord, equals, setSmall } from './word'

export const C_SIZE: usize = 0
export const C_CLASS: usize = 4
export const C_FLAGS: usize = 8
export const C_JUMPS: usize = 12
export const C_FAST: usize = 16
export const C_FAST_CLASS: usize = 20
const C_NEXT: usize = 24
export const C_HASH: usize = 32
/** u32: fork that the predecoded records are good for. */
export const C_FAST_FORK: usize = 64
/** u32: address of their map from code offsets. */
export const C_FAST_MAP: usize = 68
/** u32: frames that ran the code so far. */
export const C_RUNS: usize = 72
export const C_BYTES: usize = 80
const TAIL_BYTES: u32 = 48

/** The jump map is made. */
export const CF_ANALYSED: u32 = 1
/** Delegation designator of EIP-7702: 0xef0100 and an address. */
export const CF_DELEGATION: u32 = 2

const TABLE_BITS: u32 = 10
/** Bytes of cached blocks at which the next block of the chain starts afresh. */
const CACHE_BYTES_MAX: u32 = 96 << 20

let table: usize = 0
let cached: u32 = 0
/** The code of accounts without any. */
export let emptyCode: usize = 0

export function initCodes(): void {
  table = allocate(TABLE_BITS + 3)
  clearTable(table, TABLE_BITS)
  emptyCode = newCode(0)
}

/** Takes a block for `size` bytes of code; the caller writes them at C_BYTES. */
export function newCode(size: u32): usize {
  const mapBytes = (size + 64) >> 3
  const total = u32(C_BYTES) + size + TAIL_BYTES + 8 + mapBytes
  const sizeClass = classOf(total)
  const code = allocate(sizeClass)
  memory.fill(code, 0, C_BYTES)
  store<u32>(code, size)
  store<u32>(code, sizeClass, C_CLASS)
  const tail = code + C_BYTES + size
  memory.fill(tail, 0, TAIL_BYTES)
  store<u32>(code, u32((tail + TAIL_BYTES + 7) & ~7), C_JUMPS)
  return code
}

export function freeCode(code: usize): void {
  const fast = load<u32>(code, C_FAST)
  if (fast != 0) release(fast, load<u32>(code, C_FAST_CLASS))
  release(code, load<u32>(code, C_CLASS))
}

/** Enters a block under the hash at its C_HASH, once. */
export function keepCode(code: usize): void {
  if (load<u32>(code) == 23 && (load<u32>(code, C_BYTES) & 0xffffff) == 0x0001ef) {
    store<u32>(code, load<u32>(code, C_FLAGS) | CF_DELEGATION, C_FLAGS)
  }
  const head = headOf(code + C_HASH)
  store<u32>(code, load<u32>(head), C_NEXT)
  store<u32>(head, u32(code))
  cached += u32(1) << load<u32>(code, C_CLASS)
}

function headOf(hash: usize): usize {
  return table + ((<usize>(u32(hashWord(hash)) >> (32 - TABLE_BITS))) << 2)
}

/** The block of a code hash, 0 where it is not cached. */
export function findCode(hash: usize): usize {
  let code = <usize>load<u32>(headOf(hash))
  while (code != 0 && !equals(code + C_HASH, hash)) code = <usize>load<u32>(code, C_NEXT)
  return code
}

/** Counts memory that hangs on cached code. */
export function noteCached(bytes: u32): void {
  cached += bytes
}

/** Frees all blocks where they have become too many. Only between blocks of the chain, when no account holds one. */
export function trimCodes(): void {
  if (cached > CACHE_BYTES_MAX) dropCodes()
}

export function dropCodes(): void {
  for (let slot: u32 = 0; slot < u32(1) << TABLE_BITS; slot++) {
    const head = table + ((<usize>slot) << 2)
    let code = <usize>load<u32>(head)
    while (code != 0) {
      const next = <usize>load<u32>(code, C_NEXT)
      freeCode(code)
      code = next
    }
    store<u32>(head, 0)
  }
  cached = 0
}

/** Code block of an account, loaded where needed. */
export function codeOf(index: u32): usize {
  const record = account(index)
  const known = <usize>load<u32>(record, A_CODE)
  if (known != 0) return known
  let code = emptyCode
  if (hasCode(record)) {
    code = findCode(record + A_CODE_HASH)
    if (code == 0) {
      code = hostLoadCode(record + A_CODE_HASH)
      if (code == 0) fail(FAULT_BUG)
      copyWord(code + C_HASH, account(index) + A_CODE_HASH)
      keepCode(code)
    }
  }
  store<u32>(account(index), u32(code), A_CODE)
  return code
}

/** True where the account's code delegates (EIP-7702); writes the delegate's address as a word to `to`. */
export function delegateOf(index: u32, to: usize): bool {
  if (parameter(P_DELEGATION) == 0 || !hasCode(account(index))) return false
  const code = codeOf(index)
  if ((load<u32>(code, C_FLAGS) & CF_DELEGATION) == 0) return false
  setSmall(to, 0)
  for (let at: usize = 0; at < 20; at++) store<u8>(to + 19 - at, load<u8>(code + C_BYTES + 3 + at))
  return true
}

/** Makes the map of jump destinations: JUMPDEST bytes that are not operands of a PUSH. */
export function analyse(code: usize): void {
  if ((load<u32>(code, C_FLAGS) & CF_ANALYSED) != 0) return
  const size = <usize>load<u32>(code)
  const bytes = code + C_BYTES
  const map = <usize>load<u32>(code, C_JUMPS)
  memory.fill(map, 0, (size + 8) >> 3)
  for (let at: usize = 0; at < size; at++) {
    const opcode = <u32>load<u8>(bytes + at)
    if (opcode == 0x5b)
      store<u8>(map + (at >> 3), load<u8>(map + (at >> 3)) | (u8(1) << (u8(at) & 7)))
    else if (opcode >= 0x60 && opcode <= 0x7f) at += opcode - 0x5f
  }
  store<u32>(code, load<u32>(code, C_FLAGS) | CF_ANALYSED, C_FLAGS)
}
