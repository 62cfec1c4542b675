/**
 * The public networks. Sources: the Meta EIPs (606, 607, 608, 609, 1013, 1679, 2387, 2982, 4345, 5133, 7568, 7569,
 * 7600, 7607), EIP-8134/8135 for the BPO forks, and the networks' published genesis files.
 * Paris stands at the block that history made the first of proof of stake, beside the terminal total difficulty.
 */
import { Fork, fromBareHex, VarveError } from '../base/index.ts'
import {
  BPO1_BLOB,
  BPO2_BLOB,
  blobSteps,
  CANCUN_BLOB,
  type ChainSpec,
  forkSteps,
  PRAGUE_BLOB,
} from './spec.ts'

export type NetworkName = 'mainnet' | 'sepolia' | 'holesky' | 'hoodi'
export const NETWORK_NAMES: readonly NetworkName[] = ['mainnet', 'sepolia', 'holesky', 'hoodi']

export const mainnet: ChainSpec = {
  name: 'mainnet',
  chainId: 1n,
  genesisHash: fromBareHex('d4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3'),
  depositContract: fromBareHex('00000000219ab540356cbb839cbe05303d7705fa'),
  schedule: {
    chainId: 1n,
    byBlock: forkSteps(
      [Fork.Homestead, 1_150_000],
      [Fork.TangerineWhistle, 2_463_000],
      [Fork.SpuriousDragon, 2_675_000],
      [Fork.Byzantium, 4_370_000],
      [Fork.Constantinople, 7_280_000],
      [Fork.Petersburg, 7_280_000],
      [Fork.Istanbul, 9_069_000],
      [Fork.MuirGlacier, 9_200_000],
      [Fork.Berlin, 12_244_000],
      [Fork.London, 12_965_000],
      [Fork.ArrowGlacier, 13_773_000],
      [Fork.GrayGlacier, 15_050_000],
      [Fork.Paris, 15_537_394],
    ),
    byTime: forkSteps(
      [Fork.Shanghai, 1_681_338_455],
      [Fork.Cancun, 1_710_338_135],
      [Fork.Prague, 1_746_612_311],
      [Fork.Osaka, 1_764_798_551],
    ),
    blobs: blobSteps(
      ['cancun', 1_710_338_135, CANCUN_BLOB],
      ['prague', 1_746_612_311, PRAGUE_BLOB],
      ['bpo1', 1_765_290_071, BPO1_BLOB],
      ['bpo2', 1_767_747_671, BPO2_BLOB],
    ),
    dao: { block: 1_920_000, support: true },
    terminalTotalDifficulty: 58_750_000_000_000_000_000_000n,
  },
}

export const sepolia: ChainSpec = {
  name: 'sepolia',
  chainId: 11_155_111n,
  genesisHash: fromBareHex('25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9'),
  depositContract: fromBareHex('7f02c3e3c98b133055b8b348b2ac625669ed295d'),
  schedule: {
    chainId: 11_155_111n,
    // No glacier was scheduled here: London's bomb delay holds until the merge.
    byBlock: forkSteps([Fork.London, 0], [Fork.Paris, 1_450_409]),
    byTime: forkSteps(
      [Fork.Shanghai, 1_677_557_088],
      [Fork.Cancun, 1_706_655_072],
      [Fork.Prague, 1_741_159_776],
      [Fork.Osaka, 1_760_427_360],
    ),
    blobs: blobSteps(
      ['cancun', 1_706_655_072, CANCUN_BLOB],
      ['prague', 1_741_159_776, PRAGUE_BLOB],
      ['bpo1', 1_761_017_184, BPO1_BLOB],
      ['bpo2', 1_761_607_008, BPO2_BLOB],
    ),
    terminalTotalDifficulty: 17_000_000_000_000_000n,
  },
}

export const holesky: ChainSpec = {
  name: 'holesky',
  chainId: 17_000n,
  genesisHash: fromBareHex('b5f7f912443c940f21fd611f12828d75b534364ed9e95ca4e307729a4661bde4'),
  depositContract: fromBareHex('4242424242424242424242424242424242424242'),
  schedule: {
    chainId: 17_000n,
    byBlock: forkSteps([Fork.London, 0], [Fork.Paris, 0]),
    byTime: forkSteps(
      [Fork.Shanghai, 1_696_000_704],
      [Fork.Cancun, 1_707_305_664],
      [Fork.Prague, 1_740_434_112],
      [Fork.Osaka, 1_759_308_480],
    ),
    blobs: blobSteps(
      ['cancun', 1_707_305_664, CANCUN_BLOB],
      ['prague', 1_740_434_112, PRAGUE_BLOB],
      ['bpo1', 1_759_800_000, BPO1_BLOB],
      ['bpo2', 1_760_389_824, BPO2_BLOB],
    ),
    terminalTotalDifficulty: 0n,
  },
}

export const hoodi: ChainSpec = {
  name: 'hoodi',
  chainId: 560_048n,
  genesisHash: fromBareHex('bbe312868b376a3001692a646dd2d7d1e4406380dfd86b98aa8a34d1557c971b'),
  depositContract: fromBareHex('00000000219ab540356cbb839cbe05303d7705fa'),
  schedule: {
    chainId: 560_048n,
    byBlock: forkSteps([Fork.London, 0], [Fork.Paris, 0]),
    byTime: forkSteps(
      [Fork.Shanghai, 0],
      [Fork.Cancun, 0],
      [Fork.Prague, 1_742_999_832],
      [Fork.Osaka, 1_761_677_592],
    ),
    blobs: blobSteps(
      ['cancun', 0, CANCUN_BLOB],
      ['prague', 1_742_999_832, PRAGUE_BLOB],
      ['bpo1', 1_762_365_720, BPO1_BLOB],
      ['bpo2', 1_762_955_544, BPO2_BLOB],
    ),
    terminalTotalDifficulty: 0n,
  },
}

const NETWORKS: Readonly<Record<NetworkName, ChainSpec>> = { mainnet, sepolia, holesky, hoodi }

/** Whether `name` is a public network's, in lower case. */
export function isNetworkName(name: string): name is NetworkName {
  return (NETWORK_NAMES as readonly string[]).includes(name)
}

/** The network of that name. @throws VarveError CHAIN_UNKNOWN_NETWORK */
export function networkByName(name: string): ChainSpec {
  if (isNetworkName(name)) return NETWORKS[name]
  throw new VarveError<NetworkErrorCode>(
    'CHAIN_UNKNOWN_NETWORK',
    `network "${name.slice(0, 40)}" is none of ${NETWORK_NAMES.join(', ')}`,
    { name: name.slice(0, 40) },
  )
}

/** Error codes of this module. */
export type NetworkErrorCode =
  /** A network's name is not in the list. */
  'CHAIN_UNKNOWN_NETWORK'
