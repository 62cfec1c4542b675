// EthereumJS as the comparisons run it: as it comes, and in the best configuration found.
//
// - as it comes: hex text in an in-memory map, keccak of @noble/hashes, no caches.
// - best: what its own client uses: bytes in place of text, keccak in WebAssembly (@polkadot/wasm-crypto), a node cache.
import { MapDB, ValueEncoding } from '@ethereumjs/util'
import { keccak256, waitReady } from '@polkadot/wasm-crypto'
import { open } from 'lmdb'

await waitReady()
export const wasmCrypto = { keccak256 }

/** Options of a trie; `database` only where it is not the map of the package. */
export function trieOptions(configuration, database = new MapDB()) {
  if (configuration === 'asItComes' && database instanceof MapDB) return { db: database }
  return {
    db: database,
    valueEncoding: ValueEncoding.Bytes,
    ...(configuration === 'best'
      ? { common: { customCrypto: wasmCrypto }, cacheSize: 200_000 }
      : {}),
  }
}

/** LMDB behind the interface of EthereumJS, which has no such adapter itself. A batch is one durable transaction. */
export class LmdbAdapter {
  constructor(path) {
    this.database =
      typeof path === 'string'
        ? open({ path, noSubdir: false, encoding: 'binary', keyEncoding: 'binary' })
        : path
  }
  async get(key) {
    const value = this.database.getBinary(Buffer.from(key, 'hex'))
    return value === undefined ? undefined : new Uint8Array(value)
  }
  async put(key, value) {
    this.database.putSync(Buffer.from(key, 'hex'), value)
  }
  async del(key) {
    this.database.removeSync(Buffer.from(key, 'hex'))
  }
  async batch(operations) {
    this.database.transactionSync(() => {
      for (const { type, key, value } of operations) {
        const bytes = Buffer.from(key, 'hex')
        if (type === 'put') this.database.put(bytes, value)
        else this.database.remove(bytes)
      }
    })
  }
  shallowCopy() {
    return new LmdbAdapter(this.database)
  }
  async open() {}
  async close() {
    await this.database.close()
  }
}
