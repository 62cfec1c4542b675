export {
  BlockJournal,
  type BlockJournalOptions,
  inspectJournal,
  type JournalStats,
  openBlockJournal,
  readJournal,
} from './journal/blockJournal.ts'
export type { JournalSync } from './journal/durability.ts'
export type { JournalErrorCode } from './journal/faults.ts'
export type { JournalRecord } from './journal/scan.ts'
export { dataFile } from './lmdbFile.ts'
export { type LmdbStoreOptions, openLmdbStore, openSharedStore } from './lmdbStore.ts'
export { memoryStore } from './memoryStore.ts'
export {
  KEY_BYTES_MAX,
  type RangeBounds,
  type SharedStore,
  type Store,
  type StoreEntry,
  type StoreErrorCode,
  type TableStats,
  VALUE_BYTES_MAX,
} from './store.ts'
export {
  accountNodeKey,
  BLOCK_KEY_BYTES,
  BLOCK_NUMBER_BYTES,
  blockKey,
  keysBelow,
  META,
  metaKey,
  numberKey,
  prefixEnd,
  SCHEMA_VERSION,
  storageKey,
  storageNodeKey,
  TABLES,
  type Table,
} from './tables.ts'
export { BATCH_BYTES_MAX, type KeySpan, type PackedBatch, WriteBatch } from './writeBatch.ts'
