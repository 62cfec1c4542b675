/**
 * The kernels, one entry each; `scripts/build-kernels.mjs` compiles them to `src/kernels/generated/<name>.ts`.
 * The build reads this file as it is, as JavaScript: no type syntax here.
 *
 * - `name`        of the generated file.
 * - `entry`       path from the root of the repository; what it exports is the kernel's interface.
 * - `flags`       compiler flags beside the common ones (shared imported memory, no heap, no data segment).
 * - `ownsMemory`   true where each instance has a memory to itself, and so may hold globals.
 * - `callsHost`    true where the module may import functions of the module `host`.
 * - `sizeBytesMax` the build fails where the module is bigger. A module is compiled at start in every thread, so
 *                 growth has to be a decision.
 */
export const targets = [
  {
    name: 'keccak',
    entry: 'assembly/keccak/index.ts',
    flags: [],
    sizeBytesMax: 8192,
  },
  {
    name: 'trie-node',
    entry: 'assembly/trie-node/index.ts',
    flags: [],
    sizeBytesMax: 12288,
  },
  {
    name: 'evm',
    entry: 'assembly/evm/index.ts',
    flags: [],
    ownsMemory: true,
    callsHost: true,
    sizeBytesMax: 131072,
  },
]
