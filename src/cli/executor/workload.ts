/**
 * Blocks of transactions, one after the other, from a seed. In each block some distinct signers send a few each, so
 * that nonces are in order whatever the mix.
 */
import { assert } from '../../base/index.ts'
import {
  decodeTransactions,
  encodeTransaction,
  signingHash,
  type Transaction,
} from '../../codec/index.ts'
import { type AccountBook, createdAddress } from './accountBook.ts'
import { type KindInput, type TransactionKind, transactionBody } from './kinds.ts'
import { WorkloadRandom } from './random.ts'
import { NO_SIGNATURE, signForBenchmark } from './signer.ts'

export type WeightedKind = { readonly kind: TransactionKind; readonly weight: number }

export type WorkloadOptions = {
  readonly book: AccountBook
  readonly chainId: bigint
  /** Transactions of a block. */
  readonly blockSize: number
  readonly transactionsPerSender: number
  /** Accounts 0 to here send. */
  readonly mainSignerCount: number
  /** So many accounts behind the signers receive, as the signers do. */
  readonly additionalDestinationCount: number
  readonly kinds: readonly WeightedKind[]
  /** Share of transfers that go to the first (1 - probability) of the receivers; 0.5, the least, makes all alike. */
  readonly hotspotProbability: number
  /** Groups of accounts that send to, or receive from, one account in their middle; 0 for senders without groups. */
  readonly connectedGroupCount: number
  /** Groups take turns at random; without it they follow one another. */
  readonly shuffleConnected: boolean
  /** Copies of each contract that are called, as often the one as the other. */
  readonly moduleWorkingSet: number
  readonly seed: number
  /** Names accounts that the run makes. */
  readonly run: number
  /** With real signatures; without, senders are known by construction and signatures are a form. */
  readonly isSigned: boolean
  /** The nonce of an account that has not sent in this run. */
  nonceOf(address: Uint8Array): bigint
}

export type WorkloadBlock = {
  readonly transactions: readonly Transaction[]
  /** 20 bytes each, in the order of the transactions. */
  readonly senders: readonly Uint8Array[]
}

/** Wei a gas. The base fee stays at its lowest, 7, since blocks are far below their gas limit. */
const FEE_CAP = 10n
const TIP = 1n
const NONCE_UNKNOWN = -1

export class Workload {
  private readonly options: WorkloadOptions
  private readonly random: WorkloadRandom
  private readonly signers: Uint32Array
  private readonly nonces: Float64Array
  private readonly weightSum: number
  private createdCount = 0
  /** Of the next transaction, where the groups say who that is. */
  private receiver: number | undefined
  private readonly input: KindInput

  constructor(options: WorkloadOptions) {
    const { mainSignerCount, additionalDestinationCount: more, book, blockSize } = options
    assert(mainSignerCount + more <= book.counts.accounts, 'workload: its accounts are there')
    const senderCount = Math.ceil(blockSize / options.transactionsPerSender)
    assert(
      options.connectedGroupCount > 0 || senderCount <= mainSignerCount,
      'workload: a block has enough distinct senders',
    )
    assert(
      2 * options.connectedGroupCount <= mainSignerCount,
      'workload: a group has a middle and a member',
    )
    assert(
      options.moduleWorkingSet <= book.counts.moduleCopies,
      'workload: its copies of contracts are there',
    )
    this.options = options
    this.random = new WorkloadRandom(options.seed)
    this.signers = Uint32Array.from({ length: mainSignerCount }, (_, index) => index)
    this.nonces = new Float64Array(mainSignerCount).fill(NONCE_UNKNOWN)
    this.weightSum = options.kinds.reduce((sum, { weight }) => sum + weight, 0)
    this.input = {
      receiver: () => book.address(this.receiver ?? this.pick(mainSignerCount + more)),
      newcomer: () => createdAddress(options.run, this.createdCount++),
      moduleCopy: () =>
        options.moduleWorkingSet === 1 ? 0 : this.random.below(options.moduleWorkingSet),
      random: (bound) => this.random.below(bound),
    }
  }

  /** Makes the next block. */
  next(): WorkloadBlock {
    const { blockSize, transactionsPerSender, book, connectedGroupCount } = this.options
    if (connectedGroupCount > 0) return this.nextConnected()
    const envelopes: Uint8Array[] = []
    const senders: Uint8Array[] = []
    for (let turn = 0; envelopes.length < blockSize; turn++) {
      const signer = this.drawSigner(turn)
      const address = book.address(signer)
      for (let count = 0; count < transactionsPerSender; count++) {
        if (envelopes.length === blockSize) break
        envelopes.push(this.envelopeOf(signer))
        senders.push(address)
      }
    }
    return { transactions: decodeTransactions(envelopes), senders }
  }

  /** Each group in its part of the block: its middle and another member, one of them the sender. */
  private nextConnected(): WorkloadBlock {
    const { blockSize, book, connectedGroupCount: groups, mainSignerCount } = this.options
    const pairs: { from: number; to: number }[] = []
    const memberCount = Math.floor(mainSignerCount / groups)
    for (let index = 0; index < blockSize; index++) {
      const middle = Math.floor((index * groups) / blockSize) * memberCount
      const member = middle + 1 + this.random.below(memberCount - 1)
      const isFromMiddle = this.random.below(2) === 0
      pairs.push(isFromMiddle ? { from: middle, to: member } : { from: member, to: middle })
    }
    if (this.options.shuffleConnected) this.shuffle(pairs)
    const envelopes = pairs.map(({ from, to }) => {
      this.receiver = to
      return this.envelopeOf(from)
    })
    this.receiver = undefined
    const senders = pairs.map(({ from }) => book.address(from))
    return { transactions: decodeTransactions(envelopes), senders }
  }

  private shuffle(items: unknown[]): void {
    for (let at = items.length - 1; at > 0; at--) {
      const other = this.random.below(at + 1)
      const item = items[at]
      items[at] = items[other]
      items[other] = item
    }
  }

  /** Every signer that has sent, with the nonce that its account must have in the end. */
  *expectedNonces(): Iterable<{ readonly address: Uint8Array; readonly nonce: bigint }> {
    for (const [index, nonce] of this.nonces.entries())
      if (nonce !== NONCE_UNKNOWN)
        yield { address: this.options.book.address(index), nonce: BigInt(nonce) }
  }

  /** A signer that has not been drawn in this block: the first ones of a shuffle that goes on from block to block. */
  private drawSigner(turn: number): number {
    const { signers } = this
    const at = turn + this.random.below(signers.length - turn)
    const drawn = signers[at]!
    signers[at] = signers[turn]!
    signers[turn] = drawn
    return drawn
  }

  private envelopeOf(signer: number): Uint8Array {
    const { chainId, isSigned, book, nonceOf } = this.options
    const { nonces } = this
    if (nonces[signer] === NONCE_UNKNOWN) nonces[signer] = Number(nonceOf(book.address(signer)))
    const nonce = BigInt(nonces[signer]!++)
    const fields = {
      type: 2 as const,
      chainId,
      nonce,
      maxFeePerGas: FEE_CAP,
      maxPriorityFeePerGas: TIP,
      accessList: [],
      ...transactionBody(this.kind(), this.input),
    }
    const signature = isSigned
      ? signForBenchmark(signingHash(fields), book.privateKey(signer))
      : NO_SIGNATURE
    return encodeTransaction({ ...fields, ...signature })
  }

  private kind(): TransactionKind {
    const { kinds } = this.options
    if (kinds.length === 1) return kinds[0]!.kind
    let left = this.random.fraction() * this.weightSum
    for (const { kind, weight } of kinds) {
      left -= weight
      if (left < 0) return kind
    }
    return kinds.at(-1)!.kind
  }

  /** A receiver: 0 to `count` - 1. */
  private pick(count: number): number {
    const { hotspotProbability: hot } = this.options
    if (hot === 0.5) return this.random.below(count)
    const hotCount = Math.max(1, Math.floor(count * (1 - hot)))
    if (hotCount === count || this.random.fraction() < hot) return this.random.below(hotCount)
    return hotCount + this.random.below(count - hotCount)
  }
}
