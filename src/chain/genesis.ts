/**
 * Block 0: its header from the fields of a genesis, and the genesis of each public network.
 *
 *     genesis.json ──▶ genesisJson ──▶ Genesis {spec, fields, accounts} ──▶ genesisHeader(genesis, stateRoot)
 *     public network ─▶ namedGenesis ──▶      │                                        ▲
 *                                             └─ accounts ─▶ (caller builds tries) ────┘
 *
 * Not here: the state root. It needs account tries, which this folder does not know.
 */
import {
  bigintToBytes,
  bytesEqual,
  EMPTY_BYTES,
  EMPTY_LIST_HASH,
  EMPTY_TRIE_ROOT,
  Fork,
  forkAt,
  fromBareHex,
  VarveError,
  ZERO_HASH,
} from '../base/index.ts'
import { EMPTY_BLOOM, type Header, type HeaderFields, sealHeader } from '../codec/index.ts'
import { blockFault } from './blockFault.ts'
import type { JsonObject, JsonValue } from './exactJson.ts'
import { BASE_FEE_INITIAL } from './gasRules.ts'
import { type Genesis, type GenesisAccount, type GenesisFields, readAlloc } from './genesisJson.ts'
import { NETWORK_NAMES, type NetworkName, networkByName } from './networks.ts'

/** SHA-256 of nothing: the requests hash of a block without requests (EIP-7685). */
export const EMPTY_REQUESTS_HASH = fromBareHex(
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
)
/** keccak-256 of RLP's empty list: the hash of an empty block access list (EIP-7928). */
const EMPTY_ACCESS_LIST_HASH = EMPTY_LIST_HASH
/** What geth takes where a file says 0. */
const GAS_LIMIT_DEFAULT = 4_712_388n

/**
 * Builds block 0's header. Fields that a fork brought stand where the fork rules block 0: base fee (EIP-1559),
 * empty withdrawals root (EIP-4895), blob gas (EIP-4844) and zero beacon root (EIP-4788), empty requests hash
 * (EIP-7685).
 * @param stateRoot 32 bytes: root of the state that `genesis.accounts` make
 */
export function genesisHeader(genesis: Genesis, stateRoot: Uint8Array): Header {
  const { fields } = genesis
  const base: HeaderFields = {
    parentHash: fields.parentHash ?? ZERO_HASH,
    uncleHash: EMPTY_LIST_HASH,
    coinbase: fields.coinbase ?? new Uint8Array(20),
    stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: EMPTY_BLOOM,
    difficulty: fields.difficulty,
    number: 0,
    gasLimit: fields.gasLimit === 0n ? GAS_LIMIT_DEFAULT : fields.gasLimit,
    gasUsed: fields.gasUsed,
    timestamp: fields.timestamp,
    extraData: fields.extraData,
    mixHash: fields.mixHash ?? ZERO_HASH,
    nonce: bigintToBytes(fields.nonce, 8),
  }
  return sealHeader({ ...base, ...forkFields(genesis) })
}

/** The optional fields of block 0. Forks by time count from London on, whether or not the chain has merged. */
function forkFields({ spec, fields }: Genesis): Partial<HeaderFields> {
  const seconds = Number(fields.timestamp)
  let fork = forkAt(spec.schedule, 0, seconds)
  if (fork < Fork.London) return {}
  fork = forkAt(spec.schedule, 0, seconds, true)
  return {
    baseFeePerGas: fields.baseFeePerGas ?? BASE_FEE_INITIAL,
    ...(fork >= Fork.Shanghai ? { withdrawalsRoot: EMPTY_TRIE_ROOT } : {}),
    ...(fork >= Fork.Cancun
      ? {
          blobGasUsed: fields.blobGasUsed ?? 0n,
          excessBlobGas: fields.excessBlobGas ?? 0n,
          parentBeaconBlockRoot: ZERO_HASH,
        }
      : {}),
    ...(fork >= Fork.Prague ? { requestsHash: EMPTY_REQUESTS_HASH } : {}),
    ...(fork >= Fork.Amsterdam
      ? { blockAccessListHash: EMPTY_ACCESS_LIST_HASH, slotNumber: fields.slotNumber ?? 0n }
      : {}),
  }
}

/**
 * Checks that a header is the first block of a chain, as before an import.
 * @throws VarveError GENESIS_HASH_MISMATCH where the chain's genesis hash is known and differs
 */
export function checkGenesisHash(header: Header, expected: Uint8Array | undefined): void {
  if (expected === undefined || bytesEqual(header.hash, expected)) return
  throw blockFault<GenesisErrorCode>('GENESIS_HASH_MISMATCH', 0, 'hash', expected, header.hash)
}

/** State roots of the public networks' genesis states. */
const STATE_ROOTS: Readonly<Record<NetworkName, Uint8Array>> = {
  mainnet: fromBareHex('d7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544'),
  sepolia: fromBareHex('5eb6e371a698b8d68f665192350ffcecbbbf322916f4b51bd79bb6887da3f494'),
  holesky: fromBareHex('69d8c9d72f6fa4ad42d4702b433707212f90db395eb54dc20bc85de253788783'),
  hoodi: fromBareHex('da87d7f5f91c51508791bbcbd4aa5baf04917830b86985eeb9ad3d5bfb657576'),
}

/** State root of a public network's genesis. Shared: never write to it. */
export function namedStateRoot(name: NetworkName): Uint8Array {
  return STATE_ROOTS[name]
}

/** The public network whose genesis state has this root: what an allocation without a chain belongs to. */
export function networkOfStateRoot(stateRoot: Uint8Array): NetworkName | undefined {
  return NETWORK_NAMES.find((name) => bytesEqual(STATE_ROOTS[name], stateRoot))
}

/**
 * The genesis of a public network. The allocations (8,893 accounts on mainnet) come from `@ethereumjs/genesis`,
 * loaded at the first call that needs them.
 * @param accounts the allocation, where the caller has it from a file
 * @throws VarveError CHAIN_UNKNOWN_NETWORK | GENESIS_ALLOC_UNAVAILABLE
 */
export async function namedGenesis(
  name: NetworkName,
  accounts?: readonly GenesisAccount[],
): Promise<Genesis> {
  const spec = networkByName(name)
  return { spec, fields: NAMED_FIELDS[name], accounts: accounts ?? (await namedAlloc(name)) }
}

async function namedAlloc(name: NetworkName): Promise<GenesisAccount[]> {
  let alloc: unknown
  try {
    alloc = (await loadAllocModule(name))[`${name}Genesis`]
  } catch (cause) {
    throw new VarveError<GenesisErrorCode>(
      'GENESIS_ALLOC_UNAVAILABLE',
      `genesis of ${name}: expected the package @ethereumjs/genesis, which could not be loaded`,
      { name },
      { cause },
    )
  }
  return readAlloc(new Map(Object.entries(alloc as Record<string, JsonValue>)) as JsonObject, name)
}

type AllocModule = Readonly<Record<string, unknown>>

/** One module a network, so that a small network does not load mainnet's 660 KB. */
async function loadAllocModule(name: NetworkName): Promise<AllocModule> {
  switch (name) {
    case 'mainnet':
      return import('@ethereumjs/genesis/mainnet')
    case 'sepolia':
      return import('@ethereumjs/genesis/sepolia')
    case 'holesky':
      return import('@ethereumjs/genesis/holesky')
    case 'hoodi':
      return import('@ethereumjs/genesis/hoodi')
  }
}

const ABSENT_FIELDS = {
  parentHash: undefined,
  coinbase: undefined,
  gasUsed: 0n,
  mixHash: undefined,
  baseFeePerGas: undefined,
  excessBlobGas: undefined,
  blobGasUsed: undefined,
  slotNumber: undefined,
} as const

const NAMED_FIELDS: Readonly<Record<NetworkName, GenesisFields>> = {
  mainnet: {
    ...ABSENT_FIELDS,
    difficulty: 17_179_869_184n,
    gasLimit: 5000n,
    timestamp: 0n,
    // Hash of the Olympic network's block 1,028,201.
    extraData: fromBareHex('11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa'),
    nonce: 66n,
  },
  sepolia: {
    ...ABSENT_FIELDS,
    difficulty: 131_072n,
    gasLimit: 30_000_000n,
    timestamp: 1_633_267_481n,
    extraData: new TextEncoder().encode('Sepolia, Athens, Attica, Greece!'),
    nonce: 0n,
  },
  holesky: {
    ...ABSENT_FIELDS,
    difficulty: 1n,
    gasLimit: 25_000_000n,
    timestamp: 1_695_902_100n,
    extraData: EMPTY_BYTES,
    nonce: 0x1234n,
  },
  hoodi: {
    ...ABSENT_FIELDS,
    difficulty: 1n,
    gasLimit: 36_000_000n,
    timestamp: 1_742_212_800n,
    extraData: EMPTY_BYTES,
    nonce: 0x1234n,
  },
}

/** Error codes of this module. */
export type GenesisErrorCode =
  /** Block 0 is not that of the chain. */
  | 'GENESIS_HASH_MISMATCH'
  /** The package with the public networks' allocations is not installed. */
  | 'GENESIS_ALLOC_UNAVAILABLE'
