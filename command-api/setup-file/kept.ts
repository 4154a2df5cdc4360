import { z } from 'zod'
import { isSameJson } from '#domain/canonical-json.ts'

/** Part of a set-up file as it was written, before a schema added what it leaves out. */
const Written = z.record(z.string(), z.unknown()).catch({})

/** The part of a file at `key` of another part. */
export const writtenAt = (written: unknown, key: string): unknown => Written.parse(written)[key]

export const isLeftOut = (written: unknown, key: string): boolean => !Object.hasOwn(Written.parse(written), key)

/** Parts that the file leaves out of an existing thing stay as they are. */
export const keptWhereLeftOut = <Thing extends object>(
  declared: Thing,
  before: { readonly [Name in keyof Thing]?: Thing[Name] } | null | undefined,
  written: unknown,
  /** The fields that a file can name: by default those that it has. */
  names?: readonly (keyof Thing)[],
): Thing => {
  const kept = { ...declared }
  for (const name in before) {
    const isNamed = names ? names.includes(name) : Object.hasOwn(declared, name)
    const value = before[name]
    if (isNamed && value !== undefined && isLeftOut(written, name)) kept[name] = value
  }
  return kept
}

/** A list that there is, unless it is the one that every organisation begins with: nobody has declared that. */
export const unlessSeeded = <Item>(before: readonly Item[], seeded: readonly Item[]): readonly Item[] =>
  isSameJson(before, seeded) ? [] : before

/** The same of each item of a list that was in it under the same key. Which items there are, the file alone says. */
export const eachKeptWhereLeftOut = <Item extends object>(
  declared: readonly Item[],
  before: readonly Item[] | undefined,
  written: unknown,
  keyOf: (item: Item) => string,
  names?: readonly (keyof Item)[],
): Item[] => {
  const items = z.array(z.unknown()).catch([]).parse(written)
  return declared.map((item, index) => {
    const earlier = before?.find((each) => keyOf(each) === keyOf(item))
    return keptWhereLeftOut(item, earlier, items[index], names)
  })
}
