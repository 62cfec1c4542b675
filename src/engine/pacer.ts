/** Gives the event loop a turn now and then during synchronous work. */
export class Pacer {
  private readonly sliceMs: number
  private sliceStart = performance.now()

  /** @param sliceMs milliseconds of work between two turns */
  constructor(sliceMs: number) {
    this.sliceMs = sliceMs
  }

  get isDue(): boolean {
    return performance.now() - this.sliceStart >= this.sliceMs
  }

  async rest(): Promise<void> {
    await new Promise<void>((resume) => setImmediate(resume))
    this.sliceStart = performance.now()
  }
}
