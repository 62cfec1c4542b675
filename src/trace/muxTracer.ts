/** geth's `muxTracer`: several tracers over one run; the result names each. */
import { type EvmHooks, joinHooks } from '../evm/index.ts'
import type { TransactionOutcome } from '../execute/index.ts'
import type { Tracer, TraceStart, TraceValue } from './tracer.ts'

export class MuxTracer implements Tracer {
  readonly hooks: EvmHooks
  private readonly tracers: ReadonlyMap<string, Tracer>

  /** @param tracers by the name that the result gives them; every event goes to all, in this order */
  constructor(tracers: ReadonlyMap<string, Tracer>) {
    this.tracers = tracers
    this.hooks = joinHooks(...[...tracers.values()].map(({ hooks }) => hooks))
  }

  begin(start: TraceStart): void {
    for (const tracer of this.tracers.values()) tracer.begin?.(start)
  }

  end(outcome: TransactionOutcome): void {
    for (const tracer of this.tracers.values()) tracer.end?.(outcome)
  }

  result(): TraceValue {
    return Object.fromEntries([...this.tracers].map(([name, tracer]) => [name, tracer.result()]))
  }
}
