/** Parts that several kinds of tests share: accounts, and the limits of blobs. */
import { ADDRESS_BYTES, type BlobParameters, bytesAreZero } from '../../base/index.ts'
import type { GenesisAccount } from '../../chain/index.ts'
import {
  invalid,
  type JsonRecord,
  readBytes,
  readFixed,
  readObject,
  readUint,
  readWord,
} from './jsonValue.ts'

/** A state by address. Slots that are zero are left out. @throws VarveError TESTFILE_INVALID */
export function readAccounts(pre: JsonRecord, path: string): GenesisAccount[] {
  return Object.entries(pre).map(([key, value]) => {
    const place = `${path}.${key}`
    const account = readObject(value, place)
    const storage =
      account['storage'] === undefined ? {} : readObject(account['storage'], `${place}.storage`)
    return {
      address: readFixed(key, ADDRESS_BYTES, place),
      nonce: account['nonce'] === undefined ? 0n : readUint(account['nonce'], 64, `${place}.nonce`),
      balance: readUint(account['balance'], 256, `${place}.balance`),
      code: account['code'] === undefined ? EMPTY : readBytes(account['code'], `${place}.code`),
      storage: readStorage(storage, `${place}.storage`),
    }
  })
}

const EMPTY = new Uint8Array(0)

function readStorage(storage: JsonRecord, path: string): GenesisAccount['storage'] {
  const slots = Object.entries(storage).map(([key, value]) => ({
    slot: readWord(key, `${path}.${key}`),
    value: readWord(value, `${path}.${key}`),
  }))
  return slots.filter(({ value }) => !bytesAreZero(value))
}

/** Blob limits by network name in lower case; none where there is no schedule. @throws VarveError TESTFILE_INVALID */
export function readBlobSchedule(
  value: unknown,
  path: string,
): ReadonlyMap<string, BlobParameters> {
  const schedule = new Map<string, BlobParameters>()
  if (value === undefined) return schedule
  for (const [network, entry] of Object.entries(readObject(value, path))) {
    const fields = readObject(entry, `${path}.${network}`)
    const number = (key: string) => readUint(fields[key], 32, `${path}.${network}.${key}`)
    const baseFeeUpdateFraction = number('baseFeeUpdateFraction')
    if (baseFeeUpdateFraction === 0n)
      throw invalid(`${path}.${network}`, 'an update fraction above 0', '0')
    schedule.set(network.toLowerCase(), {
      target: Number(number('target')),
      max: Number(number('max')),
      baseFeeUpdateFraction,
    })
  }
  return schedule
}
