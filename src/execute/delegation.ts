/**
 * EIP-7702: accounts that lend themselves the code of another, and the authorizations that arrange it.
 *
 *     0xef0100 ‖ address      code of an account that runs the code at `address`
 */
import { ADDRESS_BYTES, bytesAreZero, EMPTY_BYTES, U64_MAX } from '../base/index.ts'
import type { Authorization, SenderRecovery } from '../codec/index.ts'
import type { Machine } from '../evm/index.ts'

const DELEGATION_BYTES = 3 + ADDRESS_BYTES

/** Whether code is a delegation to another account. */
export function isDelegation(code: Uint8Array): boolean {
  return (
    code.length === DELEGATION_BYTES && code[0] === 0xef && code[1] === 0x01 && code[2] === 0x00
  )
}

/** The account whose code runs, 20 bytes, or `undefined` where code is no delegation. A view of `code`. */
export function delegationTarget(code: Uint8Array): Uint8Array | undefined {
  return isDelegation(code) ? code.subarray(3) : undefined
}

/** The account whose code runs as that of `address`, or `undefined`. Only code of a delegation's size is copied. */
export function delegateOf(
  accounts: Pick<Machine, 'getCodeSize' | 'getCode'>,
  address: Uint8Array,
): Uint8Array | undefined {
  if (accounts.getCodeSize(address) !== DELEGATION_BYTES) return undefined
  return delegationTarget(accounts.getCode(address))
}

/**
 * Applies authorizations one after the other; those that do not hold are passed over. Runs inside a transaction,
 * after the sender's nonce has risen.
 * @returns how many were of accounts that existed: less was to be paid for them than was
 */
export function applyAuthorizations(
  machine: Machine,
  authorizations: readonly Authorization[],
  chainId: bigint,
  recovery: SenderRecovery,
): number {
  let existingCount = 0
  for (const authorization of authorizations)
    if (applyAuthorization(machine, authorization, chainId, recovery)) existingCount++
  return existingCount
}

/** Returns true where it was applied and its account existed. */
function applyAuthorization(
  machine: Machine,
  authorization: Authorization,
  chainId: bigint,
  recovery: SenderRecovery,
): boolean {
  const { nonce, address } = authorization
  if (authorization.chainId !== 0n && authorization.chainId !== chainId) return false
  if (nonce === U64_MAX) return false
  const authority = recovery.recoverAuthority(authorization)
  if (authority === undefined) return false
  // Warm even where the rest fails: from here on the account has been read.
  machine.warmAddress(authority)
  if (machine.getCodeSize(authority) > 0 && delegateOf(machine, authority) === undefined)
    return false
  if (machine.getNonce(authority) !== nonce) return false
  const existed = machine.exists(authority)
  machine.setNonce(authority, nonce + 1n)
  machine.setCode(authority, bytesAreZero(address) ? EMPTY_BYTES : delegationTo(address))
  return existed
}

function delegationTo(address: Uint8Array): Uint8Array {
  const code = new Uint8Array(DELEGATION_BYTES)
  code[0] = 0xef
  code[1] = 0x01
  code.set(address, 3)
  return code
}
