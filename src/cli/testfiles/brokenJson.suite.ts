/** Spoils tests for fuzzers: replaces, removes or adds values anywhere in their JSON. */
import type { Prng } from '../../testing/index.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const HUGE = `0x${'f'.repeat(80)}`
const VALUES: readonly Json[] = [
  null,
  true,
  -1,
  0.5,
  2 ** 60,
  '',
  '0x',
  '0x0',
  'x',
  '0xzz',
  '0x1',
  '0x01',
  `0x${'ff'.repeat(8)}`,
  `0x${'ff'.repeat(20)}`,
  `0x${'ff'.repeat(32)}`,
  HUGE,
  '9'.repeat(500),
  [],
  {},
  [[]],
  ['0x01', '0x02'],
  { '0x01': '0x02' },
  '__proto__',
]

/** Replaces, removes or adds one value, anywhere. */
export function breakOne(prng: Prng, root: Json): void {
  let parent = root as { [key: string]: Json }
  for (;;) {
    const key = prng.pick(Object.keys(parent))
    const child = parent[key]
    const canDescend = typeof child === 'object' && child !== null && Object.keys(child).length > 0
    if (canDescend && !prng.oneIn(8)) {
      parent = child as { [key: string]: Json }
      continue
    }
    if (prng.oneIn(6)) delete parent[key]
    else
      parent[prng.oneIn(8) ? String(prng.pick(VALUES)) : key] = structuredClone(prng.pick(VALUES))
    return
  }
}
