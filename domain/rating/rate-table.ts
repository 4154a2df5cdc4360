import { entry } from './answers.ts'
import type { Dimension, RateTable } from './events.ts'

/** A place in a table. Values that the table does not depend on are ignored. */
export type RatePoint = {
  readonly age: number
  readonly term: number | null
  readonly smoker: boolean | null
  readonly variant: string | undefined
}

/** `34|25|n`; undefined where the point lacks something that the table depends on. */
export const cellKey = (dimensions: readonly Dimension[], point: RatePoint): string | undefined => {
  let key = ''
  for (const dimension of dimensions) {
    const value = valueAt(dimension, point)
    if (value === undefined) return undefined
    key += key === '' ? value : `|${value}`
  }
  return key
}

/** The values by which a cell is found, by what they are of: `{ age: '34', term: '25', smoker: 'n' }`. */
export const valuesAt = (dimensions: readonly Dimension[], point: RatePoint): Readonly<Record<string, string>> =>
  Object.fromEntries(dimensions.map((dimension) => [dimension, String(valueAt(dimension, point) ?? '')]))

const valueAt = (dimension: Dimension, point: RatePoint) => {
  switch (dimension) {
    case 'age':
      return point.age
    case 'term':
      return point.term ?? undefined
    case 'smoker':
      return point.smoker === null ? undefined : point.smoker ? 's' : 'n'
    case 'variant':
      return point.variant
  }
}

export const rateAt = ({ dimensions, cells }: RateTable, point: RatePoint): number | undefined => {
  const key = cellKey(dimensions, point)
  return key === undefined ? undefined : entry(cells, key)
}
