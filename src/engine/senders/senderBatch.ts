/**
 * Transactions on their way to the thread that recovers their senders, and the senders on their way back: one buffer
 * each, so that a hand-over costs one copy.
 *
 *     request = for each transaction: length (4 bytes, little-endian) ‖ envelope
 *     reply   = for each transaction: 20 bytes, all zero where the signature belongs to no key
 */
import { ADDRESS_BYTES, bytesAreZero } from '../../base/index.ts'
import { decodeTransaction, type SenderRecovery, type Transaction } from '../../codec/index.ts'

const LENGTH_BYTES = 4

/** Packs the envelopes of some transactions into a fresh buffer of its own. */
export function packTransactions(transactions: readonly Transaction[]): Uint8Array<ArrayBuffer> {
  const size = transactions.reduce((sum, { raw }) => sum + LENGTH_BYTES + raw.length, 0)
  const packed = new Uint8Array(size)
  const view = new DataView(packed.buffer)
  let at = 0
  for (const { raw } of transactions) {
    view.setUint32(at, raw.length, true)
    packed.set(raw, at + LENGTH_BYTES)
    at += LENGTH_BYTES + raw.length
  }
  return packed
}

/** Recovers the senders of packed transactions. Cost: 60 to 170 us a transaction. */
export function recoverPacked(
  recovery: SenderRecovery,
  packed: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length)
  const senders: (Uint8Array | undefined)[] = []
  for (let at = 0; at < packed.length; ) {
    const start = at + LENGTH_BYTES
    at = start + view.getUint32(at, true)
    senders.push(senderOf(recovery, packed.subarray(start, at)))
  }
  const reply = new Uint8Array(senders.length * ADDRESS_BYTES)
  senders.forEach((sender, index) => {
    if (sender !== undefined) reply.set(sender, index * ADDRESS_BYTES)
  })
  return reply
}

/** Which rule a signature breaks is for the executor to say; here it has no sender. */
function senderOf(recovery: SenderRecovery, raw: Uint8Array): Uint8Array | undefined {
  try {
    return recovery.recoverSender(decodeTransaction(raw))
  } catch {
    return undefined
  }
}

/** The senders of a reply, or `undefined` where one is missing. */
export function unpackSenders(reply: Uint8Array): Uint8Array[] | undefined {
  const senders: Uint8Array[] = []
  for (let at = 0; at < reply.length; at += ADDRESS_BYTES) {
    const sender = reply.subarray(at, at + ADDRESS_BYTES)
    if (bytesAreZero(sender)) return undefined
    senders.push(sender)
  }
  return senders
}
