/**
 * Reads the `config` object of a geth genesis file into a `ChainSpec`. Keys that it does not know are passed over.
 * A fork may not come before an earlier one, and only the DAO fork and the glaciers may be left out between others.
 * Blob limits: EIP-7840 (`blobSchedule`), EIP-7892 (BPO forks).
 */
import type { BlobParameters, BlobStep, ForkSchedule, ForkStep } from '../base/index.ts'
import { Fork } from '../base/index.ts'
import { fieldFault, type JsonFields } from './jsonFields.ts'
import { CANCUN_BLOB, type ChainSpec, PRAGUE_BLOB } from './spec.ts'

type ForkKey = { readonly key: string; readonly fork: Fork; readonly isOptional?: boolean }

const BLOCK_KEYS: readonly ForkKey[] = [
  { key: 'homesteadBlock', fork: Fork.Homestead },
  { key: 'eip150Block', fork: Fork.TangerineWhistle },
  { key: 'eip158Block', fork: Fork.SpuriousDragon },
  { key: 'byzantiumBlock', fork: Fork.Byzantium },
  { key: 'constantinopleBlock', fork: Fork.Constantinople },
  { key: 'petersburgBlock', fork: Fork.Petersburg },
  { key: 'istanbulBlock', fork: Fork.Istanbul },
  { key: 'muirGlacierBlock', fork: Fork.MuirGlacier, isOptional: true },
  { key: 'berlinBlock', fork: Fork.Berlin },
  { key: 'londonBlock', fork: Fork.London },
  { key: 'arrowGlacierBlock', fork: Fork.ArrowGlacier, isOptional: true },
  { key: 'grayGlacierBlock', fork: Fork.GrayGlacier, isOptional: true },
]

const TIME_KEYS: readonly ForkKey[] = [
  { key: 'shanghaiTime', fork: Fork.Shanghai },
  { key: 'cancunTime', fork: Fork.Cancun },
  { key: 'pragueTime', fork: Fork.Prague },
  { key: 'osakaTime', fork: Fork.Osaka },
  { key: 'amsterdamTime', fork: Fork.Amsterdam },
]

/** Names under `blobSchedule`, in the order that decides between equal times. */
const BLOB_NAMES = [
  'cancun',
  'prague',
  'osaka',
  'bpo1',
  'bpo2',
  'bpo3',
  'bpo4',
  'bpo5',
  'amsterdam',
]
/** Blobs a schedule may allow: far above any plan, and small enough for exact arithmetic. */
const BLOB_COUNT_BITS = 20

/**
 * @param config the `config` object
 * @param genesisDifficulty decides whether the first block after genesis is already under proof of stake
 * @throws VarveError GENESIS_FIELD_INVALID
 */
export function readChainConfig(config: JsonFields, genesisDifficulty: bigint): ChainSpec {
  const chainId = config.quantity('chainId', 256)
  if (chainId === undefined) throw fieldFault(config.pathOf('chainId'), 'an integer', 'none')
  const byBlock = readSteps(config, BLOCK_KEYS)
  const byTime = readSteps(config, TIME_KEYS)
  checkSpuriousDragon(config)
  const terminal =
    config.quantity('terminalTotalDifficulty', 256) ??
    (config.boolean('terminalTotalDifficultyPassed') === true ? 0n : undefined)
  const daoBlock = readPoint(config, 'daoForkBlock')
  const schedule: ForkSchedule = {
    chainId,
    byBlock: [...byBlock, ...parisSteps(terminal, genesisDifficulty)],
    byTime,
    blobs: readBlobs(config),
    ...(daoBlock === undefined || daoBlock === Number.POSITIVE_INFINITY
      ? {}
      : { dao: { block: daoBlock, support: config.boolean('daoForkSupport') ?? false } }),
    ...(terminal === undefined ? {} : { terminalTotalDifficulty: terminal }),
  }
  return {
    name: `chain ${chainId}`,
    chainId,
    schedule,
    depositContract: config.bytes('depositContractAddress', 20) ?? new Uint8Array(20),
  }
}

/** Where the terminal total difficulty is met by genesis, the block of Paris is known without counting. */
function parisSteps(terminal: bigint | undefined, genesisDifficulty: bigint): ForkStep[] {
  if (terminal === 0n) return [{ fork: Fork.Paris, at: 0 }]
  return terminal !== undefined && terminal <= genesisDifficulty
    ? [{ fork: Fork.Paris, at: 1 }]
    : []
}

function readSteps(config: JsonFields, keys: readonly ForkKey[]): ForkStep[] {
  const steps: ForkStep[] = []
  let missing: string | undefined
  let last = { key: 'genesis', at: 0 }
  for (const { key, fork, isOptional } of keys) {
    let at = readPoint(config, key)
    // Constantinople came with Petersburg, which repairs it, unless a file says otherwise.
    if (at === undefined && fork === Fork.Petersburg) at = readPoint(config, 'constantinopleBlock')
    if (at === undefined) {
      if (isOptional !== true) missing ??= key
      continue
    }
    if (missing !== undefined)
      throw fieldFault(config.pathOf(missing), `a value, as ${key} has one`, 'none')
    if (at < last.at)
      throw fieldFault(config.pathOf(key), `at least ${last.at}, as ${last.key}`, String(at))
    // A fork that never comes is no step: a schedule holds finite numbers only, so that it survives JSON.
    if (at !== Number.POSITIVE_INFINITY) steps.push({ fork, at })
    last = { key, at }
  }
  return steps
}

/** EIP-155 and EIP-158 are one fork here, as they were on every public chain. */
function checkSpuriousDragon(config: JsonFields): void {
  const replay = readPoint(config, 'eip155Block')
  const clearing = readPoint(config, 'eip158Block')
  if (replay !== undefined && replay !== clearing)
    throw fieldFault(
      config.pathOf('eip155Block'),
      `the block of eip158Block (${clearing ?? 'none'})`,
      String(replay),
    )
}

/** A block number or time. What no double holds exactly lies beyond any chain and counts as never. */
function readPoint(config: JsonFields, key: string): number | undefined {
  const point = config.quantity(key, 256)
  if (point === undefined) return undefined
  return point > BigInt(Number.MAX_SAFE_INTEGER) ? Number.POSITIVE_INFINITY : Number(point)
}

function readBlobs(config: JsonFields): BlobStep[] {
  const schedule = config.object('blobSchedule')
  const steps: BlobStep[] = []
  for (const name of BLOB_NAMES) {
    const at = readPoint(config, `${name}Time`)
    if (at === undefined || at === Number.POSITIVE_INFINITY) continue
    const blob = readBlob(schedule?.object(name)) ?? defaultBlob(name)
    if (blob !== undefined) steps.push({ name, at, blob })
    else if (name.startsWith('bpo'))
      throw fieldFault(config.pathOf(`blobSchedule.${name}`), 'the limits of this fork', 'none')
  }
  return steps.sort((a, b) => (a.at === b.at ? 0 : a.at - b.at))
}

/** Limits by the EIPs; the forks that changed none keep those before. */
function defaultBlob(name: string): BlobParameters | undefined {
  if (name === 'cancun') return CANCUN_BLOB
  return name === 'prague' ? PRAGUE_BLOB : undefined
}

function readBlob(entry: JsonFields | undefined): BlobParameters | undefined {
  if (entry === undefined) return undefined
  const target = requireQuantity(entry, 'target')
  const max = requireQuantity(entry, 'max')
  // 64 bits, as the fraction is the one number here that no blob count bounds.
  const baseFeeUpdateFraction = requireQuantity(entry, 'baseFeeUpdateFraction', 64)
  if (max === 0n) throw fieldFault(entry.pathOf('max'), 'at least 1', '0')
  if (target > max) throw fieldFault(entry.pathOf('target'), `at most max (${max})`, String(target))
  if (baseFeeUpdateFraction === 0n)
    throw fieldFault(entry.pathOf('baseFeeUpdateFraction'), 'at least 1', '0')
  return { target: Number(target), max: Number(max), baseFeeUpdateFraction }
}

function requireQuantity(entry: JsonFields, key: string, bits = BLOB_COUNT_BITS): bigint {
  const value = entry.quantity(key, bits)
  if (value === undefined) throw fieldFault(entry.pathOf(key), 'an integer', 'none')
  return value
}
