/**
 * The proof-of-work seal of a header, verified as a light client does: from a cache of 16 MiB and up instead of the data
 * set of gigabytes. Yellow Paper appendix J.
 *
 *     epoch ─▶ seed ─▶ cache (keccak-512 over and over)
 *                        │ 256 reads an item of the data set
 *     header, nonce ─▶ 64 rounds of two items each ─▶ mix, result <= 2^256 / difficulty
 *
 * A cache takes seconds to make, so whoever verifies headers of one epoch keeps the verifier.
 * Not here: whether the difficulty is right (`headerRules.ts`).
 */
import { bigintFromBytes, bytesEqual, VarveError } from '../base/index.ts'
import { encodeRlp, type Header, headerToRlp } from '../codec/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { blockFault } from './blockFault.ts'

const EPOCH_BLOCK_COUNT = 30_000
/** Epochs that a verifier makes caches for: beyond any block under proof of work, and bounded in time and memory. */
const EPOCH_MAX = 2048
const NODE_BYTES = 64
const NODE_WORDS = NODE_BYTES / 4
const MIX_BYTES = 128
const MIX_WORDS = MIX_BYTES / 4
const CACHE_BYTES_FIRST = 2 ** 24
const CACHE_BYTES_EPOCH = 2 ** 17
const DATASET_BYTES_FIRST = 2 ** 30
const DATASET_BYTES_EPOCH = 2 ** 23
const CACHE_ROUND_COUNT = 3
const DATASET_PARENT_COUNT = 256
const ACCESS_COUNT = 64
const FNV_PRIME = 0x01000193
/** Header fields before mix hash and nonce. */
const MIX_HASH_FIELD = 13

type Keccak512 = (input: Uint8Array) => Uint8Array

/** Loads what verification needs. */
export async function openEthash(): Promise<EthashVerifier> {
  const { keccak_512 } = await import('@noble/hashes/sha3.js')
  return new EthashVerifier(keccak_512)
}

/** Verifies seals; keeps the cache of the epoch it saw last. */
export class EthashVerifier {
  private readonly keccak512: Keccak512
  private cache: EthashCache | undefined

  /** Use `openEthash`. */
  constructor(keccak512: Keccak512) {
    this.keccak512 = keccak512
  }

  /**
   * Cost: some milliseconds; the first header of an epoch some seconds, and 16 MiB and up.
   * @throws VarveError BLOCK_SEAL_INVALID, BLOCK_SEAL_EPOCH
   */
  verify(header: Header): void {
    const { number, mixHash, difficulty } = header
    const epoch = epochOf(header)
    if (epoch > EPOCH_MAX)
      throw new VarveError<EthashErrorCode>(
        'BLOCK_SEAL_EPOCH',
        `block ${number}: seal: expected an epoch of at most ${EPOCH_MAX}, found ${epoch}`,
        { number, epoch },
      )
    const { mix, result } = this.hash(header)
    if (!bytesEqual(mix, mixHash))
      throw blockFault<EthashErrorCode>('BLOCK_SEAL_INVALID', number, 'mix hash', mix, mixHash)
    if (bigintFromBytes(result) * difficulty > 1n << 256n)
      throw blockFault<EthashErrorCode>(
        'BLOCK_SEAL_INVALID',
        number,
        'hash of the seal',
        `at most 2^256 / ${difficulty}`,
        result,
      )
  }

  /** Mix and result of the nonce, whatever the header says of them: 32 bytes each. The epoch is one that `verify` takes. */
  hash(header: Header): { readonly mix: Uint8Array; readonly result: Uint8Array } {
    const epoch = epochOf(header)
    if (this.cache?.epoch !== epoch) this.cache = new EthashCache(epoch, this.keccak512)
    return this.cache.hash(sealHashOf(header), header.nonce)
  }
}

function epochOf({ number }: Header): number {
  return Math.floor(number / EPOCH_BLOCK_COUNT)
}

/** What the seal is over: the header without mix hash and nonce. */
export function sealHashOf(header: Header): Uint8Array {
  const fields = headerToRlp(header)
  fields.splice(MIX_HASH_FIELD, 2)
  return keccak256(encodeRlp(fields))
}

/** The cache of an epoch, and the hash over it. */
class EthashCache {
  readonly epoch: number
  private readonly keccak512: Keccak512
  /** Nodes of 16 little-endian words. */
  private readonly words: Uint32Array
  private readonly nodeCount: number
  /** Pairs of nodes in the data set. */
  private readonly pageCount: number

  constructor(epoch: number, keccak512: Keccak512) {
    this.epoch = epoch
    this.keccak512 = keccak512
    this.nodeCount = primeBelow(CACHE_BYTES_FIRST + CACHE_BYTES_EPOCH * epoch, NODE_BYTES)
    this.pageCount = primeBelow(DATASET_BYTES_FIRST + DATASET_BYTES_EPOCH * epoch, MIX_BYTES)
    this.words = new Uint32Array(this.nodeCount * NODE_WORDS)
    this.fill()
  }

  /** @param sealHash 32 bytes @param nonce 8 bytes, big-endian */
  hash(sealHash: Uint8Array, nonce: Uint8Array): { mix: Uint8Array; result: Uint8Array } {
    const seedBytes = new Uint8Array(40)
    seedBytes.set(sealHash)
    seedBytes.set(nonce.slice().reverse(), 32)
    const seed = new Node()
    seed.bytes.set(this.keccak512(seedBytes))
    const mix = new Uint32Array(MIX_WORDS)
    mix.set(seed.words)
    mix.set(seed.words, NODE_WORDS)
    const node = new Node()
    for (let access = 0; access < ACCESS_COUNT; access++) {
      const page = fnv(access ^ seed.words[0]!, mix[access % MIX_WORDS]!) % this.pageCount
      for (let half = 0; half < 2; half++) {
        this.dataNode(2 * page + half, node)
        const start = half * NODE_WORDS
        for (let word = 0; word < NODE_WORDS; word++)
          mix[start + word] = fnv(mix[start + word]!, node.words[word]!)
      }
    }
    const short = new Uint32Array(MIX_WORDS / 4)
    for (let word = 0; word < short.length; word++) {
      const [a, b, c, d] = mix.subarray(4 * word)
      short[word] = fnv(fnv(fnv(a!, b!), c!), d!)
    }
    const mixBytes = new Uint8Array(short.buffer)
    const last = new Uint8Array(NODE_BYTES + mixBytes.length)
    last.set(seed.bytes)
    last.set(mixBytes, NODE_BYTES)
    return { mix: mixBytes, result: keccak256(last) }
  }

  /** A node of the data set, from 256 of the cache. */
  private dataNode(index: number, target: Node): void {
    const { words, nodeCount, keccak512 } = this
    const { words: mix, bytes } = target
    const start = (index % nodeCount) * NODE_WORDS
    mix.set(words.subarray(start, start + NODE_WORDS))
    mix[0]! ^= index
    bytes.set(keccak512(bytes))
    for (let parent = 0; parent < DATASET_PARENT_COUNT; parent++) {
      const at = (fnv(index ^ parent, mix[parent % NODE_WORDS]!) % nodeCount) * NODE_WORDS
      for (let word = 0; word < NODE_WORDS; word++) mix[word] = fnv(mix[word]!, words[at + word]!)
    }
    bytes.set(keccak512(bytes))
  }

  /** A chain of hashes from the seed, then rounds in which each node takes in another one that it names itself. */
  private fill(): void {
    const { words, nodeCount, keccak512 } = this
    const bytes = new Uint8Array(words.buffer)
    let seed: Uint8Array = new Uint8Array(32)
    for (let epoch = 0; epoch < this.epoch; epoch++) seed = keccak256(seed)
    let node = keccak512(seed)
    for (let index = 0; index < nodeCount; index++) {
      bytes.set(node, index * NODE_BYTES)
      node = keccak512(node)
    }
    const mixed = new Node()
    for (let round = 0; round < CACHE_ROUND_COUNT; round++)
      for (let index = 0; index < nodeCount; index++) {
        const before = ((index + nodeCount - 1) % nodeCount) * NODE_WORDS
        const other = (words[index * NODE_WORDS]! % nodeCount) * NODE_WORDS
        for (let word = 0; word < NODE_WORDS; word++)
          mixed.words[word] = words[before + word]! ^ words[other + word]!
        bytes.set(keccak512(mixed.bytes), index * NODE_BYTES)
      }
  }
}

/** 64 bytes that are read as words where they are: little-endian, as all machines are that run this. */
class Node {
  readonly words = new Uint32Array(NODE_WORDS)
  readonly bytes = new Uint8Array(this.words.buffer)
}

function fnv(a: number, b: number): number {
  return (Math.imul(a, FNV_PRIME) ^ b) >>> 0
}

/** Largest prime number of units that fit below `byteCount`. */
function primeBelow(byteCount: number, unitBytes: number): number {
  let count = byteCount / unitBytes - 1
  while (!isPrime(count)) count -= 2
  return count
}

function isPrime(value: number): boolean {
  for (let divisor = 2; divisor * divisor <= value; divisor++)
    if (value % divisor === 0) return false
  return true
}

/** Error codes of this module. */
export type EthashErrorCode =
  /** Mix hash and nonce are no proof of work for the header. */
  | 'BLOCK_SEAL_INVALID'
  /** The block's number lies beyond all that proof of work ever sealed. */
  | 'BLOCK_SEAL_EPOCH'
