/**
 * Who is in a benchmark's database. Nothing of it is stored but some numbers in block 0: addresses follow from indexes.
 *
 *     index 0 … signers-1          accounts with keys: 1, 2, 3, …; they hold tokens, too
 *     signers … accounts-1         accounts without keys:  "account:" ‖ 0 (4) ‖ index (8)
 *     contracts, in one copy or some                       "contract" ‖ copy (4) ‖ index (8)
 *     made by a run                                        "created:" ‖ run (4) ‖ index (8)
 *
 * Everybody knows these keys. They are for benchmarks, and for nothing else.
 */
import { normalizeZ } from '@noble/curves/abstract/curve.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import {
  ADDRESS_BYTES,
  assert,
  bytesConcat,
  readUint64BE,
  VarveError,
  writeUint32BE,
  writeUint64BE,
} from '../../base/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import { CONTRACTS, type ContractName } from './contracts.ts'

/** The numbers that a database is made with. */
export type AccountCounts = {
  /** With signers, without contracts. */
  readonly accounts: number
  readonly signers: number
  /** How often each contract stands, 1 up. */
  readonly moduleCopies: number
}

/** Points that become affine together, at the price of one inversion. */
const POINTS_AT_ONCE = 1024
const SHORT_BYTES = 16
const LONG_BYTES = 24
const MARK = new TextEncoder().encode('varve/ex')
const CONTRACT_NAMES = Object.keys(CONTRACTS) as ContractName[]

export class AccountBook {
  readonly counts: AccountCounts
  private readonly signerAddresses: Uint8Array[]

  /** Cost: some 10 us a signer. */
  constructor(counts: AccountCounts) {
    assert(counts.signers <= counts.accounts, 'account book: signers are accounts')
    this.counts = counts
    this.signerAddresses = keyAddresses(counts.signers)
  }

  /** 20 bytes, never to be written to. */
  address(index: number): Uint8Array {
    return this.signerAddresses[index] ?? namedAddress('account:', 0, index)
  }

  /** Of a signer. */
  privateKey(index: number): bigint {
    assert(index < this.counts.signers, 'account book: only signers have keys')
    return BigInt(index + 1)
  }
}

/** Address of a contract. @param copy which of them, 0 up */
export function contractAddress(name: ContractName, copy = 0): Uint8Array {
  return namedAddress('contract', copy, CONTRACT_NAMES.indexOf(name))
}

/** Address of an account that is not there before a run makes it. @param run a number that no other run has */
export function createdAddress(run: number, index: number): Uint8Array {
  return namedAddress('created:', run, index)
}

/** The numbers as block 0 carries them: accounts (8) ‖ signers (8), and copies (8) where there are more than one. */
export function encodeCounts({ accounts, signers, moduleCopies }: AccountCounts): Uint8Array {
  const numbers = new Uint8Array(moduleCopies === 1 ? SHORT_BYTES : LONG_BYTES)
  writeUint64BE(numbers, 0, accounts)
  writeUint64BE(numbers, 8, signers)
  if (moduleCopies > 1) writeUint64BE(numbers, SHORT_BYTES, moduleCopies)
  return bytesConcat(MARK, numbers)
}

/** @throws VarveError EXECUTOR_DATABASE_OTHER where block 0 was not made by create-db */
export function decodeCounts(extraData: Uint8Array): AccountCounts {
  const numbers = extraData.slice(MARK.length)
  const isOurs =
    (numbers.length === SHORT_BYTES || numbers.length === LONG_BYTES) &&
    MARK.every((byte, at) => extraData[at] === byte)
  if (!isOurs)
    throw new VarveError<AccountBookErrorCode>(
      'EXECUTOR_DATABASE_OTHER',
      'expected a database that create-db has made, got one with another block 0',
    )
  return {
    accounts: readUint64BE(numbers, 0),
    signers: readUint64BE(numbers, 8),
    moduleCopies: numbers.length === LONG_BYTES ? readUint64BE(numbers, SHORT_BYTES) : 1,
  }
}

function namedAddress(name: string, group: number, index: number): Uint8Array {
  const address = new Uint8Array(ADDRESS_BYTES)
  for (let at = 0; at < 8; at++) address[at] = name.charCodeAt(at)
  writeUint32BE(address, 8, group)
  writeUint64BE(address, 12, index)
  return address
}

/** Addresses of the keys 1 to `count`: each point is the one before plus the generator. */
function keyAddresses(count: number): Uint8Array[] {
  const { Point } = secp256k1
  const addresses: Uint8Array[] = []
  let point = Point.BASE
  while (addresses.length < count) {
    const points: (typeof point)[] = []
    for (let left = Math.min(POINTS_AT_ONCE, count - addresses.length); left > 0; left--) {
      points.push(point)
      point = point.add(Point.BASE)
    }
    for (const affine of normalizeZ(Point, points))
      addresses.push(keccak256(affine.toBytes(false).subarray(1)).slice(12))
  }
  return addresses
}

/** Error codes of this module. */
export type AccountBookErrorCode =
  /** A database that no create-db has made is no benchmark's. */
  'EXECUTOR_DATABASE_OTHER'
