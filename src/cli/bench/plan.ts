/** What is compared with what: the cases, sizes and sides of one call of `varve bench`. */
import { type BenchCase, caseId } from '../../measure/index.ts'
import { UsageError } from '../exit.ts'
import type { Comparison, Subject } from './comparison.ts'
import { buildRevision } from './revision.ts'
import { PACKAGE_ROOT, peersUrl, turnProgram } from './sourceTree.ts'
import type { Peers } from './turnMessages.ts'

/** What `--vs` names. */
export type Against =
  | { readonly kind: 'mode'; readonly name: string }
  | { readonly kind: 'revision'; readonly name: string }
  | { readonly kind: 'peer'; readonly name: string }

export type PlanOptions = {
  readonly cases: readonly BenchCase[]
  readonly against?: Against
  /** These only; large ones are among them where they are named. */
  readonly sizes?: readonly number[]
  readonly withLarge?: boolean
}

export type BenchPlan = {
  readonly comparisons: readonly Comparison[]
  /** Takes away what was made for it. */
  close(): void
}

const NOTHING_TO_CLOSE = () => {}

/** @throws UsageError where nothing is left to compare, or the other side does not exist */
export async function makePlan(options: PlanOptions): Promise<BenchPlan> {
  const { cases, against } = options
  if (against === undefined) return planOf(options, (bench) => ownSides(bench))
  switch (against.kind) {
    case 'mode':
      return planOf(options, (bench) => modeSides(bench, against.name))
    case 'peer': {
      const sides = await peerSides(cases, against.name)
      return planOf(options, (bench) => sides(bench))
    }
    case 'revision': {
      const { label, tree, close } = buildRevision(against.name)
      const program = turnProgram(tree)
      const sides = ({ arms: [arm] }: BenchCase): Sides => ({
        base: { label, arm, program },
        head: { ...ownArm(arm), label: 'this tree' },
        isPeer: false,
      })
      return planOf(options, sides, close)
    }
  }
}

type Sides = Pick<Comparison, 'base' | 'head' | 'isPeer'>

function planOf(
  { cases, sizes, withLarge = false }: PlanOptions,
  sidesOf: (bench: BenchCase) => Sides | undefined,
  close: () => void = NOTHING_TO_CLOSE,
): BenchPlan {
  const comparisons: Comparison[] = []
  for (const bench of cases) {
    const sides = sidesOf(bench)
    if (sides === undefined) continue
    for (const size of bench.sizes) {
      const isMeant =
        sizes === undefined ? withLarge || size.isLarge !== true : sizes.includes(size.size)
      if (isMeant) comparisons.push({ bench, size, ...sides })
    }
  }
  if (comparisons.length === 0) {
    close()
    throw new UsageError('expected something to compare: no case has such sizes and such an arm')
  }
  return { comparisons, close }
}

/** The arm in use against the one that its case compares it with. */
function ownSides({ arms: [own, other] }: BenchCase): Sides {
  if (other === undefined) return { base: ownArm(own), isPeer: false }
  return { base: ownArm(other), head: ownArm(own), isPeer: false }
}

/** The arm in use against the named one. */
function modeSides({ arms: [own, ...others] }: BenchCase, name: string): Sides | undefined {
  if (!others.includes(name)) return undefined
  return { base: ownArm(name), head: ownArm(own), isPeer: false }
}

async function peerSides(
  cases: readonly BenchCase[],
  name: string,
): Promise<(bench: BenchCase) => Sides | undefined> {
  const peers = peersUrl()
  const { PEERS } = (await import(peers)) as { PEERS: Peers }
  const peer = Object.hasOwn(PEERS, name) ? PEERS[name] : undefined
  const all = Object.keys(PEERS)
  if (peer === undefined)
    throw new UsageError(`--vs peer:${name}: expected one of ${all.join(', ')}`)
  if (!cases.some((bench) => caseId(bench) in peer.cases))
    throw new UsageError(
      `--vs peer:${name}: expected one of its cases, ${Object.keys(peer.cases).join(', ')}`,
    )
  return (bench) => {
    if (!(caseId(bench) in peer.cases)) return undefined
    const base: Subject = {
      label: peer.label,
      arm: name,
      program: turnProgram(PACKAGE_ROOT),
      peers,
    }
    return { base, head: { ...ownArm(bench.arms[0]), label: 'varve' }, isPeer: true }
  }
}

const ownArm = (arm: string): Subject => ({
  label: arm,
  arm,
  program: turnProgram(PACKAGE_ROOT),
})
