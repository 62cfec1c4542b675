/**
 * Logs of the transaction, one after the other: {u32 account, u32 topics, u32 data bytes, u32 0}, the topics as
 * 32 bytes each, the data, padded to 8 bytes. Read by the host when the transaction is over.
 */
import { allocate, regrow } from './heap'
import { J_LOG, recordNumber } from './journal'
import { writeBytes } from './word'

let base: usize = 0
let sizeClass: u32 = 0
let used: u32 = 0
/** Address of the newest log, for tracing. */
export let lastLog: usize = 0

export function initLogs(): void {
  sizeClass = 14
  base = allocate(sizeClass)
}

export function logsBase(): usize {
  return base
}

export function logsBytes(): u32 {
  return used
}

export function truncateLogs(bytes: u32): void {
  used = bytes
}

/** Appends a log; topics are words on the stack from `topTopic` downwards. */
export function appendLog(
  owner: u32,
  topicCount: u32,
  topTopic: usize,
  data: usize,
  size: u32,
): void {
  recordNumber(J_LOG, 0, u64(used))
  const bytes = 16 + topicCount * 32 + ((size + 7) & ~7)
  const needed = used + bytes
  while (needed > u32(1) << sizeClass) {
    base = regrow(base, sizeClass, used, 0)
    sizeClass++
  }
  const log = base + used
  store<u32>(log, owner)
  store<u32>(log, topicCount, 4)
  store<u32>(log, size, 8)
  store<u32>(log, 0, 12)
  for (let topic: u32 = 0; topic < topicCount; topic++) {
    writeBytes(topTopic - ((<usize>topic) << 5), log + 16 + ((<usize>topic) << 5))
  }
  memory.copy(log + 16 + ((<usize>topicCount) << 5), data, size)
  used = needed
  lastLog = log
}
