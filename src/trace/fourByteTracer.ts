/** geth's `4byteTracer`: how often each function selector was called, with the size of its arguments. */
import { Fork, toHex } from '../base/index.ts'
import type { EvmHooks, PrecompileSet } from '../evm/index.ts'
import { CREATE, CREATE2 } from './callFrames.ts'
import { precompileOf } from './faultText.ts'
import type { Tracer, TraceStart, TraceValue } from './tracer.ts'

const SELECTOR_BYTES = 4

export class FourByteTracer implements Tracer {
  readonly hooks: EvmHooks
  private readonly counts = new Map<string, number>()
  private fork: Fork = Fork.Frontier
  private precompileSet: PrecompileSet | undefined

  constructor() {
    this.hooks = {
      onEnter: ({ kind, target, input }) => {
        if (input.length < SELECTOR_BYTES || kind === CREATE || kind === CREATE2) return
        if (precompileOf(target, this.fork, this.precompileSet) !== undefined) return
        const selector = toHex(input.subarray(0, SELECTOR_BYTES))
        const key = `${selector}-${input.length - SELECTOR_BYTES}`
        this.counts.set(key, (this.counts.get(key) ?? 0) + 1)
      },
    }
  }

  begin(start: TraceStart): void {
    this.fork = start.fork
    this.precompileSet = start.precompileSet
  }

  result(): TraceValue {
    return Object.fromEntries(this.counts)
  }
}
