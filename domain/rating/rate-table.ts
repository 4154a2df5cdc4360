import { z } from 'zod'
import { CurrencyCode } from '../values.ts'
import { entry } from './answers.ts'

/** For example `life.level` or `ip.to65.d13`. */
export const RateTableKey = z
  .string()
  .max(100)
  .regex(/^[a-z0-9_]+(\.[a-z0-9_]+)*$/, 'use lower-case words of letters, digits and _, joined by dots')

/** What a rate may depend on, in the order in which a cell is named. */
export const Dimension = z.enum(['age', 'term', 'smoker', 'variant'])
export type Dimension = z.infer<typeof Dimension>

/**
 * Rates by the values of the dimensions joined by `|` (`34|25|n`): the stored form is the one that is looked up in.
 * `life.level` with its 2,886 cells is 50 kB of JSON.
 */
export const RateCells = z.record(z.string().regex(/^[^|]+(\|[^|]+)*$/), z.int().positive())
export type RateCells = z.infer<typeof RateCells>

/** A version of a rate table. It is never edited: what changes is a new version. */
export const RateTable = z.object({
  key: RateTableKey,
  version: z.int().positive(),
  currency_code: CurrencyCode,
  /** Ten-thousandths of a penny a month for each £1,000 of benefit: the sum assured, or a year of a monthly benefit. */
  unit: z.literal('rate_e4'),
  dimensions: z.array(Dimension).min(1),
  cells: RateCells,
  source_note: z.string(),
})
export type RateTable = z.infer<typeof RateTable>

/** Where in a table to look. What the table does not depend on is not looked at. */
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
