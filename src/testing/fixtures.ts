/**
 * Streams the published Ethereum fixtures. They are not part of the package: tests that need them skip with one
 * line where they are absent. They lie in `../shared/fixtures` beside the checkout, or where VARVE_FIXTURES says.
 */
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { brotliDecompressSync, createBrotliDecompress } from 'node:zlib'

type FixtureIndex = {
  readonly suites: Record<string, { readonly shards: { readonly file: string }[] }>
}

/** Folder of the fixtures, or `undefined` where there are none. */
export const fixturesFolder: string | undefined = [
  process.env['VARVE_FIXTURES'],
  resolve(import.meta.dirname, '../../../shared/fixtures'),
].find((folder) => folder !== undefined && existsSync(join(folder, 'index.json')))

/**
 * Value for the `skip` option of a test that needs fixtures: false where they exist, else the reason in one line
 * with the public source of the data.
 */
export function fixturesMissing(what: string, publicSource: string): string | false {
  if (fixturesFolder !== undefined) return false
  return `${what}: fixtures absent (set VARVE_FIXTURES; the data are public: ${publicSource})`
}

/** Streams the records of a suite, one JSON object per upstream file. */
export async function* fixtureRecords<Shape = Record<string, unknown>>(
  suite: string,
): AsyncGenerator<Shape> {
  const folder = fixturesFolder
  if (folder === undefined) throw new Error('no fixtures: guard the test with fixturesMissing')
  const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as FixtureIndex
  const shards = index.suites[suite]?.shards
  if (shards === undefined) throw new Error(`no fixture suite '${suite}'`)
  for (const shard of shards) {
    const input = createReadStream(join(folder, 'suites', suite, shard.file))
    const lines = createInterface({
      input: input.pipe(createBrotliDecompress()),
      crlfDelay: Infinity,
    })
    for await (const line of lines) if (line !== '') yield JSON.parse(line) as Shape
  }
}

/** Path of a raw fixture file, e.g. `era1/mainnet-00000-5ec1ffb8.era1`. */
export function fixturePath(name: string): string {
  if (fixturesFolder === undefined)
    throw new Error('no fixtures: guard the test with fixturesMissing')
  return join(fixturesFolder, 'files', name)
}

/** Bytes of a raw fixture file, unpacked where it lies there as `.br`. */
export function fixtureFile(name: string): Uint8Array {
  const path = fixturePath(name)
  return existsSync(path) ? readFileSync(path) : brotliDecompressSync(readFileSync(`${path}.br`))
}
