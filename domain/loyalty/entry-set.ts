/**
 * The entries of a membership by their ids: a tree of small nodes, of which a new entry copies three, so that a hundred
 * thousand entries can be folded one by one.
 */
export type EntrySet = {
  readonly size: number
  /** About how much memory it takes, for caches: it is not worth walking through. */
  readonly approximate_bytes: number
  readonly nodes: Nodes
}

/** What a repeated entry is answered with. */
export type Entry = { readonly id: string; readonly points: number | null; readonly tier_key: string | null }

type Nodes = Readonly<Record<string, Readonly<Record<string, readonly Entry[]>>>>

const bytesPerEntry = 160

export const noEntries: EntrySet = { size: 0, approximate_bytes: 0, nodes: {} }

// Ids are UUIDv5, so that their digits are spread evenly.
const placeOf = (id: string): readonly [string, string] => [id.slice(0, 2), id.slice(2, 4)]

export const findEntry = ({ nodes }: EntrySet, id: string): Entry | undefined => {
  const [first, second] = placeOf(id)
  return nodes[first]?.[second]?.find((entry) => entry.id === id)
}

export const withEntry = ({ size, approximate_bytes, nodes }: EntrySet, entry: Entry): EntrySet => {
  const [first, second] = placeOf(entry.id)
  const node = nodes[first] ?? {}
  return {
    size: size + 1,
    approximate_bytes: approximate_bytes + bytesPerEntry,
    nodes: { ...nodes, [first]: { ...node, [second]: [...(node[second] ?? []), entry] } },
  }
}

export const entriesIn = ({ nodes }: EntrySet): readonly Entry[] =>
  Object.values(nodes).flatMap((node) => Object.values(node).flat())
