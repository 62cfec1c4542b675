/**
 * What the threads that write to one database know of each other, in shared memory.
 *
 * ```
 *  word 0   threads within a transaction, plus 2^30 once the process ends
 *  word 1   1 after a failure of the disk
 * ```
 * Why: a thread that Node ends within a transaction never ends. The library cleans up behind it and waits for a lock
 * that the thread itself holds, so `process.exit`, or an error that nobody catches, would leave a process that only a
 * signal can end. So the process waits, in its `exit` event, until no further thread is within a transaction, and none
 * begins another one. That costs the rest of one write.
 *
 * And after a failure of the disk, the library refuses the next transaction in a way that ends the process, on every
 * thread: so each looks here first.
 *
 * Not here: `Worker.terminate` from outside. Whoever calls that lets the thread answer first.
 */
import { assert } from '../base/index.ts'

const IS_ENDING = 1 << 30

/** Gates of this thread's databases that further threads may write to. */
const gates = new Set<WriterGate>()

export class WriterGate {
  /** For the other threads' gates. A message can carry it. */
  readonly words: Int32Array<SharedArrayBuffer>

  constructor(words: Int32Array<SharedArrayBuffer> = new Int32Array(new SharedArrayBuffer(8))) {
    this.words = words
  }

  /** Whether a write failed, on any thread, so that the library must not be written to any more. */
  get isBroken(): boolean {
    return Atomics.load(this.words, 1) === 1
  }

  /** Tells all threads of a failure of the disk. */
  markBroken(): void {
    Atomics.store(this.words, 1, 1)
  }

  /**
   * Runs a transaction on a further thread. Once the process ends nothing runs any more: the call then waits for that.
   */
  within(work: () => void): void {
    const { words } = this
    if (Atomics.add(words, 0, 1) >= IS_ENDING) {
      this.leave()
      for (;;) Atomics.wait(words, 0, Atomics.load(words, 0))
    }
    try {
      work()
    } finally {
      this.leave()
    }
  }

  /** Makes the end of this process wait for the other threads. On the thread that closes last; until `unguard`. */
  guardExit(): void {
    if (gates.size === 0) process.on('exit', closeGates)
    gates.add(this)
  }

  /** Ends `guardExit`. */
  unguard(): void {
    if (gates.delete(this) && gates.size === 0) process.off('exit', closeGates)
  }

  /** Waits until no thread is within a transaction; from here on none begins one. */
  close(): void {
    const { words } = this
    Atomics.or(words, 0, IS_ENDING)
    for (;;) {
      const count = Atomics.load(words, 0)
      if (count === IS_ENDING) return
      Atomics.wait(words, 0, count)
    }
  }

  private leave(): void {
    const before = Atomics.sub(this.words, 0, 1)
    assert((before & ~IS_ENDING) > 0, 'writer gate: left as often as entered')
    Atomics.notify(this.words, 0)
  }
}

function closeGates(): void {
  for (const gate of gates) gate.close()
}
