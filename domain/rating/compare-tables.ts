import { entry } from './answers.ts'
import { Dimension, type RateTable } from './events.ts'

export type ComparedTable = Pick<RateTable, 'currency_code' | 'dimensions' | 'cells'>

/** A cell by what it depends on, with its rates in both tables; null: the table has none there. */
export type CellDifference = {
  readonly at: Readonly<Partial<Record<Dimension, string>>>
  readonly before: number | null
  readonly after: number | null
}

/** Cells that differ in one way, and the first few of them. */
type CellDifferences = { readonly count: number; readonly samples: readonly CellDifference[] }

/** The values of a dimension that only one of the tables has. */
export type ValueDifference = {
  readonly dimension: Dimension
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

export type TableComparison = {
  readonly cells_before: number
  readonly cells_after: number
  /** Where they are in different currencies, rates that are equal are different prices. */
  readonly currency_code: { readonly before: string; readonly after: string } | null
  readonly dimensions: { readonly added: readonly Dimension[]; readonly removed: readonly Dimension[] }
  /** Of the dimensions that both have, those with values that differ. */
  readonly values: readonly ValueDifference[]
  readonly added: CellDifferences
  readonly removed: CellDifferences
  /** Those that change most come first. */
  readonly changed: CellDifferences
  /** Of the changed cells, the smallest and the largest rate after for one before; null: none has changed. */
  readonly ratio: { readonly smallest: number; readonly largest: number } | null
}

export const mostSamples = 5

/**
 * The differences of two rate tables. Where they depend on different things no cell of one is a cell of the other: all are removed,
 * and all are added.
 */
export const compareTables = (
  before: ComparedTable,
  after: ComparedTable,
  most: number = mostSamples,
): TableComparison => {
  const isComparable = before.dimensions.join() === after.dimensions.join()
  const keys = { before: Object.keys(before.cells), after: Object.keys(after.cells) }
  const counterpart = (cells: RateTable['cells'], key: string) => (isComparable ? entry(cells, key) : undefined)
  const added: Cell[] = []
  const removed: Cell[] = []
  const changed: Cell[] = []
  for (const key of keys.before) {
    const was = before.cells[key] ?? null
    const is = counterpart(after.cells, key) ?? null
    if (is === null) removed.push({ key, before: was, after: null })
    else if (is !== was) changed.push({ key, before: was, after: is })
  }
  for (const key of keys.after)
    if (counterpart(before.cells, key) === undefined) added.push({ key, before: null, after: after.cells[key] ?? null })

  const some = (cells: readonly Cell[], { dimensions }: ComparedTable, compare = inTheirOrder): CellDifferences => ({
    count: cells.length,
    samples: firstOf(cells, most, compare).map((cell) => named(cell, dimensions)),
  })
  return {
    cells_before: keys.before.length,
    cells_after: keys.after.length,
    currency_code:
      before.currency_code === after.currency_code
        ? null
        : { before: before.currency_code, after: after.currency_code },
    dimensions: {
      added: after.dimensions.filter((each) => !before.dimensions.includes(each)),
      removed: before.dimensions.filter((each) => !after.dimensions.includes(each)),
    },
    values: valueDifferences(
      { dimensions: before.dimensions, keys: keys.before },
      { dimensions: after.dimensions, keys: keys.after },
    ),
    added: some(added, after),
    removed: some(removed, before),
    changed: some(changed, after, (one, other) => sizeOf(other) - sizeOf(one) || inTheirOrder(one, other)),
    ratio: ratioOf(changed),
  }
}

/** True where every price that is made with one is made with the other. */
export const isSameTable = ({ currency_code, added, removed, changed }: TableComparison): boolean =>
  currency_code === null && added.count === 0 && removed.count === 0 && changed.count === 0

type Cell = { readonly key: string; readonly before: number | null; readonly after: number | null }

const named = ({ key, before, after }: Cell, dimensions: readonly Dimension[]): CellDifference => {
  const values = key.split('|')
  return {
    at: Object.fromEntries(dimensions.map((dimension, index) => [dimension, values[index] ?? ''])),
    before,
    after,
  }
}

/** Twice as much and half as much are changes of one size. */
const sizeOf = ({ before, after }: Cell): number => {
  const [one, other] = [before ?? 1, after ?? 1]
  return Math.max(one, other) / Math.min(one, other)
}

const ratioOf = (changed: readonly Cell[]): TableComparison['ratio'] => {
  let [smallest, largest] = [Infinity, 0]
  for (const { before, after } of changed) {
    const ratio = (after ?? 1) / (before ?? 1)
    smallest = Math.min(smallest, ratio)
    largest = Math.max(largest, ratio)
  }
  return changed.length === 0 ? null : { smallest, largest }
}

const valueDifferences = (before: Axes, after: Axes): readonly ValueDifference[] => {
  const held = { before: valuesOf(before), after: valuesOf(after) }
  return Dimension.options.flatMap((dimension) => {
    const [was, is] = [held.before.get(dimension), held.after.get(dimension)]
    if (!was || !is) return []
    const only = (some: ReadonlySet<string>, others: ReadonlySet<string>) =>
      [...some].filter((value) => !others.has(value)).toSorted(compareValues)
    const difference = { dimension, added: only(is, was), removed: only(was, is) }
    return difference.added.length + difference.removed.length === 0 ? [] : [difference]
  })
}

type Axes = { readonly dimensions: readonly Dimension[]; readonly keys: readonly string[] }

const valuesOf = ({ dimensions, keys }: Axes): ReadonlyMap<Dimension, ReadonlySet<string>> => {
  const values = dimensions.map((dimension) => [dimension, new Set<string>()] as const)
  for (const key of keys) key.split('|').forEach((value, index) => values[index]?.[1].add(value))
  return new Map(values)
}

/** The first few in an order; tables are large, and few are wanted. */
const firstOf = <Item>(
  items: readonly Item[],
  count: number,
  compare: (one: Item, other: Item) => number,
): readonly Item[] => {
  if (items.length <= count) return items.toSorted(compare)
  const first: Item[] = []
  for (const item of items) {
    const last = first.at(-1)
    if (first.length === count && (last === undefined || compare(item, last) >= 0)) continue
    const place = first.findIndex((each) => compare(item, each) < 0)
    first.splice(place === -1 ? first.length : place, 0, item)
    if (first.length > count) first.pop()
  }
  return first
}

const inTheirOrder = ({ key: one }: Cell, { key: other }: Cell): number => {
  const [values, others] = [one.split('|'), other.split('|')]
  for (const [index, value] of values.entries()) {
    const order = compareValues(value, others[index] ?? '')
    if (order !== 0) return order
  }
  return 0
}

/** Numbers by their size, and before words. */
const compareValues = (one: string, other: string): number => {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)]
  if (isNumber && isOtherNumber) return Number(one) - Number(other)
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return one < other ? -1 : one > other ? 1 : 0
}
