/**
 * A progress bar with rate and time left. Shown on a terminal and for work that lasts more than a second; anywhere
 * else it prints nothing, so that output stays fit for a pipe.
 */
import { SingleBar } from 'cli-progress'

/** Milliseconds of work before the bar appears. */
const QUIET_MS = 1000
/** Milliseconds between two redraws. */
const REDRAW_MS = 100

/** A second measure of the work done so far, shown as a rate. */
export type ProgressExtra = { readonly amount: number; readonly unit: string }

export class Progress {
  private readonly label: string
  private readonly unit: string
  private readonly isEnabled: boolean
  private readonly startMs = performance.now()
  private lastDrawMs = 0
  private bar: SingleBar | undefined

  /** @param isEnabled false for `--json` and `--quiet` */
  constructor(label: string, unit: string, isEnabled: boolean) {
    this.label = label
    this.unit = unit
    this.isEnabled = isEnabled && process.stderr.isTTY === true
  }

  /** Tells how far the work is, and how much of something else was done on the way. Cheap enough for every item. */
  update(done: number, total: number, extra?: ProgressExtra): void {
    if (!this.isEnabled) return
    const now = performance.now()
    if (now - this.startMs < QUIET_MS || now - this.lastDrawMs < REDRAW_MS) return
    this.lastDrawMs = now
    const perSecond = (done * 1000) / (now - this.startMs)
    const payload = {
      rate: Math.round(perSecond).toLocaleString('en'),
      extra: extra === undefined ? '' : extraText(extra, now - this.startMs),
      left: duration((total - done) / perSecond),
    }
    this.bar ??= this.start(total)
    this.bar.setTotal(total)
    this.bar.update(done, payload)
  }

  /** Takes the bar away, so that what follows starts on a clean line. */
  stop(): void {
    this.bar?.stop()
    this.bar = undefined
  }

  private start(total: number): SingleBar {
    const bar = new SingleBar({
      format: `${this.label} {bar} {percentage}% | {value}/{total} ${this.unit} | {rate} ${this.unit}/s{extra} | {left} left`,
      stream: process.stderr,
      clearOnComplete: true,
      hideCursor: true,
      // Redrawn by hand: the import keeps the event loop busy.
      noTTYOutput: false,
      forceRedraw: true,
    })
    bar.start(total, 0, { rate: '0', extra: '', left: '?' })
    return bar
  }
}

function extraText({ amount, unit }: ProgressExtra, milliseconds: number): string {
  return ` | ${((amount * 1000) / milliseconds).toFixed(1)} ${unit}/s`
}

/** `1 h 02 min`, `3 min 05 s`, `12 s`. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '?'
  const whole = Math.ceil(seconds)
  const pad = (value: number) => String(value).padStart(2, '0')
  if (whole >= 3600)
    return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`
  if (whole >= 60) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`
  return `${whole} s`
}
