/** Rules by the names that geth's tools give to networks. */
import { type BlockRules, networkRules } from '../../chain/index.ts'
import { T8nExit, T8nFault } from './t8nFault.ts'

/** `LondonToShanghaiAt5`: another fork from a block on; `…AtTime15k`: from a time on. */
const TRANSITION = /^(\w+?)To(\w+?)At(Time)?(\d+)(k?)$/

/**
 * The rules of a block under a named network.
 * @throws T8nFault Config where the name is not known, or asks for EIPs beside a fork's
 */
export function rulesOfFork(name: string, number: bigint, timestamp: bigint): BlockRules {
  const transition = TRANSITION.exec(name)
  if (transition === null) return named(name, name)
  const [, before, after, isTimed, digits, thousands] = transition
  const at = BigInt(digits!) * (thousands === 'k' ? 1000n : 1n)
  const isAfter = (isTimed === undefined ? number : timestamp) >= at
  return named(isAfter ? after! : before!, name)
}

function named(name: string, asked: string): BlockRules {
  const rules = networkRules(name, new Map())
  if (rules !== undefined) return rules
  throw new T8nFault(
    T8nExit.Config,
    `failed constructing chain configuration: unsupported fork "${asked}"`,
  )
}
