/** What a pool and its workers tell each other. Both sides share these types and nothing else. */
import type { ErrorData } from '../base/index.ts'

/** Pool to worker. Buffers in the transfer list belong to the worker from then on. */
export type PoolRequest = { readonly id: number; readonly request: unknown }

/** A fault on its way between threads: an error loses its class when it is cloned. */
export type WireFault = {
  /** Code of a `VarveError`; `undefined` for a bug, whose stack is then in the message. */
  readonly code: string | undefined
  readonly message: string
  readonly data: ErrorData
}

/**
 * Worker to pool; every request has exactly one reply. Buffers in the transfer list belong to the pool's side.
 * `busyMs` is the time that the worker took for it, without what it waited in the mailbox.
 */
export type PoolReply = { readonly id: number; readonly busyMs: number } & (
  | { readonly reply: unknown }
  | { readonly fault: WireFault }
)
