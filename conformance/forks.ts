/** Forks by a block of mainnet that they rule. */
import { mainnet, rulesAt } from 'varve/chain'

const at = (number: number, timestamp = 0n) => rulesAt(mainnet, number, timestamp).fork

export const frontier = at(1)
export const byzantium = at(4_370_000)
export const constantinople = at(7_280_000)
export const istanbul = at(9_069_000)
export const berlin = at(12_244_000)
export const prague = at(20_000_000, 1_746_612_311n)
export const osaka = at(20_000_000, 1_764_798_551n)
