/** A list of handles, or of other numbers of 32 bits, that keeps its memory when it is emptied. */
export class HandleList {
  handles = new Uint32Array(256)
  count = 0

  push(handle: number): void {
    if (this.count === this.handles.length) this.grow()
    this.handles[this.count++] = handle
  }

  /** A copy of what is listed. */
  slice(): Uint32Array<ArrayBuffer> {
    return this.handles.slice(0, this.count)
  }

  private grow(): void {
    const bigger = new Uint32Array(2 * this.handles.length)
    bigger.set(this.handles)
    this.handles = bigger
  }
}
