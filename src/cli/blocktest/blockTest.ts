/**
 * One blockchain test as published: a genesis, blocks of which some are not valid, and the head they must lead to.
 *
 *     {network, config?, genesisBlockHeader, genesisRLP?, pre, blocks: [{rlp, expectException*?}], lastblockhash, postState}
 *     {…, engineNewPayloads: [{params, validationError?, errorCode?}]}            blocks as payloads of the engine API
 *     {…, preHash, engineNewPayloads}                                            the state stands in a file of its own
 */
import { ADDRESS_BYTES, HASH_BYTES, VarveError } from '../../base/index.ts'
import {
  type ChainSpec,
  type Genesis,
  type GenesisAccount,
  type GenesisFields,
  networkSpec,
} from '../../chain/index.ts'
import { type Block, decodeBlock, NONCE_BYTES } from '../../codec/index.ts'
import { blockOfPayload } from '../../engine/index.ts'
import type { PrecompileSet } from '../../evm/index.ts'
import { amsterdamDraftOf, precompileSetOf } from '../testfiles/filler.ts'
import {
  invalid,
  type JsonRecord,
  readBytes,
  readFixed,
  readList,
  readObject,
  readText,
  readUint,
} from '../testfiles/jsonValue.ts'
import { readAccounts, readBlobSchedule } from '../testfiles/testState.ts'
import { readPayload } from './payloadJson.ts'

/** A block to import, and what must become of it. */
export type TestBlock = {
  /** @throws VarveError where the bytes are no block */
  decode(): Block
  /** Why it is not valid, names joined by `|`. */
  readonly expectException: string | undefined
  /** Hash of a valid block, where the file has its header. */
  readonly hash: Uint8Array | undefined
  /** Where the file was filled for EIP-8025. */
  readonly stateless?: StatelessFixture
}

/** What a stateless validator is given for a block, and what it must answer. */
export type StatelessFixture = {
  /** Witness in JSON; spoiled in tests of refusals. */
  readonly json: unknown
  /** SSZ. */
  readonly input: Uint8Array
  readonly output: Uint8Array
}

export type BlockTest = {
  readonly name: string
  readonly network: string
  readonly genesis: Genesis
  /** Block 0 as the file encodes it. */
  readonly genesisRlp: Uint8Array | undefined
  readonly blocks: readonly TestBlock[]
  readonly lastBlockHash: Uint8Array
  readonly post: PostState
  readonly precompileSet: PrecompileSet
  /** True where blocks have to be sealed by a proof of work; most files have none. */
  readonly isSealed: boolean
}

/** Expected of a block that a file does not call valid: any refusal will do. */
const NO_REASON = 'a refusal'

/** What the state must be at the end. */
export type PostState =
  | { readonly kind: 'accounts'; readonly accounts: readonly GenesisAccount[] }
  | { readonly kind: 'root'; readonly root: Uint8Array }
  /** The hash of the last block says it all. */
  | { readonly kind: 'head' }

/** Finds the state that several tests start from. */
export type PreStateReader = (preHash: string) => PreStateGroup | undefined

/** A state in a file of its own, with the environment that its block 0 is made of. */
export type PreStateGroup = { readonly pre: JsonRecord; readonly environment: JsonRecord }

/** Whether a JSON value looks like a blockchain test, so that other files in a folder can be passed over. */
export function isBlockTest(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    // One of its parts may be missing: that is a fault to be named, and no reason to pass the test over.
    ['network', 'lastblockhash', 'genesisBlockHeader'].some((key) => key in value) &&
    ['pre', 'blocks', 'engineNewPayloads', 'lastblockhash'].some((key) => key in value) &&
    // Fillers, and pre-states that tests share.
    !('expect' in value || 'environment' in value)
  )
}

/** @throws VarveError TESTFILE_INVALID, TESTFILE_NETWORK_UNKNOWN, TESTFILE_PRESTATE_MISSING */
export function readBlockTest(name: string, value: unknown, groups: PreStateReader): BlockTest {
  const test = readObject(value, name)
  const network = readText(test['network'], `${name}.network`)
  const precompileSet = network === 'Prague' ? precompileSetOf(test['_info']) : 'final'
  const isDraft = precompileSet !== 'final' && !hasRequests(test)
  const spec = readSpec(name, isDraft ? 'Cancun' : network, test)
  return {
    name,
    network,
    ...readStart(name, test, spec, groups),
    blocks: 'blocks' in test ? readBlocks(name, test) : readPayloads(name, test),
    lastBlockHash: readFixed(test['lastblockhash'], HASH_BYTES, `${name}.lastblockhash`),
    post: readPost(name, test),
    precompileSet,
    isSealed: test['sealEngine'] === 'Ethash',
  }
}

/** Fillers with the draft of EIP-2537 had nothing else of Prague: it was Cancun and these precompiles. */
function hasRequests(test: JsonRecord): boolean {
  const header = test['genesisBlockHeader']
  return typeof header === 'object' && header !== null && 'requestsHash' in header
}

function readSpec(name: string, network: string, test: JsonRecord): ChainSpec {
  const config = test['config'] === undefined ? {} : readObject(test['config'], `${name}.config`)
  const chainId =
    config['chainid'] === undefined ? 1n : readUint(config['chainid'], 64, `${name}.chainid`)
  const blobs = readBlobSchedule(config['blobSchedule'], `${name}.blobSchedule`)
  const spec = networkSpec(network, blobs, chainId)
  if (spec !== undefined) return { ...spec, amsterdamDraft: amsterdamDraftOf(test['_info']) }
  throw new VarveError<BlockTestErrorCode>(
    'TESTFILE_NETWORK_UNKNOWN',
    `test ${name}: network "${network}" is not known`,
    { network },
  )
}

function readStart(
  name: string,
  test: JsonRecord,
  spec: ChainSpec,
  groups: PreStateReader,
): Pick<BlockTest, 'genesis' | 'genesisRlp'> {
  if (test['genesisBlockHeader'] === undefined) return readSharedStart(name, test, spec, groups)
  const path = `${name}.genesisBlockHeader`
  const header = readObject(test['genesisBlockHeader'], path)
  const genesisHash = readFixed(header['hash'], HASH_BYTES, `${path}.hash`)
  const rlp = test['genesisRLP']
  return {
    genesis: {
      spec: { ...spec, genesisHash },
      fields: readGenesisFields(header, path),
      accounts: readAccounts(readObject(test['pre'], `${name}.pre`), `${name}.pre`),
    },
    genesisRlp: rlp === undefined ? undefined : readBytes(rlp, `${name}.genesisRLP`),
  }
}

/** Block 0 of a shared state is made of its environment; the first payload names its hash. */
function readSharedStart(
  name: string,
  test: JsonRecord,
  spec: ChainSpec,
  groups: PreStateReader,
): Pick<BlockTest, 'genesis' | 'genesisRlp'> {
  const preHash = readText(test['preHash'], `${name}.preHash`)
  const group = groups(preHash)
  if (group === undefined)
    throw new VarveError<BlockTestErrorCode>(
      'TESTFILE_PRESTATE_MISSING',
      `test ${name}: no file of pre-allocated states has ${preHash} (--pre-alloc)`,
      { preHash },
    )
  const { environment, pre } = group
  const number = (key: string, bits: number) =>
    environment[key] === undefined
      ? undefined
      : readUint(environment[key], bits, `${preHash}.${key}`)
  return {
    genesis: {
      spec,
      fields: {
        parentHash: undefined,
        coinbase: readFixed(
          environment['currentCoinbase'],
          ADDRESS_BYTES,
          `${preHash}.currentCoinbase`,
        ),
        difficulty: number('currentDifficulty', 256) ?? 0n,
        gasLimit: number('currentGasLimit', 64) ?? 0n,
        gasUsed: 0n,
        timestamp: number('currentTimestamp', 64) ?? 0n,
        // As execution-spec-tests makes every block 0.
        extraData: Uint8Array.of(0),
        mixHash: undefined,
        nonce: 0n,
        baseFeePerGas: number('currentBaseFee', 256),
        excessBlobGas: number('currentExcessBlobGas', 64),
        blobGasUsed: number('currentBlobGasUsed', 64),
        slotNumber: number('slotNumber', 64),
      },
      accounts: readAccounts(pre, preHash),
    },
    genesisRlp: undefined,
  }
}

function readGenesisFields(header: JsonRecord, path: string): GenesisFields {
  const number = (key: string, bits: number) => readUint(header[key], bits, `${path}.${key}`)
  const optional = (key: string, bits: number) =>
    header[key] === undefined ? undefined : number(key, bits)
  return {
    parentHash: readFixed(header['parentHash'], HASH_BYTES, `${path}.parentHash`),
    coinbase: readFixed(header['coinbase'], ADDRESS_BYTES, `${path}.coinbase`),
    difficulty: number('difficulty', 256),
    gasLimit: number('gasLimit', 64),
    gasUsed: number('gasUsed', 64),
    timestamp: number('timestamp', 64),
    extraData: readBytes(header['extraData'], `${path}.extraData`),
    mixHash: readFixed(header['mixHash'], HASH_BYTES, `${path}.mixHash`),
    nonce: BigInt.asUintN(64, readNonce(header['nonce'], `${path}.nonce`)),
    baseFeePerGas: optional('baseFeePerGas', 256),
    excessBlobGas: optional('excessBlobGas', 64),
    blobGasUsed: optional('blobGasUsed', 64),
    slotNumber: optional('slotNumber', 64),
  }
}

/** Eight bytes; as a number they are what a genesis has. */
function readNonce(value: unknown, path: string): bigint {
  const bytes = readFixed(value, NONCE_BYTES, path)
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0)
}

function readBlocks(name: string, test: JsonRecord): TestBlock[] {
  return readList(test['blocks'], `${name}.blocks`).map((value, index) => {
    const path = `${name}.blocks.${index}`
    const block = readObject(value, path)
    const bytes = readBytes(block['rlp'], `${path}.rlp`)
    // `expectExceptionALL`, `expectExceptionByzantium`: one file a network, so any of them counts.
    const key = Object.keys(block).find((field) => field.startsWith('expectException'))
    const header = block['blockHeader']
    // The oldest files give no reason: a block without its header in JSON is one that is not valid.
    const unexplained = header === undefined ? NO_REASON : undefined
    return {
      decode: () => decodeBlock(bytes),
      expectException: key === undefined ? unexplained : readText(block[key], `${path}.${key}`),
      hash:
        header === undefined
          ? undefined
          : readFixed(readObject(header, path)['hash'], HASH_BYTES, `${path}.blockHeader.hash`),
      ...readStateless(block, path),
    }
  })
}

function readStateless(block: JsonRecord, path: string): { stateless?: StatelessFixture } {
  const { executionWitness: json, statelessInputBytes, statelessOutputBytes } = block
  if (json === undefined || statelessInputBytes === undefined) return {}
  return {
    stateless: {
      json,
      input: readBytes(statelessInputBytes, `${path}.statelessInputBytes`),
      output: readBytes(statelessOutputBytes, `${path}.statelessOutputBytes`),
    },
  }
}

function readPayloads(name: string, test: JsonRecord): TestBlock[] {
  return readList(test['engineNewPayloads'], `${name}.engineNewPayloads`).map((value, index) => {
    const path = `${name}.engineNewPayloads.${index}`
    const entry = readObject(value, path)
    const params = readList(entry['params'], `${path}.params`)
    const expected = entry['validationError'] ?? entry['errorCode']
    return {
      decode() {
        const { payload, extras } = readPayload(params, `${path}.params`)
        return blockOfPayload(payload, extras)
      },
      expectException: expected === undefined ? undefined : String(expected),
      hash: undefined,
    }
  })
}

function readPost(name: string, test: JsonRecord): PostState {
  const { postState, postStateHash } = test
  if (postState !== undefined && postState !== null) {
    const accounts = readAccounts(readObject(postState, `${name}.postState`), `${name}.postState`)
    return { kind: 'accounts', accounts }
  }
  if (postStateHash !== undefined) {
    const root = readFixed(postStateHash, HASH_BYTES, `${name}.postStateHash`)
    return { kind: 'root', root }
  }
  if (test['preHash'] !== undefined) return { kind: 'head' }
  throw invalid(name, 'postState or postStateHash', undefined)
}

/** Error codes of this module. */
export type BlockTestErrorCode =
  /** A test names a network whose rules this version does not have. */
  | 'TESTFILE_NETWORK_UNKNOWN'
  /** A test starts from a state that stands in a file which was not given. */
  | 'TESTFILE_PRESTATE_MISSING'
