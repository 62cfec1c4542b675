import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLmdbStore } from './lmdbStore.ts'
import { storeSuite } from './store.suite.ts'
import type { Store } from './store.ts'

for (const sync of ['os', 'always'] as const) {
  const folder = mkdtempSync(join(tmpdir(), 'varve-lmdb-'))
  const folders = new WeakMap<Store, string>()
  let count = 0
  const openIn = (path: string): Store => {
    const store = openLmdbStore(path, { sync })
    folders.set(store, path)
    return store
  }
  storeSuite(`lmdb, sync ${sync}`, {
    create: () => openIn(join(folder, `db.${count++}`)),
    reopen: (store) => {
      store.close()
      return openIn(folders.get(store)!)
    },
    cleanUp: () => rmSync(folder, { recursive: true }),
  })
}
