/** Names that the published tests give to forks, and the rules of one. */
import { type BlobParameters, FORK_NAMES, Fork } from '../../base/index.ts'
import {
  type BlockRules,
  BPO1_BLOB,
  BPO2_BLOB,
  CANCUN_BLOB,
  PRAGUE_BLOB,
} from '../../chain/index.ts'

/** Newest fork that blocks are executed under. */
const FORK_MAX = Fork.Osaka

const OTHER_NAMES: Readonly<Record<string, Fork>> = {
  eip150: Fork.TangerineWhistle,
  eip158: Fork.SpuriousDragon,
  constantinoplefix: Fork.Petersburg,
  merge: Fork.Paris,
  bpo1: Fork.Osaka,
  bpo2: Fork.Osaka,
}

const NAMED_BLOBS: Readonly<Record<string, BlobParameters>> = { bpo1: BPO1_BLOB, bpo2: BPO2_BLOB }

/**
 * The rules that a network's name stands for, or `undefined` where this version does not know it.
 * @param schedule blob limits by network name, in lower case, as a test may bring them along
 */
export function networkRules(
  name: string,
  schedule: ReadonlyMap<string, BlobParameters>,
): BlockRules | undefined {
  const key = name.toLowerCase()
  const rank = FORK_NAMES.findIndex((known) => known.toLowerCase() === key)
  const fork = Object.hasOwn(OTHER_NAMES, key) ? OTHER_NAMES[key] : (rank as Fork)
  if (fork === undefined || fork < 0 || fork > FORK_MAX) return undefined
  if (fork < Fork.Cancun) return { fork, blob: undefined }
  const named = Object.hasOwn(NAMED_BLOBS, key) ? NAMED_BLOBS[key] : undefined
  const usual = fork >= Fork.Prague ? PRAGUE_BLOB : CANCUN_BLOB
  return { fork, blob: schedule.get(key) ?? named ?? usual }
}
