/**
 * The trie node kernel: encodes and hashes nodes of a node arena where they lie.
 *
 * Nodes of one level (no node of the list is an ancestor of another) are encoded one behind the other into a region
 * that stays in the cache, then all of them are hashed through two lanes; a hash is written straight into its node.
 */
import { hashMany } from '../keccak/lanes'
import { encodeNode, encodingBytesMax } from './encode'
import { FLAG_DIRTY, HANDLE_SHIFT, REFERENCE_OFFSET } from './layout'

export { prepare } from '../keccak/permutation'
export { hashOne as hash } from '../keccak/sponge'

const RECORD_BYTES: usize = 12
const REFERENCE_BYTES: u32 = 32

/**
 * Computes the references of the nodes whose handles lie at `list`, and clears their dirty flags. References of
 * their children are up to date.
 * @param output region for encodings, `outputBytes` long
 * @param records room for `count` records of hashes
 * @param isRoot not 0: also what is shorter than 32 bytes is hashed, as nothing embeds a root
 * @returns nodes done; fewer than `count` where the next one's encoding may not fit an empty region
 */
export function hashNodes(
  list: usize,
  count: usize,
  output: usize,
  outputBytes: usize,
  records: usize,
  scratch: usize,
  isRoot: i32,
): usize {
  const outputEnd = output + outputBytes
  let done: usize = 0
  while (done < count) {
    let at = output
    let record = records
    const before = done
    for (; done < count; done++) {
      const node: usize = usize(load<u32>(list + (done << 2))) << HANDLE_SHIFT
      if (at + encodingBytesMax(node) > outputEnd) break
      const end = encodeNode(node, at)
      const length = u32(end - at)
      const head = load<u32>(node) & ~(FLAG_DIRTY | 0xff0000)
      if (length < REFERENCE_BYTES && isRoot === 0) {
        v128.store(node + REFERENCE_OFFSET, v128.load(at))
        v128.store(node + REFERENCE_OFFSET, v128.load(at, 16), 16)
        store<u32>(node, head | (length << 16))
      } else {
        store<u32>(node, head | (REFERENCE_BYTES << 16))
        store<u32>(record, u32(at))
        store<u32>(record, length, 4)
        store<u32>(record, u32(node + REFERENCE_OFFSET), 8)
        record += RECORD_BYTES
        at = end
      }
    }
    hashMany(records, (record - records) / RECORD_BYTES, scratch)
    if (done === before) return done
  }
  return done
}

/**
 * Writes the encodings of the nodes whose handles lie at `list` one behind the other to `output`, and their lengths
 * as u32 to `lengths`.
 * @returns nodes done; the next one's encoding may not fit what is left of the region
 */
export function encodeNodes(
  list: usize,
  count: usize,
  output: usize,
  outputBytes: usize,
  lengths: usize,
): usize {
  const outputEnd = output + outputBytes
  let at = output
  let done: usize = 0
  for (; done < count; done++) {
    const node: usize = usize(load<u32>(list + (done << 2))) << HANDLE_SHIFT
    if (at + encodingBytesMax(node) > outputEnd) break
    const end = encodeNode(node, at)
    store<u32>(lengths + (done << 2), u32(end - at))
    at = end
  }
  return done
}
