/**
 * Reads geth's `genesis.json` and bare allocations. Numbers may be JSON numbers of any size, decimal strings, or
 * hexadecimal; addresses and hashes with or without `0x`; keys of any case. The files are input: size, depth and
 * every field are bounded, and a fault names the JSON path.
 * Not here: building the header (`genesis.ts`) and the state root, which needs tries.
 */
import { bytesAreZero, EMPTY_BYTES, toBareHex } from '../base/index.ts'
import { readChainConfig } from './chainConfigJson.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseExactJson } from './exactJson.ts'
import { fieldFault, JsonFields, readBytes, readQuantity, readWord, shown } from './jsonFields.ts'
import type { ChainSpec } from './spec.ts'

/** Characters of a genesis file: large development networks have some ten million. */
export const GENESIS_CHAR_COUNT_MAX = 128 * 1024 * 1024

/** A slot set at genesis: 32-byte key (not hashed) and 32-byte value, never all zero. */
export type GenesisSlot = { readonly slot: Uint8Array; readonly value: Uint8Array }

/** An account of the genesis state. An empty one is kept: genesis predates the clearing of EIP-161. */
export type GenesisAccount = {
  readonly address: Uint8Array
  /** Wei, below 2^256. */
  readonly balance: bigint
  /** Below 2^64. */
  readonly nonce: bigint
  readonly code: Uint8Array
  readonly storage: readonly GenesisSlot[]
}

/** The fields of block 0 that a file gives; `undefined` where it leaves one to the rules of its fork. */
export type GenesisFields = {
  readonly parentHash: Uint8Array | undefined
  readonly coinbase: Uint8Array | undefined
  readonly difficulty: bigint
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  readonly timestamp: bigint
  readonly extraData: Uint8Array
  readonly mixHash: Uint8Array | undefined
  readonly nonce: bigint
  readonly baseFeePerGas: bigint | undefined
  readonly excessBlobGas: bigint | undefined
  readonly blobGasUsed: bigint | undefined
  readonly slotNumber: bigint | undefined
}

/** A chain's beginning: its rules, its first block but for the state root, and its first state. */
export type Genesis = {
  readonly spec: ChainSpec
  readonly fields: GenesisFields
  readonly accounts: readonly GenesisAccount[]
}

/** What a file turned out to be: a whole genesis, or an allocation alone, which names no chain. */
export type GenesisFile =
  | { readonly kind: 'genesis'; readonly genesis: Genesis }
  | { readonly kind: 'alloc'; readonly accounts: readonly GenesisAccount[] }

/**
 * Reads either form. A file whose top-level keys are all addresses is an allocation.
 * @throws VarveError JSON_INVALID | JSON_TOO_LARGE | GENESIS_FIELD_INVALID
 */
export function readGenesisFile(text: string): GenesisFile {
  const top = parseObject(text)
  const isAlloc = top.size > 0 && [...top.keys()].every((key) => addressPattern.test(key))
  return isAlloc
    ? { kind: 'alloc', accounts: readAlloc(top, '') }
    : { kind: 'genesis', genesis: readGenesis(top) }
}

/** Reads a genesis file. @throws as `readGenesisFile` */
export function parseGenesisJson(text: string): Genesis {
  return readGenesis(parseObject(text))
}

/** Reads a bare allocation. @throws as `readGenesisFile` */
export function parseAllocJson(text: string): GenesisAccount[] {
  return readAlloc(parseObject(text), '')
}

const addressPattern = /^(?:0[xX])?[0-9a-fA-F]{40}$/

function parseObject(text: string): JsonObject {
  const top = parseExactJson(text, GENESIS_CHAR_COUNT_MAX)
  if (!isJsonObject(top)) throw fieldFault('', 'an object', shown(top))
  return top
}

function readGenesis(top: JsonObject): Genesis {
  const fields = new JsonFields(top, '')
  const config = fields.object('config')
  if (config === undefined) throw fieldFault('config', 'an object', 'none')
  const alloc = fields.get('alloc')
  if (!isJsonObject(alloc)) throw fieldFault('alloc', 'an object', shown(alloc))
  const read = readFields(fields)
  return {
    spec: readChainConfig(config, read.difficulty),
    fields: read,
    accounts: readAlloc(alloc, 'alloc'),
  }
}

function readFields(fields: JsonFields): GenesisFields {
  const difficulty = fields.quantity('difficulty', 256)
  if (difficulty === undefined) throw fieldFault('difficulty', 'an integer', 'none')
  const gasLimit = fields.quantity('gasLimit', 64)
  if (gasLimit === undefined) throw fieldFault('gasLimit', 'an integer', 'none')
  const number = fields.quantity('number', 64) ?? 0n
  if (number !== 0n) throw fieldFault('number', '0', String(number))
  return {
    parentHash: fields.bytes('parentHash', 32),
    coinbase: fields.bytes('coinbase', 20),
    difficulty,
    gasLimit,
    gasUsed: fields.quantity('gasUsed', 64) ?? 0n,
    timestamp: fields.quantity('timestamp', 64) ?? 0n,
    extraData: fields.bytes('extraData') ?? EMPTY_BYTES,
    mixHash: fields.bytes('mixHash', 32),
    nonce: fields.quantity('nonce', 64) ?? 0n,
    baseFeePerGas: fields.quantity('baseFeePerGas', 256),
    excessBlobGas: fields.quantity('excessBlobGas', 64),
    blobGasUsed: fields.quantity('blobGasUsed', 64),
    slotNumber: fields.quantity('slotNumber', 64),
  }
}

/** Reads an allocation in the order of the file. @throws VarveError GENESIS_FIELD_INVALID */
export function readAlloc(alloc: JsonObject, path: string): GenesisAccount[] {
  const accounts: GenesisAccount[] = []
  const seen = new Set<string>()
  for (const [key, value] of alloc) {
    const where = path === '' ? key : `${path}.${key}`
    if (!addressPattern.test(key)) throw fieldFault(where, 'an address as key', shown(key))
    const address = readBytes(key, where, 20)
    const name = toBareHex(address)
    if (seen.has(name)) throw fieldFault(where, 'each address once', 'it twice')
    seen.add(name)
    accounts.push(readAccount(address, value, where))
  }
  return accounts
}

/** An account is an object, its balance alone, or a list `[balance, code, [[slot, value] …], nonce]`. */
function readAccount(address: Uint8Array, value: JsonValue, path: string): GenesisAccount {
  if (isJsonObject(value)) return readAccountObject(address, new JsonFields(value, path))
  if (isJsonList(value)) return readAccountList(address, value, path)
  const balance = readQuantity(value, 256, path)
  return { address, balance, nonce: 0n, code: EMPTY_BYTES, storage: [] }
}

function readAccountObject(address: Uint8Array, fields: JsonFields): GenesisAccount {
  const slots = fields.get('storage')
  if (slots !== undefined && !isJsonObject(slots))
    throw fieldFault(fields.pathOf('storage'), 'an object', shown(slots))
  return {
    address,
    // Files of 2015 call the balance `wei`.
    balance: fields.quantity('balance', 256) ?? fields.quantity('wei', 256) ?? 0n,
    nonce: fields.quantity('nonce', 64) ?? 0n,
    code: fields.bytes('code') ?? EMPTY_BYTES,
    storage: slots === undefined ? [] : readStorage(slots, fields.pathOf('storage')),
  }
}

function readAccountList(
  address: Uint8Array,
  [balance, code, slots, nonce]: readonly JsonValue[],
  path: string,
): GenesisAccount {
  if (slots !== undefined && !isJsonList(slots))
    throw fieldFault(`${path}[2]`, 'a list', shown(slots))
  const entries = (slots ?? []).map((entry, index): readonly [string, JsonValue] => {
    const [slot, value] = isJsonList(entry) ? entry : []
    if (typeof slot === 'string' && value !== undefined) return [slot, value]
    throw fieldFault(`${path}[2][${index}]`, 'a pair of slot and value', shown(entry))
  })
  return {
    address,
    balance: readQuantity(balance ?? 0n, 256, `${path}[0]`),
    nonce: readQuantity(nonce ?? 0n, 64, `${path}[3]`),
    code: code === undefined ? EMPTY_BYTES : readBytes(code, `${path}[1]`),
    storage: readStorage(entries, `${path}[2]`),
  }
}

function readStorage(
  entries: Iterable<readonly [string, JsonValue]>,
  path: string,
): readonly GenesisSlot[] {
  const slots: GenesisSlot[] = []
  const seen = new Set<string>()
  for (const [key, value] of entries) {
    const slot = readWord(key, `${path}.${key.slice(0, 80)}`)
    const name = toBareHex(slot)
    if (seen.has(name)) throw fieldFault(`${path}.${key}`, 'each slot once', 'it twice')
    seen.add(name)
    const word = readWord(value, `${path}.${key}`)
    // A slot of zero does not exist in a trie.
    if (!bytesAreZero(word)) slots.push({ slot, value: word })
  }
  return slots
}

function isJsonList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value)
}
