/** What a crew tells its helper. Requests are answered in their order. */
import type { NodeWindowShare } from '../../arena/index.ts'
import type { TaskBoardShare } from '../../threads/index.ts'
import type { ChangePiece, SubtreeTask } from '../../trie/index.ts'

export type HelperOptions = {
  readonly window: NodeWindowShare
  readonly board: TaskBoardShare
  /** Word 0: how many commits were cancelled. Pieces of an older commit are not looked at any more. */
  readonly cancelled: SharedArrayBuffer
}

export type HelperRequest =
  | { readonly kind: 'help'; readonly round: number; readonly tasks: readonly SubtreeTask[] }
  /** Loads a sink's module, ahead of the first commit. */
  | { readonly kind: 'load'; readonly module: string }
  | { readonly kind: 'open'; readonly module: string; readonly options: unknown }
  | { readonly kind: 'begin'; readonly tag: unknown }
  /** The piece's buffers go over to the helper; the nodes that it names stay until the commit ends. */
  | {
      readonly kind: 'piece'
      readonly piece: ChangePiece
      readonly wantsPrevious: boolean
      readonly cancelCount: number
    }
  | { readonly kind: 'finish' }

/** The sink's result for 'finish', else nothing. */
export type HelperReply = unknown
