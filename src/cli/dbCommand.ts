/** `varve db`: what is in a database, and whether it is whole. */

import { createHash } from 'node:crypto'
import { Command } from 'commander'
import { isVarveError, toHex, VarveError } from '../base/index.ts'
import {
  describeDifference,
  type JournalBacklog,
  readBacklog,
  verifyStore,
} from '../engine/index.ts'
import { type Store, TABLES } from '../store/index.ts'
import { parseFolder, parsePositive } from './arguments.ts'
import { journalFolder, withEngine, withStore } from './database.ts'
import { EXIT_FAILED, toJson } from './exit.ts'
import { Progress } from './progress.ts'

type DbFlags = { readonly db: string; readonly json?: boolean }

export function addDbCommand(program: Command): void {
  const db = new Command('db').description('look at a database')
  db.command('stats')
    .description('head, rows and bytes of every table, and what the journal has beyond them')
    .requiredOption('--db <dir>', 'database folder', parseFolder)
    .option('--digest', 'also a SHA-256 over all rows: equal contents have equal digests')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  varve db stats --db ./mainnet\n')
    .action((flags: DbFlags & { readonly digest?: boolean }) => printStats(flags))
  db.command('verify')
    .description(
      'check every row against the rest, and every record of the journal; names the first difference, exit 1 where there is one',
    )
    .requiredOption('--db <dir>', 'database folder', parseFolder)
    .option('--most <count>', 'differences to name before stopping', parsePositive, 1)
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  varve db verify --db ./mainnet\n')
    .action((flags: DbFlags & { readonly most: number }) => runVerify(flags))
  program.addCommand(db)
}

function printStats(flags: DbFlags & { readonly digest?: boolean }): Promise<void> {
  return withEngine(flags.db, (engine) => {
    const { header } = engine.head
    const head = {
      number: header.number,
      hash: toHex(header.hash),
      stateRoot: toHex(header.stateRoot),
    }
    withStore(flags.db, (store) => {
      const tables = store.tableStats()
      const bytes = tables.reduce((sum, table) => sum + table.bytes, 0)
      const digest = flags.digest === true ? digestOf(store) : undefined
      const journal = readBacklog(journalFolder(flags.db), store, 'newest')
      if (flags.json === true) {
        console.log(
          toJson({
            chain: engine.spec.name,
            chainId: engine.spec.chainId,
            head,
            kept: engine.kept,
            tables,
            bytes,
            digest,
            journal: journalJson(journal),
          }),
        )
        return
      }
      console.log(`chain ${engine.spec.name} (id ${engine.spec.chainId})`)
      console.log(`head  block ${head.number} ${head.hash}\nroot  ${head.stateRoot}`)
      const { oldest, newest, sideCount } = engine.kept
      console.log(`kept  states of blocks ${oldest} to ${newest}, ${sideCount} side blocks`)
      console.log(`      ${describeBacklog(journal)}\n`)
      console.log(`${'table'.padEnd(14)}${'rows'.padStart(12)}${'bytes'.padStart(16)}`)
      for (const { table, entryCount, bytes: size } of tables)
        console.log(
          `${table.padEnd(14)}${entryCount.toLocaleString('en').padStart(12)}${size.toLocaleString('en').padStart(16)}`,
        )
      console.log(`${'all'.padEnd(26)}${bytes.toLocaleString('en').padStart(16)}`)
      if (digest !== undefined) console.log(`\nsha256 of all rows ${digest}`)
    })
  })
}

/** SHA-256 over every row, in the order of tables and keys, with lengths between, so that no two contents collide. */
function digestOf(store: Store): string {
  const hash = createHash('sha256')
  const lengths = new Uint32Array(2)
  for (const table of TABLES) {
    hash.update(`${table}\n`)
    for (const { key, value } of store.range(table)) {
      lengths[0] = key.length
      lengths[1] = value.length
      hash.update(lengths).update(key).update(value)
    }
  }
  return hash.digest('hex')
}

function journalJson({ newest, ...counts }: JournalBacklog) {
  const block = newest === undefined ? null : { number: newest.number, hash: toHex(newest.hash) }
  return { ...counts, newest: block }
}

function describeBacklog({ beyondCount, newest, recordCount, byteCount }: JournalBacklog): string {
  if (recordCount === 0) return 'journal: empty'
  const has = `journal: ${recordCount} records, ${byteCount.toLocaleString('en')} bytes`
  if (beyondCount === 0) return `${has}, all of them in the database`
  const to = newest === undefined ? '' : ` up to block ${newest.number} ${toHex(newest.hash)}`
  return `${has}, ${beyondCount} beyond the database${to}: the next import takes them in`
}

/** The journal's part of a verification: what is wrong with it, or what it has. */
function verifyJournal(folder: string, store: Store): JournalBacklog | VarveError {
  try {
    return readBacklog(journalFolder(folder), store, 'all')
  } catch (error) {
    if (isVarveError(error)) return error
    throw error
  }
}

function runVerify(flags: DbFlags & { readonly most: number }): void {
  withStore(flags.db, (store) => {
    const progress = { blockCount: 0, accountCount: 0, slotCount: 0, nodeCount: 0 }
    const rowCount = store.tableStats().reduce((sum, { entryCount }) => sum + entryCount, 0)
    const bar = new Progress('verifying', 'rows', flags.json !== true)
    const found = []
    // A block has four rows, an account and a slot one each beside their nodes.
    const onProgress = () => {
      const { blockCount, accountCount, slotCount, nodeCount } = progress
      bar.update(4 * blockCount + accountCount + slotCount + nodeCount, rowCount)
    }
    for (const difference of verifyStore(store, progress, onProgress)) {
      found.push(difference)
      if (found.length === flags.most) break
    }
    bar.stop()
    const { blockCount, accountCount, slotCount, nodeCount } = progress
    const journal = verifyJournal(flags.db, store)
    const fault = journal instanceof VarveError ? journal : undefined
    const ok = found.length === 0 && fault === undefined
    if (flags.json === true)
      console.log(
        toJson({
          ok,
          differences: found,
          journal:
            journal instanceof VarveError
              ? { error: { code: journal.code, message: journal.message, data: journal.data } }
              : journalJson(journal),
          checked: {
            blocks: blockCount,
            accounts: accountCount,
            slots: slotCount,
            nodes: nodeCount,
          },
        }),
      )
    else {
      for (const difference of found) console.log(`difference: ${describeDifference(difference)}`)
      if (found.length === 0)
        console.log(
          `fine: ${blockCount} blocks, ${accountCount} accounts, ${slotCount} slots, ${nodeCount} trie nodes, all consistent`,
        )
      console.log(
        journal instanceof VarveError
          ? `difference: ${journal.message} [${journal.code}]`
          : describeBacklog(journal),
      )
    }
    if (!ok) process.exitCode = EXIT_FAILED
  })
}
