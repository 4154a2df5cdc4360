import { cellKey } from '../rating/rate-table.ts'
import type { RateTable } from '../rating/events.ts'
import type { Draft, ReleaseCover } from './events.ts'
import { rateChoices } from './rate-choices.ts'

type Table = Pick<RateTable, 'dimensions' | 'cells'>

/** Rates that a quote may need and the cover's rate table lacks: the answer there is `rate_unavailable`. */
export type MissingRates = {
  readonly cover_index: number
  readonly rate_table: string
  readonly version: number
  /** The cells as the table names them, `34|25|n`: the first of them when there are very many. */
  readonly cells: readonly string[]
}

/** More are not looked for. */
export const mostMissing = 1_000

const greatestTerm = 100

/** Every age, term and variant within the limits of each rated cover, for smokers and others, looked up in its table. */
export const missingRates = (
  draft: Draft,
  table: (key: string, version: number) => Table | undefined,
): readonly MissingRates[] =>
  draft.covers.flatMap((cover) => {
    if (cover.pricing_basis !== 'rated' || draft.whole_of_market) return []
    const variants = Map.groupBy(rateChoices(draft, cover), ({ key }) => key)
    return [...variants].flatMap(([key, choices]) => {
      const version = draft.rate_tables[key]
      const published = version === undefined ? undefined : table(key, version)
      if (version === undefined || !published) return []
      const cells = missingCells(
        cover,
        published,
        choices.map(({ variant }) => variant),
      )
      return cells.length === 0 ? [] : [{ cover_index: cover.cover_index, rate_table: key, version, cells }]
    })
  })

const missingCells = (cover: ReleaseCover, table: Table, variants: readonly (string | undefined)[]) => {
  const { dimensions, cells } = table
  const missing = new Set<string>()
  for (const { age, term } of agesAndTerms(cover, dimensions.includes('term')))
    for (const smoker of dimensions.includes('smoker') ? [false, true] : [null])
      for (const variant of dimensions.includes('variant') ? variants : [undefined]) {
        const key = cellKey(dimensions, { age, term, smoker, variant })
        if (key !== undefined && !Object.hasOwn(cells, key)) missing.add(key)
        if (missing.size === mostMissing) return [...missing]
      }
  return [...missing]
}

function* agesAndTerms(cover: ReleaseCover, byTerm: boolean) {
  const { age_at_entry_min, age_at_entry_max, term_years_min, term_years_max, max_age_at_expiry } = cover
  for (let age = age_at_entry_min; age <= Math.min(age_at_entry_max, 120); age++) {
    const left = max_age_at_expiry === null ? Infinity : max_age_at_expiry - age
    const shortest = term_years_min ?? 1
    if (left < shortest) return
    // A table that does not depend on the term is asked once for each age.
    const longest = byTerm ? Math.min(term_years_max ?? 0, left, greatestTerm) : shortest
    for (let term = shortest; term <= longest; term++) yield { age, term }
  }
}
