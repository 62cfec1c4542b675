/** geth's `noopTracer`: hears nothing; measures what tracing itself costs. */
import type { EvmHooks } from '../evm/index.ts'
import type { Tracer, TraceValue } from './tracer.ts'

export class NoopTracer implements Tracer {
  readonly hooks: EvmHooks = {}

  result(): TraceValue {
    return {}
  }
}
