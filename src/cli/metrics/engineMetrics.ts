/** Makes metrics of what an engine tells and is asked: an observer on the one side, a Prometheus registry on the other. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { BlockReport, Engine, EngineObserver, WriteReport } from '../../engine/index.ts'
import { METRICS, type MetricEntry, type MetricName } from './catalogue.ts'
import { GethTimer } from './gethTimer.ts'

/** Seconds; blocks take from a tenth of a millisecond to seconds. */
const BUCKETS = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30]
const NS_IN_MS = 1e6

export class EngineMetrics implements EngineObserver {
  readonly registry = new Registry()
  private readonly timers = new Map<string, GethTimer>()
  private readonly counters = new Map<string, Counter>()
  private readonly gauges = new Map<string, Gauge>()
  private readonly histograms = new Map<string, Histogram>()
  private engine: Engine | undefined
  /** Seconds by phase that the counters have. */
  private readonly phasesTold: Record<string, number> = {}

  constructor() {
    for (const entry of METRICS) this.make(entry)
    collectDefaultMetrics({ register: this.registry })
  }

  /** Tells which engine is to be asked. Until then gauges are 0. */
  attach(engine: Engine): void {
    this.engine = engine
  }

  /** All metrics in Prometheus' text format. */
  async text(): Promise<string> {
    this.ask()
    return await this.registry.metrics()
  }

  noteSlowBlock(): void {
    this.count('varve_slow_blocks_total', 1)
  }

  onBlock(report: BlockReport): void {
    const { block, status, droppedCount, addedCount, totalMs, latencyMs, phases } = report
    const { header, transactions } = block
    const readMs = report.reads.accountMs + report.reads.slotMs + report.reads.codeMs
    this.time('chain_inserts', totalMs)
    this.time('chain_execution', Math.max(0, phases.execute - readMs))
    this.time('chain_validation', phases.validate)
    if (totalMs > 0) this.timer('chain_mgasps').add(Number(header.gasUsed) / 1000 / totalMs)
    this.counter('varve_blocks_total').inc({ status }, 1)
    this.count('varve_transactions_total', transactions.length)
    this.count('varve_gas_total', Number(header.gasUsed))
    this.histogram('varve_block_latency_seconds').observe(latencyMs / 1000)
    if (status === 'reorg') {
      this.count('chain_reorg_executes', 1)
      this.count('chain_reorg_add', addedCount)
      this.count('chain_reorg_drop', droppedCount)
    }
    this.noteReads(report)
    this.noteWrites(report)
    this.noteTries(report)
  }

  onWrite(report: WriteReport): void {
    const { blockCount, bytes, nodesWritten, nodesDeleted } = report
    const { accountCommitMs, storageCommitMs, storeMs } = report
    this.time('chain_account_commits', accountCommitMs)
    this.time('chain_storage_commits', storageCommitMs)
    this.time('chain_triedb_commits', storeMs)
    this.time('chain_write', accountCommitMs + storageCommitMs + storeMs)
    this.count('state_update_accountnodes', nodesWritten.account)
    this.count('state_update_storagenodes', nodesWritten.storage)
    this.count('state_delete_accountnodes', nodesDeleted.account)
    this.count('state_delete_storagenodes', nodesDeleted.storage)
    this.count('pathdb_commit_nodes', nodesWritten.account + nodesWritten.storage)
    this.count('pathdb_commit_bytes', bytes)
    this.histogram('varve_store_write_seconds').observe(storeMs / 1000)
    this.count('varve_store_write_blocks_total', blockCount)
  }

  private noteReads({ reads }: BlockReport): void {
    const { accounts, accountMs, slots, slotMs, codes, codeBytes, misses } = reads
    if (accounts > 0) {
      this.time('chain_account_reads', accountMs)
      this.time('chain_account_single_reads', accountMs / accounts)
    }
    if (slots > 0) {
      this.time('chain_storage_reads', slotMs)
      this.time('chain_storage_single_reads', slotMs / slots)
    }
    this.count('state_read_account', accounts)
    this.count('state_read_storage', slots)
    // A miss may be one of a look that is not counted as a read.
    this.count('chain_account_reads_cache_process_hit', Math.max(0, accounts - misses.accounts))
    this.count('chain_account_reads_cache_process_miss', misses.accounts)
    this.count('chain_storage_reads_cache_process_hit', Math.max(0, slots - misses.slots))
    this.count('chain_storage_reads_cache_process_miss', misses.slots)
    this.count('varve_code_reads_total', codes)
    this.count('varve_code_read_bytes_total', codeBytes)
    this.count('varve_code_misses_total', misses.codes)
  }

  private noteWrites({ writes }: BlockReport): void {
    this.count('state_update_account', writes.accounts)
    this.count('state_update_storage', writes.slots)
    this.count('state_delete_account', writes.accountsDeleted)
    this.count('state_delete_storage', writes.slotsDeleted)
  }

  private noteTries({ trie }: BlockReport): void {
    const { parts, nodesRead, nodeBytesRead, nodeReadMs } = trie
    this.time('chain_account_updates', parts.accountReads + parts.accountUpdates)
    this.time('chain_account_hashes', parts.accountHashes)
    this.time('chain_storage_updates', parts.storageUpdates)
    const nodes = this.counter('varve_trie_nodes_read_total')
    nodes.inc({ trie: 'account' }, nodesRead.account)
    nodes.inc({ trie: 'storage' }, nodesRead.storage)
    this.count('varve_trie_node_read_bytes_total', nodeBytesRead)
    this.count('varve_trie_node_read_seconds_total', nodeReadMs / 1000)
  }

  /** Asks the engine for what is read only when somebody looks. */
  private ask(): void {
    const { engine } = this
    if (engine === undefined) return
    const { status } = engine
    this.set('chain_head_block', status.headNumber)
    this.set('chain_head_header', status.headNumber)
    const memory = this.gauge('varve_memory_bytes')
    memory.set({ part: 'layers' }, status.layerBytes)
    memory.set({ part: 'branches' }, status.branches.bytes)
    memory.set({ part: 'nodes' }, status.nodeBytes)
    const limit = this.gauge('varve_memory_limit_bytes')
    limit.set({ part: 'layers' }, status.layerBytesMax)
    limit.set({ part: 'branches' }, status.branchBytesMax)
    limit.set({ part: 'nodes' }, status.nodeBytesMax)
    this.set('varve_layers', status.layerCount)
    this.set('varve_branches', status.branches.count)
    this.gauge('varve_kept_states').set({ place: 'canonical' }, status.keptCount)
    this.gauge('varve_kept_states').set({ place: 'side' }, status.sideCount)
    this.set('varve_waiting_blocks', status.waitingBlocks)
    this.set('varve_waiting_bytes', status.waitingBytes)
    this.askPipeline(engine)
    const { journal } = status
    this.set('varve_journal_bytes', journal?.bytes ?? 0)
    this.set('varve_journal_records', journal?.last ?? 0)
    this.set(
      'varve_journal_lag_records',
      journal === undefined ? 0 : journal.last - journal.durable,
    )
    const phases = this.counter('varve_phase_seconds_total')
    for (const [phase, seconds] of Object.entries(engine.phases)) {
      phases.inc({ phase }, Math.max(0, seconds - (this.phasesTold[phase] ?? 0)))
      this.phasesTold[phase] = seconds
    }
  }

  private askPipeline({ status: { headNumber, pipeline } }: Engine): void {
    this.set('varve_pipeline_rootless_blocks', pipeline?.rootlessCount ?? 0)
    this.set('varve_pipeline_rootless_blocks_limit', pipeline?.rootlessCountMax ?? 0)
    this.set('varve_pipeline_writing', pipeline?.isWriting === true ? 1 : 0)
    const { executed, rooted, published } = pipeline ?? {}
    const block = this.gauge('varve_pipeline_block')
    block.set({ step: 'executed' }, executed ?? headNumber)
    block.set({ step: 'rooted' }, rooted ?? headNumber)
    block.set({ step: 'published' }, published ?? 0)
  }

  private make({ name, kind, help, labels = [] }: MetricEntry): void {
    const { registry } = this
    const options = { name, help, labelNames: [...labels], registers: [registry] }
    if (kind === 'timer') this.timers.set(name, new GethTimer(name, help, registry))
    else if (kind === 'counter') this.counters.set(name, new Counter(options))
    else if (kind === 'gauge') this.gauges.set(name, new Gauge(options))
    else this.histograms.set(name, new Histogram({ ...options, buckets: BUCKETS }))
  }

  private time(name: MetricName<'timer'>, milliseconds: number): void {
    this.timer(name).add(Math.round(NS_IN_MS * milliseconds))
  }

  private count(name: MetricName<'counter'>, amount: number): void {
    this.counter(name).inc(amount)
  }

  private set(name: MetricName<'gauge'>, value: number): void {
    this.gauge(name).set(value)
  }

  private timer(name: MetricName<'timer'>): GethTimer {
    return this.timers.get(name)!
  }

  private counter(name: MetricName<'counter'>): Counter {
    return this.counters.get(name)!
  }

  private gauge(name: MetricName<'gauge'>): Gauge {
    return this.gauges.get(name)!
  }

  private histogram(name: MetricName<'histogram'>): Histogram {
    return this.histograms.get(name)!
  }
}
