/** How a test's blocks come in: through the engine itself, or through a pipeline over it (`pipelinedWay.ts`). */
import { isVarveError, type VarveError } from '../../base/index.ts'
import type { Block } from '../../codec/index.ts'
import type { Engine } from '../../engine/index.ts'

/** Why a block was refused; `undefined` of one that was accepted. */
export type Fault = VarveError | undefined

export interface BlockWay {
  /** Hands a block over. One call at a time. @returns its number among those handed over */
  hand(block: Block): Promise<number>
  /** What became of a block. Not while another one is handed over. */
  answer(index: number): Promise<Fault>
  /**
   * Ends: every block has its answer, and what was accepted is written. Call it once, whatever happened.
   * @returns what is wrong beyond the answers
   */
  finish(): Promise<string | undefined>
}

/** One block after the other, each whole. */
export class InlineWay implements BlockWay {
  private readonly engine: Engine
  private readonly faults: Fault[] = []

  constructor(engine: Engine) {
    this.engine = engine
  }

  async hand(block: Block): Promise<number> {
    return this.faults.push(importFault(block, this.engine)) - 1
  }

  async answer(index: number): Promise<Fault> {
    return this.faults[index]
  }

  async finish(): Promise<undefined> {
    this.engine.flush()
  }
}

/** Why an engine refuses a block. */
export function importFault(block: Block, engine: Engine): Fault {
  try {
    engine.import(block)
    return undefined
  } catch (error) {
    return asFault(error)
  }
}

/** A refusal. @throws what is a bug */
export function asFault(error: unknown): VarveError {
  if (isVarveError(error)) return error
  throw error
}
