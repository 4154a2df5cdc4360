import type { Json } from '#domain/event.ts'

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

/** The value at a path, and whether there is one. */
const holds = (state: unknown, names: readonly string[]): boolean => {
  let part = state
  for (const name of names) {
    if (!isObject(part) || !Object.hasOwn(part, name)) return false
    part = part[name]
  }
  return true
}

const namesIn = (path: string): readonly string[] => path.split(/[.[\]]+/).filter((name) => name !== '')

/** The longest part of a path that can be told: below it, a name itself may be personal. */
const toldPath = (path: string, masked: readonly unknown[]): string => {
  const names = namesIn(path)
  for (let length = names.length; length > 0; length -= 1) {
    const some = names.slice(0, length)
    if (masked.some((state) => holds(state, some))) return some.join('.')
  }
  return names[0] ?? ''
}

export type ShownChange = Change & { readonly masked: boolean }

type States = { readonly before: Json; readonly after: Json }

/**
 * The changes that an event made, without what is personal: the record is folded from the events as they are, and once more from what is left
 * of them when the person is erased. A change is shown where both say the same, and else only its place.
 */
export const maskedChanges = (whole: States, masked: States): readonly ShownChange[] => {
  const left = new Map(changesOf(masked.before, masked.after).map((change) => [change.path, change]))
  const hidden = new Set<string>()
  const shown: ShownChange[] = []
  for (const change of changesOf(whole.before, whole.after)) {
    const same = left.get(change.path)
    if (same && JSON.stringify(same) === JSON.stringify(change)) shown.push({ ...change, masked: false })
    else hidden.add(toldPath(change.path, [masked.before, masked.after]))
  }
  return [...shown, ...[...hidden].map((path) => ({ path, before: null, after: null, masked: true }))]
}
