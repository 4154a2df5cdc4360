import type { EntryType } from './record.ts'

/**
 * The entries of a membership by their ids: a tree of small nodes, of which a new entry copies four, so that a hundred
 * thousand entries can be folded one by one.
 */
export type EntrySet = {
  readonly size: number
  /** An estimate of its memory, for caches: it is not worth walking through. */
  readonly approximate_bytes: number
  readonly nodes: Nodes
}

/** The answer to a repeated entry. */
export type Entry = {
  readonly id: string
  readonly entry_type: EntryType
  readonly points: number | null
  readonly tier_key: string | null
}

type Branch<Child> = Readonly<Record<string, Child>>
type Nodes = Branch<Branch<Branch<readonly Entry[]>>>

const bytesPerEntry = 160

export const noEntries: EntrySet = { size: 0, approximate_bytes: 0, nodes: {} }

// Ids are UUIDv5, so that their digits are spread evenly. Each node has sixteen children at most: larger ones take long to copy.
const branchOf = (id: string): readonly [string, string, string] => [id.slice(0, 1), id.slice(1, 2), id.slice(2, 3)]

export const findEntry = ({ nodes }: EntrySet, id: string): Entry | undefined => {
  const [first, second, third] = branchOf(id)
  return nodes[first]?.[second]?.[third]?.find((entry) => entry.id === id)
}

export const withEntry = ({ size, approximate_bytes, nodes }: EntrySet, entry: Entry): EntrySet => {
  const [first, second, third] = branchOf(entry.id)
  const node = nodes[first] ?? {}
  const below = node[second] ?? {}
  const leaf = [...(below[third] ?? []), entry]
  return {
    size: size + 1,
    approximate_bytes: approximate_bytes + bytesPerEntry,
    nodes: { ...nodes, [first]: { ...node, [second]: { ...below, [third]: leaf } } },
  }
}

export const entriesIn = ({ nodes }: EntrySet): readonly Entry[] =>
  Object.values(nodes).flatMap((node) => Object.values(node).flatMap((below) => Object.values(below).flat()))
