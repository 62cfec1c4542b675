/**
 * The headers of a witness: a chain without gaps that ends at the block's parent. Every link is a hash, so whoever
 * trusts the block's parent hash may trust all of them: the parent for its state root and the rules of headers, all for
 * BLOCKHASH.
 *
 *     headers   oldest ─▶ … ─▶ parent        each one's parentHash is the hash of the one before
 *                                 │
 *                                 └─ hash == block.parentHash
 */
import { BLOCK_HASH_WINDOW, bytesEqual, toHex, VarveError } from '../../base/index.ts'
import { decodeHeader, type Header } from '../../codec/index.ts'

export class AncestorChain {
  readonly parent: Header
  /** Oldest first. */
  private readonly headers: readonly Header[]

  private constructor(headers: readonly Header[], parent: Header) {
    this.headers = headers
    this.parent = parent
  }

  /**
   * Decodes and links the headers.
   * @param encodings oldest first, the parent last; 1 to 256
   * @throws VarveError WITNESS_HEADER_MISSING, WITNESS_HEADER_INVALID, WITNESS_HEADERS_UNLINKED,
   *   WITNESS_HEADERS_TOO_MANY
   */
  static link(encodings: readonly Uint8Array[], block: Header): AncestorChain {
    if (encodings.length > BLOCK_HASH_WINDOW)
      throw new VarveError<AncestorChainErrorCode>(
        'WITNESS_HEADERS_TOO_MANY',
        `witness: expected at most ${BLOCK_HASH_WINDOW} headers, got ${encodings.length}`,
        { found: encodings.length },
      )
    const headers = encodings.map(decode)
    const parent = headers.at(-1)
    if (parent === undefined) throw headerMissing(block.number - 1)
    headers.forEach((header, index) => {
      const child = headers[index + 1]
      // The number of the block itself is for the rules of headers to judge.
      checkLink(header, child ?? { number: header.number + 1, parentHash: block.parentHash }, index)
    })
    return new AncestorChain(headers, parent)
  }

  /** An ancestor's header. @throws VarveError WITNESS_HEADER_MISSING */
  headerOf(number: number): Header {
    const header = this.headers[this.headers.length - 1 - (this.parent.number - number)]
    if (header === undefined) throw headerMissing(number)
    return header
  }

  /**
   * Hash of an ancestor, for BLOCKHASH.
   * @param number one of the 256 before the block's
   * @throws VarveError WITNESS_HEADER_MISSING
   */
  hashOf(number: bigint): Uint8Array {
    return this.headerOf(Number(number)).hash
  }
}

function decode(encoding: Uint8Array, index: number): Header {
  try {
    return decodeHeader(encoding)
  } catch (cause) {
    throw new VarveError<AncestorChainErrorCode>(
      'WITNESS_HEADER_INVALID',
      `witness: header ${index}: ${cause instanceof Error ? cause.message : cause}`,
      { index },
      { cause },
    )
  }
}

function checkLink(
  header: Header,
  child: Pick<Header, 'number' | 'parentHash'>,
  index: number,
): void {
  if (header.number === child.number - 1 && bytesEqual(header.hash, child.parentHash)) return
  throw new VarveError<AncestorChainErrorCode>(
    'WITNESS_HEADERS_UNLINKED',
    `witness: header ${index}: expected block ${child.number - 1} with hash ${toHex(child.parentHash)}, got block ${header.number} with hash ${toHex(header.hash)}`,
    {
      index,
      expected: toHex(child.parentHash),
      found: toHex(header.hash),
    },
  )
}

function headerMissing(number: number): VarveError<AncestorChainErrorCode> {
  return new VarveError(
    'WITNESS_HEADER_MISSING',
    `witness: expected the header of block ${number}, got none`,
    { number },
  )
}

/** Error codes of this module. */
export type AncestorChainErrorCode =
  /** A block's header that execution needs is not in the witness: its parent's, or one that BLOCKHASH asks for. */
  | 'WITNESS_HEADER_MISSING'
  /** A header of the witness does not decode. */
  | 'WITNESS_HEADER_INVALID'
  /** The headers of a witness are no chain that ends at the block's parent. */
  | 'WITNESS_HEADERS_UNLINKED'
  /** A witness has more headers than a block can ask for. */
  | 'WITNESS_HEADERS_TOO_MANY'
