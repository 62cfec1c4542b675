/** Who runs when. */

/** `sham` is base once more, under another name: what it seems to differ by is noise. */
export type Role = 'base' | 'sham' | 'head'

/** One process: its round, and its place in the whole run, both from 0. */
export type PlannedTurn = { readonly role: Role; readonly round: number; readonly place: number }

/**
 * Turns of `roundCount` rounds, which is even:
 *
 *     first half     head base sham   head base sham  …
 *     second half    sham base head   sham base head  …
 *
 * Base stands between the other two, so head and sham have the same neighbour at the same distance, and whatever
 * comes first has the same share of both. Without `head`, base is compared with its sham only.
 * @throws RangeError for an odd count, or none
 */
export function planTurns(roundCount: number, hasHead: boolean): PlannedTurn[] {
  if (roundCount < 2 || roundCount % 2 === 1)
    throw new RangeError(`expected an even count of rounds, got ${roundCount}`)
  const order: readonly Role[] = hasHead ? ['head', 'base', 'sham'] : ['base', 'sham']
  return Array.from({ length: roundCount }, (_, round) => {
    const roles = round < roundCount / 2 ? order : [...order].reverse()
    return roles.map((role, index) => ({ role, round, place: round * order.length + index }))
  }).flat()
}
