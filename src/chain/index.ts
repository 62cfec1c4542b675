export { type AccessListRuleErrorCode, validateAccessList } from './accessListRules.ts'
export { blockFault } from './blockFault.ts'
export {
  BLOCK_BYTES_MAX,
  type BodyRuleErrorCode,
  blobGasOf,
  type ReceiptFields,
  receiptFields,
  transactionsRootOf,
  validateBody,
  validateReceipts,
  validateRequests,
  withdrawalsRootOf,
} from './bodyRules.ts'
export { DAO_ADDRESSES, DAO_REFUND_ADDRESS } from './daoAccounts.ts'
export { DIFFICULTY_MIN, type DifficultyInput, difficultyAt } from './difficulty.ts'
export { type EthashErrorCode, type EthashVerifier, openEthash } from './ethash.ts'
export type { JsonErrorCode } from './exactJson.ts'
export { isMergedAfter, replacesHead, totalDifficulty, type WeighedHeader } from './forkChoice.ts'
export {
  BASE_FEE_INITIAL,
  BLOB_GAS_PER_BLOB,
  type BlobParent,
  blobBaseFee,
  nextBaseFee,
  nextExcessBlobGas,
} from './gasRules.ts'
export {
  checkGenesisHash,
  EMPTY_REQUESTS_HASH,
  type GenesisErrorCode,
  genesisHeader,
  namedGenesis,
  namedStateRoot,
  networkOfStateRoot,
} from './genesis.ts'
export {
  GENESIS_CHAR_COUNT_MAX,
  type Genesis,
  type GenesisAccount,
  type GenesisFields,
  type GenesisFile,
  type GenesisSlot,
  parseAllocJson,
  parseGenesisJson,
  readGenesisFile,
} from './genesisJson.ts'
export {
  DAO_EXTRA_DATA,
  type HeaderContext,
  type HeaderRuleErrorCode,
  validateHeader,
} from './headerRules.ts'
export type { GenesisFieldErrorCode } from './jsonFields.ts'
export {
  holesky,
  hoodi,
  isNetworkName,
  mainnet,
  NETWORK_NAMES,
  type NetworkErrorCode,
  type NetworkName,
  networkByName,
  sepolia,
} from './networks.ts'
export { type HeaderChoices, headerAfter } from './nextHeader.ts'
export { blockReward, blockRewards, type Reward } from './rewards.ts'
export {
  type BlockRules,
  BPO1_BLOB,
  BPO2_BLOB,
  CANCUN_BLOB,
  type ChainSpec,
  PRAGUE_BLOB,
  rulesAt,
  singleForkSpec,
} from './spec.ts'
export { type BlobsByNetwork, networkRules, networkSpec } from './testNetworks.ts'
export {
  ANCESTOR_COUNT,
  type AncestorBlock,
  type AncestorReader,
  AncestorWindow,
  UNCLE_COUNT_MAX,
  type UncleRuleErrorCode,
  validateUncles,
  validateUnclesAlone,
} from './uncleRules.ts'
