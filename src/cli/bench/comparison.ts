/** One comparison: a case at one size, an arm against another and against itself, in fresh processes that take turns. */
import { fork } from 'node:child_process'
import {
  type BenchCase,
  type BenchSize,
  caseId,
  type Judgement,
  judge,
  operationsOf,
  type PlannedTurn,
  Prng,
  planTurns,
  type Turn,
} from '../../measure/index.ts'
import type { BenchClock } from './gather.ts'
import type { TurnReply, TurnRequest } from './turnMessages.ts'

/** What stands for one side. */
export type Subject = {
  /** For people: `inline`, `revision 1a2b3c4`, `mpt 10.1.3`. */
  readonly label: string
  readonly arm: string
  /** Path of the program that runs its turns: that of this tree or of another revision. */
  readonly program: string
  readonly peers?: string
}

export type Comparison = {
  readonly bench: BenchCase
  readonly size: BenchSize
  readonly base: Subject
  /** Without it base is only run against itself. */
  readonly head?: Subject
  readonly isPeer: boolean
}

export type ComparisonResult = {
  readonly comparison: Comparison
  readonly judgement: Judgement
  readonly turns: readonly Turn[]
  /** Why it has no figures. */
  readonly fault?: string
}

export type RunOptions = {
  /** Time that all turns may take together, as near as can be; at least the fewest rounds are run. */
  readonly allottedMs: number
  readonly clock: BenchClock
  readonly signal: AbortSignal
  readonly onTurn?: (done: number, total: number) => void
}

const ROUND_COUNTS = [8, 6, 4]
const SAMPLE_MS = { least: 120, enough: 300, most: 1500 }
/** Below it, code is not compiled to the end. */
const WARM_UP_MS_MIN = 120
/** Of the time that samples take, where that is more. */
const WARM_UP_SHARE = 0.4
/** Nothing runs this long that is not stuck. */
const TURN_TIMEOUT_MS = 300_000

/** Runs a comparison and judges it. A subject that fails is a result as well: void, with its fault. */
export async function runComparison(
  comparison: Comparison,
  options: RunOptions,
): Promise<ComparisonResult> {
  const turns: Turn[] = []
  const fraction = fractionsOf(comparison)
  const judged = () => judge(turns, { fraction, isPeer: comparison.isPeer })
  try {
    const { roundCount, sampleMs } = await trial(comparison, options)
    const plan = planTurns(roundCount, comparison.head !== undefined)
    const { clock } = options
    const times = { warmUpMs: warmUpMsOf(sampleMs), sampleMs, clock }
    for (const planned of plan) {
      turns.push(await runTurn(comparison, planned, times, options.signal))
      options.onTurn?.(turns.length, plan.length)
    }
    return { comparison, judgement: judged(), turns }
  } catch (error) {
    if (options.signal.aborted) throw error
    const fault = error instanceof Error ? error.message : String(error)
    return { comparison, judgement: judged(), turns, fault }
  }
}

/** One turn of each that is thrown away: finds faults early, and tells what fits into the time. */
async function trial(
  comparison: Comparison,
  { allottedMs, clock, signal }: RunOptions,
): Promise<{ roundCount: number; sampleMs: number }> {
  const roles = comparison.head === undefined ? (['base'] as const) : (['base', 'head'] as const)
  const times = { warmUpMs: 0, sampleMs: 0, clock }
  let overheadMs = 0
  const start = performance.now()
  for (const role of roles) {
    const turnStart = performance.now()
    await runTurn(comparison, { role, round: 0, place: 0 }, times, signal)
    // Base runs as its sham too.
    overheadMs += (performance.now() - turnStart) * (role === 'base' ? 2 : 1)
  }
  const left = allottedMs - (performance.now() - start)
  const turnCount = roles.length + 1
  const sampleMsOf = (rounds: number) => {
    const each = (left / rounds - overheadMs) / turnCount
    return Math.min(each - WARM_UP_MS_MIN, each / (1 + WARM_UP_SHARE))
  }
  const roundCount =
    ROUND_COUNTS.find((rounds) => sampleMsOf(rounds) >= SAMPLE_MS.enough) ?? ROUND_COUNTS.at(-1)!
  const sampleMs = Math.min(SAMPLE_MS.most, Math.max(SAMPLE_MS.least, sampleMsOf(roundCount)))
  return { roundCount, sampleMs }
}

const warmUpMsOf = (sampleMs: number): number => Math.max(WARM_UP_MS_MIN, WARM_UP_SHARE * sampleMs)

/** @throws Error for a subject that fails; what it proves is for the flags to judge */
async function runTurn(
  { bench, size, base, head }: Comparison,
  { role, round, place }: PlannedTurn,
  times: Pick<TurnRequest, 'warmUpMs' | 'sampleMs' | 'clock'>,
  signal: AbortSignal,
): Promise<Turn> {
  const subject = role === 'head' ? head! : base
  const claimed = operationsOf(bench, size.size)
  const reply = await ask(
    subject.program,
    {
      caseId: caseId(bench),
      size: size.size,
      arm: subject.arm,
      claimed,
      ...times,
      ...(subject.peers === undefined ? {} : { peers: subject.peers }),
    },
    signal,
  )
  if (reply.kind === 'fault') throw new Error(`${subject.label}: ${reply.text}`)
  const { machine, figures } = reply
  const { samples, proof, bytes } = figures
  return {
    role,
    subject: subject.label,
    round,
    place,
    machine,
    samples,
    claimed,
    counted: proof.operations,
    digest: proof.digest,
    expectedDigest: size.digest,
    ...(bytes === undefined ? {} : { bytes }),
  }
}

/** Runs a turn in a process of its own. @throws Error where it ends without an answer; the signal's reason */
export function ask(
  program: string,
  request: TurnRequest,
  signal: AbortSignal,
): Promise<TurnReply> {
  return new Promise((resolve, reject) => {
    const { VARVE_VERIFY: _, ...env } = process.env
    const child = fork(program, [], {
      execArgv: ['--expose-gc'],
      env,
      // What a case prints is no result.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      timeout: TURN_TIMEOUT_MS,
      signal,
    })
    let reply: TurnReply | undefined
    child.once('message', (message) => {
      reply = message as TurnReply
    })
    child.once('error', reject)
    child.once('exit', (code, killedBy) => {
      if (reply !== undefined) resolve(reply)
      else
        reject(
          new Error(`${request.caseId}: a process ended without figures, by ${killedBy ?? code}`),
        )
    })
    child.send(request)
  })
}

/** Numbers of the bootstrap: the same for the same comparison. */
function fractionsOf({ bench, size }: Comparison): () => number {
  const random = new Prng(size.size ^ (bench.name.length << 20))
  return () => random.uint32() / 2 ** 32
}
