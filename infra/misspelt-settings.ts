import { describeConfig } from './config.ts'
import type { Log } from './log.ts'

/** Short names are like many others that are no fault. */
const shortest = 6
const mostDifferences = 2

/** The number of letters to change, put in, leave out or swap with their neighbour to make one word the other. */
const differences = (one: string, other: string): number => {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= one.length; row++) {
    rows[row] = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      rows[row]?.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (one[row - 1] === other[column - 1] ? 0 : 1),
          isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
  }
  return at(one.length, other.length)
}

/** Variables that are none of ours and resemble one, with the one that is probably meant. */
export const meantSettings = (
  environment: NodeJS.ProcessEnv,
): readonly { readonly variable: string; readonly meant: string }[] => {
  const ours = describeConfig().map(({ name }) => name)
  return Object.keys(environment).flatMap((variable) => {
    if (ours.includes(variable) || variable.length < shortest) return []
    const meant = ours.find(
      (name) =>
        Math.abs(name.length - variable.length) <= mostDifferences &&
        name.length >= shortest &&
        differences(variable.toUpperCase(), name) <= mostDifferences,
    )
    return meant === undefined ? [] : [{ variable, meant }]
  })
}

/** Says at the start which variables were probably meant for us: what is not known is ignored. */
export const nameMeantSettings = (log: Pick<Log, 'warn'>, environment = process.env): void => {
  for (const each of meantSettings(environment))
    log.warn(each, `${each.variable} is not a setting and is ignored: is ${each.meant} meant?`)
}
