/**
 * Every metric that is exported, once: its name, its kind and what it says. Where geth has one for the same thing, the
 * name is geth's, its slashes as underscores, and so is the unit: nanoseconds for what geth times. All others begin with
 * `varve_` and are in seconds and bytes. `docs/METRICS.md` is made from this list and held against it.
 *
 * Not here: what prom-client tells of the process and its garbage collection (`nodejs_*`, `process_*`).
 */

/**
 * - `timer`: quantiles 0.50, 0.95 and 0.99 of the newest values, their `_sum` and `_count`
 * - `counter`: goes up; geth calls it a meter
 * - `gauge`: read when somebody asks
 * - `histogram`: buckets in seconds
 */
export type MetricKind = 'timer' | 'counter' | 'gauge' | 'histogram'

export type MetricEntry = {
  readonly name: string
  readonly kind: MetricKind
  readonly help: string
  readonly labels?: readonly string[]
}

const NS = 'nanoseconds'

/** Names that geth has. */
export const GETH_METRICS = [
  { name: 'chain_head_block', kind: 'gauge', help: 'number of the head' },
  {
    name: 'chain_head_header',
    kind: 'gauge',
    help: 'the same: headers do not run ahead of blocks',
  },
  { name: 'chain_inserts', kind: 'timer', help: `all work on a block, on all threads, ${NS}` },
  { name: 'chain_execution', kind: 'timer', help: `execution of a block but its reads, ${NS}` },
  { name: 'chain_validation', kind: 'timer', help: `header, body and outcome of a block, ${NS}` },
  {
    name: 'chain_write',
    kind: 'timer',
    help: `a write, of many blocks: nodes and transaction, ${NS}`,
  },
  { name: 'chain_triedb_commits', kind: 'timer', help: `a write's transaction alone, ${NS}` },
  { name: 'chain_mgasps', kind: 'timer', help: 'million gas a second of work on a block' },
  { name: 'chain_account_reads', kind: 'timer', help: `reads of accounts in a block, ${NS}` },
  { name: 'chain_account_single_reads', kind: 'timer', help: `one of them, on average, ${NS}` },
  { name: 'chain_account_updates', kind: 'timer', help: `account trie changed by a block, ${NS}` },
  { name: 'chain_account_hashes', kind: 'timer', help: `account trie hashed after a block, ${NS}` },
  {
    name: 'chain_account_commits',
    kind: 'timer',
    help: `nodes of the account trie collected for a write, ${NS}`,
  },
  { name: 'chain_storage_reads', kind: 'timer', help: `reads of slots in a block, ${NS}` },
  { name: 'chain_storage_single_reads', kind: 'timer', help: `one of them, on average, ${NS}` },
  {
    name: 'chain_storage_updates',
    kind: 'timer',
    help: `storage tries changed and hashed for a block, ${NS}`,
  },
  {
    name: 'chain_storage_commits',
    kind: 'timer',
    help: `nodes of storage tries collected for a write, ${NS}`,
  },
  {
    name: 'chain_account_reads_cache_process_hit',
    kind: 'counter',
    help: 'reads of accounts that layers or the cache answered',
  },
  {
    name: 'chain_account_reads_cache_process_miss',
    kind: 'counter',
    help: 'reads of accounts that went to the store',
  },
  {
    name: 'chain_storage_reads_cache_process_hit',
    kind: 'counter',
    help: 'reads of slots that layers or the cache answered',
  },
  {
    name: 'chain_storage_reads_cache_process_miss',
    kind: 'counter',
    help: 'reads of slots that went to the store',
  },
  {
    name: 'chain_reorg_executes',
    kind: 'counter',
    help: 'times that the head moved to another branch',
  },
  { name: 'chain_reorg_add', kind: 'counter', help: 'blocks that joined the chain by that' },
  { name: 'chain_reorg_drop', kind: 'counter', help: 'blocks that left it' },
  { name: 'state_read_account', kind: 'counter', help: 'accounts that blocks read' },
  { name: 'state_read_storage', kind: 'counter', help: 'slots that blocks read' },
  { name: 'state_update_account', kind: 'counter', help: 'accounts that blocks set' },
  { name: 'state_update_storage', kind: 'counter', help: 'slots that blocks set' },
  { name: 'state_delete_account', kind: 'counter', help: 'accounts that blocks ended' },
  { name: 'state_delete_storage', kind: 'counter', help: 'slots that blocks set to zero' },
  {
    name: 'state_update_accountnodes',
    kind: 'counter',
    help: 'nodes of the account trie that writes changed',
  },
  {
    name: 'state_update_storagenodes',
    kind: 'counter',
    help: 'nodes of storage tries that writes changed',
  },
  {
    name: 'state_delete_accountnodes',
    kind: 'counter',
    help: 'nodes of the account trie that writes took away',
  },
  {
    name: 'state_delete_storagenodes',
    kind: 'counter',
    help: 'nodes of storage tries that writes took away',
  },
  { name: 'pathdb_commit_nodes', kind: 'counter', help: 'trie nodes in writes' },
  { name: 'pathdb_commit_bytes', kind: 'counter', help: 'bytes of keys and values in writes' },
] as const satisfies readonly MetricEntry[]

/** Names of our own. */
export const OWN_METRICS = [
  {
    name: 'varve_blocks_total',
    kind: 'counter',
    help: 'accepted blocks, by what became of them',
    labels: ['status'],
  },
  { name: 'varve_transactions_total', kind: 'counter', help: 'transactions of accepted blocks' },
  { name: 'varve_gas_total', kind: 'counter', help: 'gas of accepted blocks' },
  {
    name: 'varve_slow_blocks_total',
    kind: 'counter',
    help: 'blocks over --slow-block; 0 without it',
  },
  {
    name: 'varve_block_latency_seconds',
    kind: 'histogram',
    help: 'from the start of a check to acceptance, with waits for other blocks',
  },
  {
    name: 'varve_phase_seconds_total',
    kind: 'counter',
    help: 'time by phase, on whatever thread',
    labels: ['phase'],
  },
  { name: 'varve_code_reads_total', kind: 'counter', help: 'codes that blocks read' },
  { name: 'varve_code_read_bytes_total', kind: 'counter', help: 'bytes of these codes' },
  { name: 'varve_code_misses_total', kind: 'counter', help: 'codes that were read from the store' },
  {
    name: 'varve_trie_nodes_read_total',
    kind: 'counter',
    help: 'trie nodes that roots read from the store',
    labels: ['trie'],
  },
  { name: 'varve_trie_node_read_bytes_total', kind: 'counter', help: 'bytes of these nodes' },
  { name: 'varve_trie_node_read_seconds_total', kind: 'counter', help: 'time of these reads' },
  { name: 'varve_store_write_seconds', kind: 'histogram', help: 'a transaction of the store' },
  { name: 'varve_store_write_blocks_total', kind: 'counter', help: 'blocks in these transactions' },
  { name: 'varve_memory_bytes', kind: 'gauge', help: 'memory of states in use', labels: ['part'] },
  {
    name: 'varve_memory_limit_bytes',
    kind: 'gauge',
    help: 'how much each part may take; nodes come down to it with a write',
    labels: ['part'],
  },
  { name: 'varve_layers', kind: 'gauge', help: 'layers of states over the store' },
  { name: 'varve_branches', kind: 'gauge', help: 'branches that a user holds' },
  {
    name: 'varve_kept_states',
    kind: 'gauge',
    help: 'blocks whose states are kept',
    labels: ['place'],
  },
  { name: 'varve_waiting_blocks', kind: 'gauge', help: 'blocks that wait for a write' },
  { name: 'varve_waiting_bytes', kind: 'gauge', help: 'bytes of their rows' },
  {
    name: 'varve_pipeline_rootless_blocks',
    kind: 'gauge',
    help: 'executed blocks that wait for their roots',
  },
  {
    name: 'varve_pipeline_rootless_blocks_limit',
    kind: 'gauge',
    help: 'how many may; 0 without a pipeline',
  },
  { name: 'varve_pipeline_writing', kind: 'gauge', help: '1 while a write runs behind the blocks' },
  {
    name: 'varve_pipeline_block',
    kind: 'gauge',
    help: 'number of the newest block that a step is done with',
    labels: ['step'],
  },
  { name: 'varve_journal_bytes', kind: 'gauge', help: 'size of the journal' },
  { name: 'varve_journal_records', kind: 'gauge', help: 'number of its newest record' },
  { name: 'varve_journal_lag_records', kind: 'gauge', help: 'records that are not durable yet' },
] as const satisfies readonly MetricEntry[]

export const METRICS: readonly MetricEntry[] = [...GETH_METRICS, ...OWN_METRICS]

type Entry = (typeof GETH_METRICS)[number] | (typeof OWN_METRICS)[number]

/** Names of the metrics of one kind. */
export type MetricName<Kind extends MetricKind> = Extract<Entry, { readonly kind: Kind }>['name']

/** The lists as tables of `docs/METRICS.md`. */
export function metricTables(): string {
  const table = (entries: readonly MetricEntry[]): string =>
    [
      '| name | kind | what |\n|---|---|---|',
      ...entries.map(({ name, kind, help, labels = [] }) => {
        const label = labels.length === 0 ? '' : `{${labels.join(', ')}}`
        return `| \`${name}${label}\` | ${kind} | ${help} |`
      }),
    ].join('\n')
  return `## Names that geth has\n\n${table(GETH_METRICS)}\n\n## Names of our own\n\n${table(OWN_METRICS)}\n`
}
