import { z } from 'zod'

const fewest = 10

/** So many people; of fewer than ten nothing more is said, and of others nothing from which that could be worked out. */
export const ShownCount = z.union([z.int(), z.enum(['<10', '10 or more'])])
export type ShownCount = z.infer<typeof ShownCount>

export type Pair<Value> = { readonly vulnerable: Value; readonly others: Value }

const isSmall = (count: number): boolean => count < fewest

/** Nobody is left, or enough that nobody is singled out. */
const isSafeRest = (rest: number): boolean => rest === 0 || !isSmall(rest)

const rough = (count: number): ShownCount => (isSmall(count) ? '<10' : '10 or more')

/**
 * The same count of two groups of people. Both are shown, or neither: whoever knows the sum of both from elsewhere would
 * subtract one from it. So would whoever subtracts a count from another that it is a part of, such as all people of the group:
 * what is left must not be few either.
 */
export const shownPair = (counts: Pair<number>, wholes: readonly Pair<number>[]): Pair<ShownCount> => {
  const isShown = (['vulnerable', 'others'] as const).every(
    (group) => !isSmall(counts[group]) && wholes.every((whole) => isSafeRest(whole[group] - counts[group])),
  )
  return isShown ? counts : { vulnerable: rough(counts.vulnerable), others: rough(counts.others) }
}
