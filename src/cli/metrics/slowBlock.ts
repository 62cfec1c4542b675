/**
 * The record of a block that took long: one line of JSON. What other clients tell of a slow block has their names
 * (geth's, which reth, Besu and Nethermind share); beside it stands which accounts and slots cost most. Of each list the
 * rows shown, and `rest`, add up to `total`.
 */
import { toHex } from '../../base/index.ts'
import type { BlockCosts, BlockReport, Cost, KeyCost } from '../../engine/index.ts'

/** Rows of a ranking. */
const RANK_COUNT = 10

/** The record as an object. Cost: one more execution of the block. */
export function slowBlockRecord(report: BlockReport): Record<string, unknown> {
  const { block, phases, acceptMs, totalMs, latencyMs, reads, writes, trie } = report
  const { number, hash, gasUsed } = block.header
  const readMs = reads.accountMs + reads.slotMs + reads.codeMs
  const { validate, senders, execute, root, journal, write } = phases
  return {
    level: 'warn',
    msg: 'Slow block',
    block: {
      number,
      hash: toHex(hash),
      gas_used: Number(gasUsed),
      tx_count: block.transactions.length,
    },
    timing: {
      execution_ms: rounded(Math.max(0, execute - readMs)),
      state_read_ms: rounded(readMs),
      state_hash_ms: rounded(root),
      commit_ms: rounded(acceptMs + journal),
      total_ms: rounded(totalMs),
      // Ours from here on.
      validation_ms: rounded(validate),
      senders_ms: rounded(senders),
      journal_ms: rounded(journal),
      store_write_ms: rounded(write),
      latency_ms: rounded(latencyMs),
    },
    throughput: { mgas_per_sec: totalMs === 0 ? 0 : rounded(Number(gasUsed) / 1000 / totalMs) },
    state_reads: {
      accounts: reads.accounts,
      storage_slots: reads.slots,
      code: reads.codes,
      code_bytes: reads.codeBytes,
    },
    state_writes: {
      accounts: writes.accounts,
      accounts_deleted: writes.accountsDeleted,
      storage_slots: writes.slots,
      storage_slots_deleted: writes.slotsDeleted,
      code: writes.codes,
      code_bytes: writes.codeBytes,
    },
    cache: {
      account: cacheOf(reads.accounts, reads.misses.accounts),
      storage: cacheOf(reads.slots, reads.misses.slots),
      code: {
        ...cacheOf(reads.codes, reads.misses.codes),
        hit_bytes: Math.max(0, reads.codeBytes - reads.misses.codeBytes),
        miss_bytes: reads.misses.codeBytes,
      },
    },
    trie: {
      account_nodes_read: trie.nodesRead.account,
      storage_nodes_read: trie.nodesRead.storage,
      account_nodes_written: trie.nodesMade.account,
      storage_nodes_written: trie.nodesMade.storage,
      node_bytes_read: trie.nodeBytesRead,
      node_read_ms: rounded(trie.nodeReadMs),
    },
    costs: ranking(report.costs()),
  }
}

/** As geth counts: the rate in percent. */
function cacheOf(readCount: number, misses: number) {
  const hits = Math.max(0, readCount - misses)
  const rate = hits + misses === 0 ? 0 : (100 * hits) / (hits + misses)
  return { hits, misses, hit_rate: rounded(rate) }
}

function ranking({
  total,
  accounts,
  slots,
  others,
  isReplayed,
}: BlockCosts): Record<string, unknown> {
  const rest = [others, ...accounts.slice(RANK_COUNT)].reduce(sumOf)
  return {
    is_replayed: isReplayed,
    total: figures(total),
    accounts: accounts.slice(0, RANK_COUNT).map((row) => ({ ...nameOf(row), ...figures(row) })),
    rest: figures(rest),
    slots: slots.slice(0, RANK_COUNT).map((row) => ({ ...nameOf(row), ...figures(row) })),
  }
}

/** Who it is: by address and slot, where they are known, else by their hashes. */
function nameOf({ address, addressHash, slot, slotHash }: KeyCost): Record<string, string> {
  return {
    ...(address === undefined ? { address_hash: toHex(addressHash) } : { address: toHex(address) }),
    ...(slot !== undefined
      ? { slot: toHex(slot) }
      : slotHash !== undefined
        ? { slot_hash: toHex(slotHash) }
        : {}),
  }
}

function figures(cost: Cost): Record<string, number> {
  return {
    ms: rounded(cost.ms),
    read_ms: rounded(cost.readMs),
    reads: cost.reads,
    writes: cost.writes,
    nodes_read: cost.nodesRead,
    nodes_written: cost.nodesMade,
    gas: Number(cost.gas),
    operations: cost.operations,
  }
}

/** Three places are microseconds. */
function rounded(value: number): number {
  return Math.round(1000 * value) / 1000
}

function sumOf(a: Cost, b: Cost): Cost {
  return {
    ms: a.ms + b.ms,
    readMs: a.readMs + b.readMs,
    reads: a.reads + b.reads,
    writes: a.writes + b.writes,
    nodesRead: a.nodesRead + b.nodesRead,
    nodesMade: a.nodesMade + b.nodesMade,
    gas: a.gas + b.gas,
    operations: a.operations + b.operations,
  }
}
