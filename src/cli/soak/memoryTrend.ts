/**
 * Whether memory is flat. Judged is the second half of a run, when caches are warm: cut into windows, of each window the
 * lowest sample, and through these lows a straight line.
 *
 *     bytes  │      ╱╲  ╱╲  ╱╲            collections make teeth: the lows are what is kept
 *            │   ╱╲╱  ╲╱  ╲╱  ╲            growth = slope of the line · length of the half
 *            └──────────┴───────── time
 *
 * Flat is a growth of at most 3 % of the mean low, or 8 MiB, whichever is more. A leak of a kilobyte a block shows
 * within ten thousand blocks.
 */
import { VarveError } from '../../base/index.ts'

/** Seconds since the start, and bytes. */
export type MemorySample = { readonly seconds: number; readonly bytes: number }

export type MemoryTrend = {
  readonly sampleCount: number
  /** Mean of the second half's lows. */
  readonly meanBytes: number
  /** Along the line, from the beginning of the second half to its end; negative where memory was given back. */
  readonly growthBytes: number
  /** Most growth that counts as flat. */
  readonly allowedBytes: number
  readonly isFlat: boolean
}

const WINDOW_COUNT = 10
const SAMPLES_MIN = 2 * WINDOW_COUNT
const GROWTH_SHARE_MAX = 0.03
const GROWTH_BYTES_FREE = 8 * 2 ** 20

/** @param samples in the order of their times @throws VarveError SOAK_TOO_SHORT for fewer than 20 */
export function memoryTrend(samples: readonly MemorySample[]): MemoryTrend {
  if (samples.length < SAMPLES_MIN)
    throw new VarveError<MemoryTrendErrorCode>(
      'SOAK_TOO_SHORT',
      `soak: expected ${SAMPLES_MIN} samples of memory to see a trend, found ${samples.length}: let it run longer`,
      { sampleCount: samples.length },
    )
  const lows = lowsOf(samples.slice(Math.floor(samples.length / 2)))
  const meanBytes = mean(lows.map(({ bytes }) => bytes))
  const length = lows.at(-1)!.seconds - lows[0]!.seconds
  const growthBytes = Math.round(slopeOf(lows) * length)
  const allowedBytes = Math.round(Math.max(GROWTH_SHARE_MAX * meanBytes, GROWTH_BYTES_FREE))
  return {
    sampleCount: samples.length,
    meanBytes: Math.round(meanBytes),
    growthBytes,
    allowedBytes,
    isFlat: growthBytes <= allowedBytes,
  }
}

/** The lowest sample of each window; windows hold equally many samples, give or take one. */
function lowsOf(samples: readonly MemorySample[]): MemorySample[] {
  return Array.from({ length: WINDOW_COUNT }, (_, window) => {
    const at = (index: number) => Math.floor((index * samples.length) / WINDOW_COUNT)
    return samples
      .slice(at(window), at(window + 1))
      .reduce((low, each) => (each.bytes < low.bytes ? each : low))
  })
}

/** Bytes a second, by least squares. */
function slopeOf(samples: readonly MemorySample[]): number {
  const meanSeconds = mean(samples.map(({ seconds }) => seconds))
  const meanBytes = mean(samples.map(({ bytes }) => bytes))
  let [product, square] = [0, 0]
  for (const { seconds, bytes } of samples) {
    product += (seconds - meanSeconds) * (bytes - meanBytes)
    square += (seconds - meanSeconds) ** 2
  }
  return square === 0 ? 0 : product / square
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Error codes of this module. */
export type MemoryTrendErrorCode =
  /** A soak ended before there were enough samples to see whether memory grows. */
  'SOAK_TOO_SHORT'
