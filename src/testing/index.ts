export { Prng } from '../measure/index.ts'
export * from './bench.ts'
export * from './fixtures.ts'
