/**
 * Which engine runs which frame. Code is predecoded when it has run often, or when one frame jumps a lot: predecoding
 * costs as much as running each op a few times, and most code of a block runs once, and a small part of it.
 */
import { depth, frameAt, leave } from './calls'
import { C_FAST, C_FAST_FORK, C_RUNS, C_SIZE } from './codes'
import { runFast } from './fast'
import { runFrame } from './interpreter'
import { F_CODE, F_ENGINE, F_GAS, F_PC } from './layout'
import { FAST_CODE_MAX, fastRecords, recordAt } from './predecode'
import { P_FORK, parameter } from './rules'
import { HOT, SWITCH_FRAME } from './status'

/** Engines a message may ask for. */
export const ENGINE_PLAIN: i32 = 0
export const ENGINE_TRACED: i32 = 1
export const ENGINE_FAST: i32 = 2
/** The fast engine from the first frame on, for tests. */
export const ENGINE_FAST_ALWAYS: i32 = 3

// Engines of a frame.
const E_UNDECIDED: u32 = 0
const E_PLAIN: u32 = 1
const E_FAST: u32 = 2
export const E_PLAIN_FOR_GOOD: u32 = 3

/** Frames after which code is predecoded. */
const RUNS_MIN: u32 = 4
/** Taken jumps of one frame after which its code is. */
const HEAT: i32 = 400

/** Runs from the frame on top until the frame at depth 0 has ended; returns its status. */
export function run(engine: i32): i32 {
  while (true) {
    const frame = frameAt(depth)
    let status: i32
    if (engine == ENGINE_PLAIN) status = runFrame<i32>(frame, 0)
    else if (engine == ENGINE_TRACED) status = runFrame<f32>(frame, 0)
    else status = runMixed(frame, engine == ENGINE_FAST_ALWAYS)
    if (status == SWITCH_FRAME) continue
    status = leave(status, load<i64>(frame, F_GAS))
    if (depth < 0) return status
  }
}

function runMixed(frame: usize, always: bool): i32 {
  let chosen = load<u32>(frame, F_ENGINE)
  if (chosen == E_UNDECIDED) {
    chosen = choose(frame, always)
    store<u32>(frame, chosen, F_ENGINE)
  }
  if (chosen == E_FAST) return runFast(frame)
  if (chosen == E_PLAIN_FOR_GOOD) return runFrame<i32>(frame, 0)
  const status = runFrame<i64>(frame, HEAT)
  if (status != HOT) return status
  // Stopped at a jump destination, where a block starts.
  const code = <usize>load<u32>(frame, F_CODE)
  fastRecords(code)
  store<u32>(frame, u32(recordAt(code, load<u32>(frame, F_PC))), F_PC)
  store<u32>(frame, E_FAST, F_ENGINE)
  return SWITCH_FRAME
}

function choose(frame: usize, always: bool): u32 {
  const code = <usize>load<u32>(frame, F_CODE)
  if (load<u32>(code, C_SIZE) > FAST_CODE_MAX) return E_PLAIN_FOR_GOOD
  const runs = load<u32>(code, C_RUNS) + 1
  store<u32>(code, runs, C_RUNS)
  const isReady =
    load<u32>(code, C_FAST) != 0 && load<u32>(code, C_FAST_FORK) == u32(parameter(P_FORK))
  if (!isReady && runs < RUNS_MIN && !always) return E_PLAIN
  store<u32>(frame, u32(fastRecords(code)), F_PC)
  return E_FAST
}
