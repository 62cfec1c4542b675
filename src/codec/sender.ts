/** Who sent a transaction: the address of the key that signed it. */
import { bigintToBytes, VarveError } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { encodeRlpWithPrefix } from './rlp.ts'
import { openSecp256k1, type Secp256k1 } from './secp256k1.ts'
import { type Authorization, signingHash, type Transaction } from './transaction.ts'
import { SECP256K1_ORDER } from './transactionReaders.ts'

/** First byte of what an authorization signs (EIP-7702). */
const AUTHORIZATION_MAGIC = 0x05

/** Recovers senders with one implementation of the curve. Opened once, then synchronous. */
export class SenderRecovery {
  private readonly curve: Secp256k1

  constructor(curve: Secp256k1) {
    this.curve = curve
  }

  /** Opens the fastest implementation that loads, or the one asked for. @throws VarveError SECP256K1_UNAVAILABLE */
  static async open(kind: 'auto' | 'native' | 'wasm' = 'auto'): Promise<SenderRecovery> {
    return new SenderRecovery(await openSecp256k1(kind))
  }

  get kind(): Secp256k1['kind'] {
    return this.curve.kind
  }

  /**
   * Address of the sender, 20 bytes. Cost: two keccaks and one recovery, 60 to 170 us.
   * @throws VarveError TRANSACTION_SENDER where the signature belongs to no key
   */
  recoverSender(transaction: Transaction): Uint8Array {
    const { r, s, yParity } = transaction
    const address = this.recover(r, s, yParity, signingHash(transaction))
    if (address === undefined)
      throw new VarveError<SenderErrorCode>(
        'TRANSACTION_SENDER',
        `transaction signature: expected a point of the curve with abscissa r, found none for r = ${r}`,
      )
    return address
  }

  /** Senders of many transactions, in their order. @throws VarveError TRANSACTION_SENDER with `index` */
  recoverSenders(transactions: readonly Transaction[]): Uint8Array[] {
    return transactions.map((transaction) => this.recoverSender(transaction))
  }

  /**
   * Account that gave an authorization, or `undefined` where its signature is not valid: EIP-7702 skips such a
   * tuple and does not refuse the transaction. Chain id, nonce and code are for the caller to check.
   */
  recoverAuthority(authorization: Authorization): Uint8Array | undefined {
    const { chainId, address, nonce, yParity, r, s } = authorization
    if (yParity > 1 || r === 0n || r >= SECP256K1_ORDER) return undefined
    if (s === 0n || s > SECP256K1_ORDER >> 1n) return undefined
    const hash = keccak256(encodeRlpWithPrefix([chainId, address, nonce], AUTHORIZATION_MAGIC))
    return this.recover(r, s, yParity as 0 | 1, hash)
  }

  private recover(r: bigint, s: bigint, yParity: 0 | 1, hash: Uint8Array): Uint8Array | undefined {
    const signature = new Uint8Array(64)
    signature.set(bigintToBytes(r, 32), 0)
    signature.set(bigintToBytes(s, 32), 32)
    const key = this.curve.recover(signature, yParity, hash)
    return key === undefined ? undefined : addressOfPublicKey(key)
  }
}

/** Address of a public key, given as 64 bytes x and y: the last 20 bytes of its keccak-256. */
export function addressOfPublicKey(key: Uint8Array): Uint8Array {
  return keccak256(key).slice(12)
}

/** Error codes of this module. */
export type SenderErrorCode =
  /** No key can have made the signature. */
  'TRANSACTION_SENDER'
