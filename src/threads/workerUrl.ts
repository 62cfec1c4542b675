/** Where a worker's entry lies. */

/**
 * The address of a worker entry beside the calling file, with that file's own extension: the compiler rewrites imports
 * but leaves addresses alone, and the same source runs as `.ts` and as `.js`.
 * @param base `import.meta.url` of the caller
 * @param name the entry without extension, e.g. `./root.worker`
 */
export function workerUrl(base: string, name: string): URL {
  const extension = /\.[cm]?[jt]s$/.exec(base)?.[0] ?? '.js'
  return new URL(`${name}${extension}`, base)
}
