/**
 * A timer as geth's exporter shows it: `name{quantile="0.50"}` over the values of late, and `name_count`. Beside that
 * `name_sum`, which geth has not; and the count goes on, where geth's begins anew with each look, so that its rate means
 * something and two who look do not take values from each other.
 */

import type { Registry } from 'prom-client'
import { Summary } from 'prom-client'

/** As many as geth's timers keep. */
const SAMPLE_COUNT_MAX = 1028
/** Older values say nothing of now. */
const SAMPLE_MS_MAX = 60_000
const QUANTILES = ['0.50', '0.95', '0.99'] as const

export class GethTimer extends Summary<'quantile'> {
  private readonly values = new Float64Array(SAMPLE_COUNT_MAX)
  private readonly times = new Float64Array(SAMPLE_COUNT_MAX)
  private count = 0
  private sum = 0
  private readonly now: () => number
  private readonly label: { readonly name: string; readonly help: string }

  /** @param now milliseconds, of any beginning */
  constructor(
    name: string,
    help: string,
    registry: Registry,
    now: () => number = () => performance.now(),
  ) {
    super({ name, help, registers: [registry] })
    this.label = { name, help }
    this.now = now
  }

  /** Takes a value in. Cost: two stores. */
  add(value: number): void {
    const place = this.count++ % SAMPLE_COUNT_MAX
    this.values[place] = value
    this.times[place] = this.now()
    this.sum += value
  }

  override async get(): ReturnType<Summary<'quantile'>['get']> {
    const { name, help } = this.label
    const sorted = this.newest().sort()
    const quantiles = QUANTILES.map((quantile) => ({
      labels: { quantile },
      value: sorted[Math.min(sorted.length - 1, Math.floor(Number(quantile) * sorted.length))]!,
    }))
    const values = [
      ...(sorted.length === 0 ? [] : quantiles),
      { metricName: `${name}_sum`, labels: {}, value: this.sum },
      { metricName: `${name}_count`, labels: {}, value: this.count },
    ]
    return { name, help, values, ...SHAPE } as unknown as Awaited<
      ReturnType<Summary<'quantile'>['get']>
    >
  }

  private newest(): Float64Array {
    const oldest = this.now() - SAMPLE_MS_MAX
    const length = Math.min(this.count, SAMPLE_COUNT_MAX)
    return this.values.slice(0, length).filter((_, index) => this.times[index]! >= oldest)
  }
}

const SHAPE = { type: 'summary', aggregator: 'sum' } as const
