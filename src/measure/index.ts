/** What figures may be believed: order statistics, paired comparison, flags, verdicts, and charts on one axis. */
export {
  type Axis,
  axisFlags,
  axisOf,
  type DrawnAxis,
  placeOn,
  ratioAxis,
  signedAxis,
} from './axis.ts'
export {
  type BootstrapOptions,
  type PairedRound,
  type RatioInterval,
  ratioOf,
} from './bootstrap.ts'
export {
  BENCH_GROUPS,
  type BenchCase,
  type BenchGroup,
  type BenchProof,
  type BenchSize,
  caseId,
  operationsOf,
  type PreparedBench,
} from './case.ts'
export {
  drawnAxes,
  escapeText,
  type LineChart,
  lineChart,
  type RatioRow,
  ratioChart,
  type Series,
  shortNumber,
  timelineChart,
} from './chart.ts'
export {
  type Flag,
  type FlagKind,
  flagsOf,
  type Machine,
  p99Of,
  ROUNDS_MIN,
  type Turn,
} from './flags.ts'
export { type ArmFigures, type Judgement, type JudgeOptions, judge, type Verdict } from './judge.ts'
export { Prng } from './prng.ts'
export { median, quantile } from './quantile.ts'
export { type PlannedTurn, planTurns, type Role } from './turns.ts'
