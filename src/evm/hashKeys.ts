/** Secrets of the kernel's hash tables, drawn once a process: whoever picks storage keys must not know them. */
import { randomBytes } from 'node:crypto'

/** Bytes of eight u64, of which the kernel uses six. */
const KEY_BYTES = 64
let keys: Uint8Array | undefined

export function randomHashKeys(): Uint8Array {
  keys ??= new Uint8Array(randomBytes(KEY_BYTES))
  return keys
}
