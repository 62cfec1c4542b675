/** What an arm's process is asked, one at a time, and what it answers. */
import type { Machine } from '../../../measure/index.ts'
import type { ReplayConfig } from './config.ts'

export type ReplayRequest =
  | {
      readonly kind: 'open'
      readonly files: readonly string[]
      readonly genesis?: string
      readonly folder: string
      readonly config: ReplayConfig
    }
  /** Imports as many blocks more, up to their write. */
  | { readonly kind: 'segment'; readonly blockCount: number }
  | { readonly kind: 'close' }

/** Milliseconds of a block; parts may have run beside one another. */
export type BlockTimes = {
  readonly number: number
  readonly totalMs: number
  readonly executeMs: number
  readonly rootMs: number
}

/** Milliseconds of a write, of so many blocks up to one. */
export type WriteTimes = {
  readonly number: number
  readonly blockCount: number
  readonly accountCommitMs: number
  readonly storageCommitMs: number
  readonly storeMs: number
}

export type SegmentTimes = {
  readonly seconds: number
  /** Number of the head before it. */
  readonly fromNumber: number
  readonly head: { readonly number: number; readonly hash: string }
  readonly blocks: readonly BlockTimes[]
  readonly writes: readonly WriteTimes[]
}

export type ReplayReply =
  | { readonly kind: 'opened'; readonly machine: Machine }
  | { readonly kind: 'segment'; readonly times: SegmentTimes }
  | { readonly kind: 'closed' }
  | { readonly kind: 'fault'; readonly text: string }
