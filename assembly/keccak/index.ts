/** The keccak kernel: what `src/kernels/keccak.ts` calls. */
export { prepare } from './permutation'
export { absorb, begin, finish, hashOne as hash } from './sponge'
export { hashMany } from './lanes'
