import { z } from 'zod'

/** The state of a fold: a map, or several by name. Their values are JSON, so that a snapshot holds all there is. */
export type FoldState = Map<string, unknown> | { readonly [name: string]: Map<string, unknown> }

// Read and parsed at each start, and written by a process that serves requests meanwhile.
const maximumBytes = 16_000_000

const Entries = z.array(z.tuple([z.string(), z.unknown()]))
const Saved = z.union([Entries, z.record(z.string(), Entries)])

const mapsOf = (state: FoldState): Readonly<Record<string, Map<string, unknown>>> =>
  state instanceof Map ? { '': state } : state

export const clearState = (state: FoldState): void => {
  for (const map of Object.values(mapsOf(state))) map.clear()
}

/** Fills an empty state with what was written of one. */
export const fillState = (state: FoldState, text: string): void => {
  const saved = Saved.parse(JSON.parse(text))
  const entries = Array.isArray(saved) ? { '': saved } : saved
  for (const [name, map] of Object.entries(mapsOf(state)))
    for (const [key, value] of entries[name] ?? []) map.set(key, value)
}

/** A state as JSON, or undefined when it is too large: no more of it is written than it takes to see this. */
export const writtenState = (state: FoldState): string | undefined => {
  const parts: string[] = []
  let bytes = 0
  for (const [name, map] of Object.entries(mapsOf(state))) {
    const entries: string[] = []
    for (const entry of map) {
      const text = JSON.stringify(entry)
      bytes += Buffer.byteLength(text)
      if (bytes > maximumBytes) return undefined
      entries.push(text)
    }
    parts.push(state instanceof Map ? `[${entries.join()}]` : `${JSON.stringify(name)}:[${entries.join()}]`)
  }
  return state instanceof Map ? parts.join() : `{${parts.join()}}`
}
