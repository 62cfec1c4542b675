/**
 * Everything by which a command that executes blocks is watched: `--metrics` and `--slow-block`. Opened before the work,
 * so that an address in use or a file that cannot be written ends the command at once; closed whatever happens.
 */
import { appendFileSync, closeSync, openSync } from 'node:fs'
import type { BlockReport, Engine, EngineObserver, WriteReport } from '../../engine/index.ts'
import { UsageError } from '../exit.ts'
import type { EngineMetrics } from './engineMetrics.ts'
import type { MetricsAddress, MetricsServer } from './metricsServer.ts'
import { slowBlockRecord } from './slowBlock.ts'

export type WatchFlags = {
  readonly metrics?: MetricsAddress
  /** Milliseconds; 0 for every block. */
  readonly slowBlock?: number
  readonly slowBlockLog?: string
}

/**
 * Runs `work` under watch.
 * @throws VarveError METRICS_ADDRESS; UsageError
 */
export async function watched<Result>(
  flags: WatchFlags,
  work: (watching: Watching) => Promise<Result>,
): Promise<Result> {
  const watching = await Watching.open(flags)
  try {
    return await work(watching)
  } finally {
    await watching.close()
  }
}

export class Watching {
  /** `undefined` where nothing is watched: the engine then counts nothing. */
  readonly observer: EngineObserver | undefined
  private readonly metrics: EngineMetrics | undefined
  private readonly server: MetricsServer | undefined
  /** `undefined` for standard error. */
  private log: number | undefined

  private constructor(
    slowBlockMs: number | undefined,
    log: number | undefined,
    endpoint: { readonly metrics: EngineMetrics; readonly server: MetricsServer } | undefined,
  ) {
    this.log = log
    this.metrics = endpoint?.metrics
    this.server = endpoint?.server
    this.observer =
      slowBlockMs === undefined ? this.metrics : this.withSlowBlocks(slowBlockMs, this.metrics)
  }

  static async open({ metrics, slowBlock, slowBlockLog }: WatchFlags): Promise<Watching> {
    if (slowBlockLog !== undefined && slowBlock === undefined)
      throw new UsageError('--slow-block-log: expected --slow-block, got none')
    const log = slowBlockLog === undefined ? undefined : openLog(slowBlockLog)
    try {
      return new Watching(slowBlock, log, await openEndpoint(metrics))
    } catch (error) {
      closeLog(log)
      throw error
    }
  }

  /** Where metrics are served, if they are. */
  get url(): string | undefined {
    return this.server?.url
  }

  /** Tells which engine works. */
  attach(engine: Engine): void {
    this.metrics?.attach(engine)
  }

  /** Lets whoever asks be answered, where anybody may: for work that else never waits. */
  async rest(): Promise<void> {
    if (this.server !== undefined) await new Promise<void>((resume) => setImmediate(resume))
  }

  async close(): Promise<void> {
    await this.server?.close()
    closeLog(this.log)
  }

  /** A full disk must not end the work: the lines that follow go to standard error. */
  private print(line: string): void {
    try {
      if (this.log !== undefined) {
        appendFileSync(this.log, line)
        return
      }
    } catch (error) {
      console.error(`--slow-block-log: ${(error as Error).message}; from here on here`)
      closeLog(this.log)
      this.log = undefined
    }
    process.stderr.write(line)
  }

  private withSlowBlocks(milliseconds: number, next: EngineMetrics | undefined): EngineObserver {
    return {
      wantsCosts: true,
      onBlock: (report: BlockReport) => {
        next?.onBlock(report)
        if (report.totalMs < milliseconds) return
        next?.noteSlowBlock()
        this.print(`${JSON.stringify(slowBlockRecord(report))}\n`)
      },
      onWrite: (report: WriteReport) => next?.onWrite(report),
    }
  }
}

/** Loads the exporter only where it is asked for. */
async function openEndpoint(address: MetricsAddress | undefined) {
  if (address === undefined) return undefined
  const [{ EngineMetrics: Metrics }, { MetricsServer: Endpoint }] = await Promise.all([
    import('./engineMetrics.ts'),
    import('./metricsServer.ts'),
  ])
  const metrics = new Metrics()
  const { contentType } = metrics.registry
  const server = await Endpoint.open(address, { contentType, text: () => metrics.text() })
  console.error(`metrics: ${server.url}`)
  return { metrics, server }
}

/** @throws UsageError */
function openLog(path: string): number {
  try {
    return openSync(path, 'a')
  } catch (error) {
    throw new UsageError(
      `--slow-block-log ${path}: expected a file to write to: ${(error as Error).message}`,
    )
  }
}

function closeLog(log: number | undefined): void {
  if (log !== undefined) closeSync(log)
}
