/**
 * Names that published tests and tools give to networks: a fork's name, old or new, a step of the blob schedule, or a
 * change from one to the next.
 *
 *     Cancun   EIP150   BPO2   FrontierToHomesteadAt5   ParisToShanghaiAtTime15k   HomesteadToDaoAt5
 *     ArrowGlacierToParisAtDiffC0000 (a total difficulty, hexadecimal)
 */
import {
  type BlobParameters,
  type BlobStep,
  FORK_NAMES,
  Fork,
  type ForkSchedule,
  type ForkStep,
} from '../base/index.ts'
import { mainnet } from './networks.ts'
import {
  type BlockRules,
  BPO1_BLOB,
  BPO2_BLOB,
  CANCUN_BLOB,
  type ChainSpec,
  PRAGUE_BLOB,
} from './spec.ts'

const OTHER_NAMES: Readonly<Record<string, Fork>> = {
  eip150: Fork.TangerineWhistle,
  eip158: Fork.SpuriousDragon,
  constantinoplefix: Fork.Petersburg,
  merge: Fork.Paris,
}
/** Steps of the blob schedule after Osaka; the later ones have no limits but those a test brings along. */
const BLOB_STEP = /^bpo[1-9]$/
const NAMED_BLOBS: Readonly<Record<string, BlobParameters>> = { bpo1: BPO1_BLOB, bpo2: BPO2_BLOB }

const TRANSITION = /^(\w+?)To(\w+?)At(Time|Diff)?([0-9a-f]{1,13})(k?)$/i

/** Blob limits by network name in lower case, as a test may bring them along. */
export type BlobsByNetwork = ReadonlyMap<string, BlobParameters>

/** The rules that the name of one fork stands for, or `undefined` where this version does not know it. */
export function networkRules(name: string, schedule: BlobsByNetwork): BlockRules | undefined {
  const key = name.toLowerCase()
  const fork = forkOf(key)
  if (fork === undefined) return undefined
  if (fork < Fork.Cancun) return { fork, blob: undefined }
  const named = Object.hasOwn(NAMED_BLOBS, key) ? NAMED_BLOBS[key] : undefined
  const usual = BLOB_STEP.test(key) ? undefined : usualBlob(fork)
  const blob = schedule.get(key) ?? named ?? usual
  return blob === undefined ? undefined : { fork, blob }
}

/** Blob limits that came with a fork, or were in force before it. */
function usualBlob(fork: Fork): BlobParameters {
  if (fork >= Fork.Amsterdam) return BPO2_BLOB
  return fork >= Fork.Prague ? PRAGUE_BLOB : CANCUN_BLOB
}

/**
 * The chain that a name stands for, or `undefined` where this version does not know it. Deposits come from mainnet's
 * contract.
 */
export function networkSpec(
  name: string,
  schedule: BlobsByNetwork,
  chainId: bigint,
): ChainSpec | undefined {
  const forks = scheduleOf(name, schedule)
  if (forks === undefined) return undefined
  const { depositContract } = mainnet
  return { name, chainId, depositContract, schedule: { chainId, ...forks } }
}

function scheduleOf(
  name: string,
  schedule: BlobsByNetwork,
): Omit<ForkSchedule, 'chainId'> | undefined {
  const matched = TRANSITION.exec(name)
  if (matched === null) return stepsOf([[name, 0]], schedule)
  const [, from = '', to = '', kind = '', digits = '', thousands] = matched
  const first = stepsOf([[from, 0]], schedule)
  if (kind.toLowerCase() === 'diff')
    return first && { ...first, terminalTotalDifficulty: BigInt(`0x${digits}`) }
  if (!/^\d+$/.test(digits)) return undefined
  const at = Number(digits) * (thousands === '' ? 1 : 1000)
  if (to.toLowerCase() === 'dao') return first && { ...first, dao: { block: at, support: true } }
  return stepsOf(
    [
      [from, 0],
      [to, at],
    ],
    schedule,
  )
}

/** Forks that begin at a block, or at a time, whichever is theirs. */
function stepsOf(
  steps: readonly (readonly [name: string, at: number])[],
  schedule: BlobsByNetwork,
): Omit<ForkSchedule, 'chainId'> | undefined {
  const byBlock: ForkStep[] = []
  const byTime: ForkStep[] = []
  const blobs: BlobStep[] = []
  for (const [name, at] of steps) {
    const rules = networkRules(name, schedule)
    if (rules === undefined) return undefined
    const { fork, blob } = rules
    if (fork <= Fork.Paris) byBlock.push({ fork, at })
    else byTime.push({ fork, at })
    if (blob !== undefined) blobs.push({ name, at, blob })
  }
  if (byBlock.length === 0) byBlock.push({ fork: Fork.Paris, at: 0 })
  return { byBlock, byTime, blobs }
}

function forkOf(key: string): Fork | undefined {
  if (Object.hasOwn(OTHER_NAMES, key)) return OTHER_NAMES[key]
  if (BLOB_STEP.test(key)) return Fork.Osaka
  const rank = FORK_NAMES.findIndex((known) => known.toLowerCase() === key)
  return rank < 0 ? undefined : (rank as Fork)
}
