/**
 * Rates of earlier runs of one workload, as a file: `{ "workload": "…", "tps": [ … ] }`. The workload is named by its
 * options, so that no run is held against another kind of run.
 */
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { readBounded } from '../boundedRead.ts'
import { UsageError } from '../exit.ts'
import {
  CALIBRATION_RUNS_MIN,
  calibrationOf,
  type ExpectedRange,
  expectedRange,
  type GateVerdict,
  verdictOf,
} from './regressionGate.ts'

type CalibrationFile = { readonly workload: string; readonly tps: readonly number[] }

/** What a run was held against. */
export type GateReport = ExpectedRange & {
  readonly verdict: GateVerdict
  readonly runs: number
}

const FILE_BYTES_MAX = 1024 * 1024

/** The file's rates. @throws UsageError where it is none, or of another workload */
export function readCalibration(path: string, workload: string): readonly number[] {
  const { workload: found, tps } = parse(path)
  if (found !== workload)
    throw new UsageError(`${path}: expected rates of "${workload}", got those of "${found}"`)
  return tps
}

/** Adds a rate to the file, or makes it. @throws UsageError as `readCalibration` */
export function addCalibration(path: string, workload: string, rate: number): number {
  const before = existsSync(path) ? readCalibration(path, workload) : []
  const file: CalibrationFile = { workload, tps: [...before, rate] }
  const draft = `${path}.new`
  writeFileSync(draft, `${JSON.stringify(file)}\n`)
  renameSync(draft, path)
  return file.tps.length
}

/** @param rates of earlier runs */
export function gateOf(rates: readonly number[], tps: number): GateReport {
  const range = expectedRange(calibrationOf(rates))
  return { verdict: verdictOf(tps, range), runs: rates.length, ...range }
}

/** Refuses a calibration that says nothing. @throws UsageError */
export function checkRunCount(path: string, rates: readonly number[]): void {
  if (rates.length < CALIBRATION_RUNS_MIN)
    throw new UsageError(
      `--expect ${path}: expected at least ${CALIBRATION_RUNS_MIN} runs, got ${rates.length}: add some with --calibrate`,
    )
}

function parse(path: string): CalibrationFile {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder().decode(readBounded(path, FILE_BYTES_MAX)))
  } catch (error) {
    throw new UsageError(`${path}: expected a file of --calibrate: ${(error as Error).message}`)
  }
  const { workload, tps } = (value ?? {}) as Partial<CalibrationFile>
  const isRate = (rate: unknown) => typeof rate === 'number' && rate > 0
  if (typeof workload !== 'string' || !Array.isArray(tps) || tps.length === 0 || !tps.every(isRate))
    throw new UsageError(`${path}: expected a workload and rates above 0`)
  return { workload, tps }
}
