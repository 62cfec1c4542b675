/**
 * What makes a comparison void or doubtful. Each flag stands for a mistake that was made in earnest somewhere: figures
 * of two machines side by side, reads that `&&` skipped, a "10" that was built with 20, two runs of the old against one
 * of the new.
 */
import { quantile } from './quantile.ts'
import type { Role } from './turns.ts'

/** Where a process ran; equal in all fields, or the figures are not compared. */
export type Machine = {
  readonly cpu: string
  readonly coreCount: number
  /** GiB, rounded. */
  readonly memoryGib: number
  /** System, release and architecture. */
  readonly system: string
  /** Name and version of the runtime. */
  readonly runtime: string
}

/** One process of a comparison. */
export type Turn = {
  readonly role: Role
  /** What ran, for people: `words`, `revision 1a2b3c4`, `mpt 10.1.3`. */
  readonly subject: string
  readonly round: number
  readonly place: number
  readonly machine: Machine
  /** Nanoseconds an operation, one for each run. */
  readonly samples: readonly number[]
  /** Operations of a run by the bench's name and size: what samples were divided by. */
  readonly claimed: number
  /** Operations of a run that its result proves, counted apart from the loop that was timed. */
  readonly counted: number
  /** Hash of the run's result. */
  readonly digest: string
  /** The hash on record for this case and size, where there is one. */
  readonly expectedDigest?: string
  /** Heap and buffers allocated an operation; absent where collections made it unknowable. */
  readonly bytes?: number
}

export type FlagKind =
  /** Arms ran on different machines or runtimes. */
  | 'unlike-machines'
  /** The result proves fewer operations than the name claims: something was skipped. */
  | 'operations-missing'
  /** The result proves more operations than the name claims: the figure is of another size. */
  | 'operations-beyond'
  /** Arms, or rounds of one arm, gave different results. */
  | 'unlike-results'
  /** The result is not the one on record. */
  | 'unexpected-result'
  /** Arms have not the same number of processes. */
  | 'unequal-runs'
  /** Arms did not take turns. */
  | 'not-interleaved'
  /** One arm went first more often than the other. */
  | 'order-not-swapped'
  /** There is no second run of base to say what noise is. */
  | 'no-sham'
  | 'too-few-rounds'
  /** Better than a change of the same code is apt to be: look at what is left out. */
  | 'too-good'
  /** Base differs from itself by more than a tenth. */
  | 'noisy'
  /** Series that are looked at side by side are not on one axis. */
  | 'unlike-axes'

/** `isVoid`: the comparison says nothing. Else it is doubtful. */
export type Flag = { readonly kind: FlagKind; readonly isVoid: boolean; readonly text: string }

export const ROUNDS_MIN = 4

/** Faults of how a comparison was made. Looks at every turn, whatever it measured. */
export function flagsOf(turns: readonly Turn[]): Flag[] {
  return [
    ...machineFlags(turns),
    ...operationFlags(turns),
    ...resultFlags(turns),
    ...orderFlags(turns),
  ]
}

export const voidFlag = (kind: FlagKind, text: string): Flag => ({ kind, isVoid: true, text })
export const doubtFlag = (kind: FlagKind, text: string): Flag => ({ kind, isVoid: false, text })

function machineFlags(turns: readonly Turn[]): Flag[] {
  const describe = ({ machine: { cpu, coreCount, memoryGib, system, runtime } }: Turn) =>
    `${cpu}, ${coreCount} cores, ${memoryGib} GiB, ${system}, ${runtime}`
  const found = distinct(turns.map(describe))
  if (found.length <= 1) return []
  return [voidFlag('unlike-machines', `expected one machine, got ${found.join(' and ')}`)]
}

function operationFlags(turns: readonly Turn[]): Flag[] {
  const flags = new Map<string, Flag>()
  for (const { subject, claimed, counted } of turns) {
    if (counted === claimed) continue
    const kind = counted < claimed ? 'operations-missing' : 'operations-beyond'
    const text = `${subject}: expected ${claimed} operations a run, its result proves ${counted}`
    flags.set(text, voidFlag(kind, text))
  }
  const claims = distinct(turns.map(({ claimed }) => String(claimed)))
  if (claims.length > 1) {
    const text = `expected arms of one size, got ${claims.join(' and ')} operations a run`
    flags.set(text, voidFlag('operations-beyond', text))
  }
  return [...flags.values()]
}

function resultFlags(turns: readonly Turn[]): Flag[] {
  const odd = turns.find(
    ({ digest, expectedDigest }) => expectedDigest !== undefined && digest !== expectedDigest,
  )
  if (odd !== undefined) {
    const { subject, digest, expectedDigest } = odd
    const text = `${subject}: expected the result ${expectedDigest}, got ${digest}`
    return [voidFlag('unexpected-result', text)]
  }
  if (distinct(turns.map(({ digest }) => digest)).length <= 1) return []
  const found = distinct(turns.map(({ subject, digest }) => `${digest.slice(0, 18)} (${subject})`))
  return [voidFlag('unlike-results', `expected one result, got ${found.join(', ')}`)]
}

function orderFlags(turns: readonly Turn[]): Flag[] {
  const flags: Flag[] = []
  const roles = distinct(turns.map(({ role }) => role)) as Role[]
  const countOf = (role: Role) => turns.filter((turn) => turn.role === role).length
  const counts = roles.map(countOf)
  if (!roles.includes('sham'))
    flags.push(voidFlag('no-sham', 'expected base to run against itself, got no such arm'))
  if (new Set(counts).size > 1) {
    const got = roles.map((role) => `${role} ${countOf(role)}`).join(', ')
    flags.push(voidFlag('unequal-runs', `expected as many runs of each arm, got ${got}`))
  }
  const fewest = Math.min(...counts)
  if (fewest < ROUNDS_MIN)
    flags.push(voidFlag('too-few-rounds', `expected ${ROUNDS_MIN} rounds or more, got ${fewest}`))
  const byPlace = [...turns].sort((a, b) => a.place - b.place)
  for (let at = 0; at < byPlace.length; at += roles.length) {
    const round = byPlace.slice(at, at + roles.length)
    if (distinct(round.map(({ role }) => role)).length === roles.length) continue
    const text = 'expected each arm once in each round, got arms in a row'
    flags.push(voidFlag('not-interleaved', text))
    break
  }
  return [...flags, ...swapFlags(byPlace, roles)]
}

/** Each arm stands before base as often as behind it. */
function swapFlags(byPlace: readonly Turn[], roles: readonly Role[]): Flag[] {
  const rounds = [...new Set(byPlace.map(({ round }) => round))]
  for (const role of roles.filter((each) => each !== 'base')) {
    let ahead = 0
    let behind = 0
    for (const round of rounds) {
      const placeOf = (wanted: Role) =>
        byPlace.find((turn) => turn.round === round && turn.role === wanted)?.place
      const [own, base] = [placeOf(role), placeOf('base')]
      if (own === undefined || base === undefined) continue
      if (own < base) ahead++
      else behind++
    }
    if (ahead === behind) continue
    const text = `expected ${role} before base as often as behind it, got ${ahead} and ${behind} times`
    return [voidFlag('order-not-swapped', text)]
  }
  return []
}

/** P99 of all samples of an arm; absent below 100 samples, where it would be the maximum by another name. */
export function p99Of(turns: readonly Turn[]): number | undefined {
  const samples = turns.flatMap((turn) => turn.samples)
  return samples.length < 100 ? undefined : quantile(samples, 0.99)
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)]
