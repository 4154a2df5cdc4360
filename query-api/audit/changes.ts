import { changesOf, type Change } from '#domain/changes.ts'
import type { Json } from '#domain/event.ts'

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

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
