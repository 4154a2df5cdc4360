import type { Json } from './event.ts'

/** A value that an event changed; undefined: there was, or is, none. */
export type Change = { readonly path: string; readonly before: unknown; readonly after: unknown }

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

const below = (path: string, name: string, isPlace: boolean): string =>
  isPlace ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`

/** The differences between two values, by their paths: `premiums.3f1b….status`, `components[0].term_years`. */
export const changesOf = (before: unknown, after: unknown, path = ''): readonly Change[] => {
  if (before === after) return []
  if (!isObject(before) || !isObject(after) || Array.isArray(before) !== Array.isArray(after))
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }]
  const isPlace = Array.isArray(before)
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => changesOf(before[name], after[name], below(path, name, isPlace)))
}
