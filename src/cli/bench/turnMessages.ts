/** What a turn's process is asked, and what it answers. */
import type { Machine, PreparedBench } from '../../measure/index.ts'
import type { BenchClock, GatheredFigures } from './gather.ts'

export type TurnRequest = {
  /** `trie/commit-after-hash` */
  readonly caseId: string
  readonly size: number
  /** A way of the case, or a peer's name where `peers` is given. */
  readonly arm: string
  readonly claimed: number
  readonly warmUpMs: number
  readonly sampleMs: number
  readonly clock: BenchClock
  /** URL of the module that has the peers; without it the arm is one of the case's own. */
  readonly peers?: string
}

export type TurnReply =
  | { readonly kind: 'figures'; readonly machine: Machine; readonly figures: GatheredFigures }
  | { readonly kind: 'fault'; readonly text: string }

/** A library beside us, by the cases that it can do: the same work with the same result. */
export type Peer = {
  /** Name and version. */
  readonly label: string
  readonly cases: Readonly<Record<string, (size: number) => PreparedBench | Promise<PreparedBench>>>
}

/** What a module of peers exports as `PEERS`. */
export type Peers = Readonly<Record<string, Peer>>
