import { isDeepStrictEqual } from 'node:util'

type Values = Readonly<Record<string, unknown>>

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The names of what is gone. No column or field is called so. */
const gone = '(gone)'

/**
 * What a row, as JSON, has become: the fields that have changed, in objects within it too. The same row before and the same
 * changes always make the same row.
 */
export const changesOf = (before: unknown, after: unknown): unknown => {
  if (!isValues(before) || !isValues(after)) return after
  const changed = Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(before[name], value))
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
  return {
    ...Object.fromEntries(changed.map(([name, value]) => [name, changesOf(before[name], value)])),
    ...(removed.length > 0 && { [gone]: removed }),
  }
}
