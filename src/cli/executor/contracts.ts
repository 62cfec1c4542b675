/**
 * The contracts that the workloads call, as mnemonics. A comment after an instruction shows the stack, its top at the
 * right. Selectors are checked only where a standard says so.
 */
import { bigintToBytes, bytesConcat, fromBareHex, toBareHex } from '../../base/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import { assemble } from './assembler.ts'

/** ERC-20. */
export const TRANSFER_TOPIC = keccak256(
  new TextEncoder().encode('Transfer(address,address,uint256)'),
)
export const TRANSFER_SELECTOR = fromBareHex('a9059cbb')

/** ERC-20 `transfer(address,uint256)`. Balances lie at keccak(owner ‖ 0), as Solidity lays a mapping at slot 0. */
const TOKEN = `
  0 CALLDATALOAD 0xe0 SHR 0x${toBareHex(TRANSFER_SELECTOR)} EQ @transfer JUMPI
fail: 0 0 REVERT
transfer:
  CALLER 0 MSTORE 0x40 0 KECCAK256      ; from
  DUP1 SLOAD 0x24 CALLDATALOAD          ; from has amount
  DUP1 DUP3 LT @fail JUMPI              ; refused where has < amount
  DUP1 SWAP2 SUB                        ; from amount rest
  SWAP1 SWAP2 SSTORE                    ; amount
  0x04 CALLDATALOAD 0 MSTORE 0x40 0 KECCAK256
  DUP1 SLOAD DUP3 ADD SWAP1 SSTORE      ; amount
  0 MSTORE
  0x04 CALLDATALOAD CALLER 0x${toBareHex(TRANSFER_TOPIC)} 0x20 0 LOG3
  1 0 MSTORE 0x20 0 RETURN
`

/**
 * Gas of a transfer but for its accesses of storage: 151 of simple instructions, 84 of two hashes, 6 of memory, 1756 of
 * the log (LOG3 with 32 bytes).
 */
export const TOKEN_TRANSFER_GAS = 1997

/** One slot that everybody raises by one. */
const COUNTER = '0 SLOAD 1 ADD 0 SSTORE STOP'

const NO_OP = 'STOP'

/** Input: value, count. Writes `count` slots from keccak(caller) on, each word another. */
const STORAGE_WRITER = `
  CALLER 0 MSTORE 0x20 0 KECCAK256      ; base
  0 CALLDATALOAD 0x20 CALLDATALOAD      ; base value left
next:
  DUP1 ISZERO @end JUMPI
  1 SWAP1 SUB                           ; base value left-1
  DUP2 DUP2 ADD DUP4 DUP3 ADD SSTORE
  @next JUMP
end: STOP
`

/** Input: count. Squares a number and adds 7, as often. */
const CPU_LOOP = `
  0 CALLDATALOAD 3                      ; left x
next:
  DUP1 MUL 7 ADD SWAP1 1 SWAP1 SUB      ; x left-1
  SWAP1 DUP2 @next JUMPI                ; left x
  0 MSTORE 0x20 0 RETURN
`

/**
 * A pool of two tokens under x * y = k with a fee of 0.3%. Slots 0 and 1 are its reserves; what a user has in it of
 * token t lies at keccak(user ‖ t). Input: amount, token paid in (0 or 1).
 */
const AMM = `
  0x20 CALLDATALOAD                     ; t
  CALLER 0 MSTORE DUP1 0x20 MSTORE
  0 CALLDATALOAD                        ; t a
  0x40 0 KECCAK256 DUP1 SLOAD           ; t a user has
  DUP3 DUP2 LT @fail JUMPI              ; refused where has < a
  DUP3 SWAP1 SUB SWAP1 SSTORE           ; t a
  DUP2 SLOAD DUP3 1 SUB SLOAD           ; t a x y
  DUP3 997 MUL                          ; t a x y paid
  DUP1 DUP4 1000 MUL ADD                ; t a x y paid x*1000+paid
  SWAP1 DUP3 MUL DIV                    ; t a x y out
  DUP4 DUP4 ADD DUP6 SSTORE             ; x + a
  DUP1 DUP3 SUB DUP6 1 SUB SSTORE       ; y - out
  DUP5 1 SUB 0x20 MSTORE
  0x40 0 KECCAK256 DUP1 SLOAD           ; t a x y out user has
  DUP3 ADD SWAP1 SSTORE STOP
fail: 0 0 REVERT
`

/** Input: addresses, a word each. Sends an equal part of the value to each, the last one first. */
const BATCH_TRANSFER = `
  0x05 CALLDATASIZE SWAP1 SHR           ; left
  DUP1 CALLVALUE DIV                    ; left part
next:
  DUP2 ISZERO @end JUMPI
  SWAP1 1 SWAP1 SUB SWAP1               ; left-1 part
  0 0 0 0 DUP5 DUP7 0x05 SHL CALLDATALOAD GAS CALL
  ISZERO @fail JUMPI
  @next JUMP
end: STOP
fail: 0 0 REVERT
`

/** Names and codes, in the order of their addresses. */
export const CONTRACTS = {
  token: assemble(TOKEN),
  counter: assemble(COUNTER),
  noOp: assemble(NO_OP),
  storageWriter: assemble(STORAGE_WRITER),
  cpuLoop: assemble(CPU_LOOP),
  amm: assemble(AMM),
  batchTransfer: assemble(BATCH_TRANSFER),
} as const
export type ContractName = keyof typeof CONTRACTS

/**
 * Slot of what an owner holds of a token: in the pool of token 0 or 1, in the token itself at 0.
 * @param owner 20 bytes, or a word of 32
 */
export function holdingSlot(owner: Uint8Array, token: bigint): Uint8Array {
  return keccak256(bytesConcat(wordOf(owner), bigintToBytes(token, 32)))
}

/** An address as a word of 32 bytes, fresh. */
export function wordOf(address: Uint8Array): Uint8Array {
  const word = new Uint8Array(32)
  word.set(address, 32 - address.length)
  return word
}
