export * from './bench.ts'
export * from './fixtures.ts'
export * from './prng.ts'
