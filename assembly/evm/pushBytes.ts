/** Operands of PUSH. */
import { setSmall } from './word'

/** Pushes `count` bytes of code at `from`, 1 to 32. Reads of up to 8 bytes before `from` stay inside the code block. */
// @ts-ignore: decorator
@inline
export function pushBytes(from: usize, count: usize, to: usize): void {
  if (count <= 8) {
    setSmall(to, bswap<u64>(load<u64>(from)) >> (u64(8 - count) << 3))
    return
  }
  const end = from + count
  store<u64>(to, bswap<u64>(load<u64>(end - 8)))
  for (let limb: usize = 1; limb < 4; limb++) {
    const done = limb << 3
    let value: u64 = 0
    if (count >= done + 8) value = bswap<u64>(load<u64>(end - 8 - done))
    else if (count > done) value = bswap<u64>(load<u64>(from)) >> (u64(8 - (count - done)) << 3)
    store<u64>(to + done, value)
  }
}
