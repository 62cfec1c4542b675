/**
 * The right to write to a database folder: one process at a time, recorded in `writer.lock`.
 *
 * ```
 *  writer.lock    {"pid":4711,"startedAt":"<boot id>/<clock ticks>"}
 * ```
 * A lock counts while its process lives. After `kill -9` or a power cut it is stale and the next writer takes it over:
 * the process is gone, is a zombie, or the number now belongs to a process that started at another time. Where the
 * system tells no start times (no /proc), a live process of that number counts as the owner.
 *
 * Two processes that find a stale lock at once must not both take it: `acquire` runs inside `exclusively`, for LMDB a
 * write transaction that changes nothing, which one process at a time can be in.
 *
 * Limit: processes that can not see each other, as in two containers sharing a folder, take each other for dead.
 */
import { readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VarveError } from '../base/index.ts'
import type { StoreErrorCode } from './store.ts'

const LOCK_NAME = 'writer.lock'

type LockOwner = { readonly pid: number; readonly startedAt: string | undefined }

/** @throws VarveError STORE_LOCKED where a live process holds the folder. Changes nothing. */
export function checkWriterLock(folder: string): void {
  const owner = readOwner(folder)
  if (owner === undefined || !isAlive(owner)) return
  const holder = owner.pid === process.pid ? 'this process' : `process ${owner.pid}`
  throw new VarveError<StoreErrorCode>(
    'STORE_LOCKED',
    `database ${folder}: expected to be the only writer, but ${holder} has it open for writing`,
    { folder, pid: owner.pid },
  )
}

/**
 * Takes the lock, also over a stale one. Returns the function that gives it back.
 * @param exclusively runs its argument while no other process runs one for the same folder
 * @throws VarveError STORE_LOCKED
 */
export function acquireWriterLock(
  folder: string,
  exclusively: (work: () => void) => void,
): () => void {
  const path = join(folder, LOCK_NAME)
  exclusively(() => {
    checkWriterLock(folder)
    const owner: LockOwner = { pid: process.pid, startedAt: startOf(process.pid)?.startedAt }
    // Renamed into place, so that nobody reads half a lock.
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, `${JSON.stringify(owner)}\n`)
    renameSync(draft, path)
  })
  return () => {
    // Nobody takes the lock of a live process, so what lies there is ours, or was removed by hand.
    try {
      unlinkSync(path)
    } catch {}
  }
}

function readOwner(folder: string): LockOwner | undefined {
  try {
    const owner = JSON.parse(readFileSync(join(folder, LOCK_NAME), 'utf8')) as Partial<LockOwner>
    if (!Number.isSafeInteger(owner.pid) || owner.pid! <= 0) return undefined
    return { pid: owner.pid!, startedAt: owner.startedAt }
  } catch {
    // Absent, or torn by a power cut: nobody's.
    return undefined
  }
}

function isAlive(owner: LockOwner): boolean {
  const now = startOf(owner.pid)
  if (now !== undefined) {
    if (now.isGone) return false
    return owner.startedAt === undefined || owner.startedAt === now.startedAt
  }
  try {
    process.kill(owner.pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** What /proc says of a process: `undefined` where there is no /proc. */
function startOf(pid: number): { isGone: boolean; startedAt: string | undefined } | undefined {
  let bootId: string
  try {
    bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    readFileSync('/proc/self/stat')
  } catch {
    return undefined
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Fields after the command name, which may itself hold spaces and brackets: state is the 1st, start time the 20th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { isGone: /[ZXx]/.test(fields[0]!), startedAt: `${bootId}/${fields[19]}` }
  } catch {
    return { isGone: true, startedAt: undefined }
  }
}
