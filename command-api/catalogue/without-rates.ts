import { mostMissing, type MissingRates } from '#domain/catalogue/missing-rates.ts'
import type { RateTable } from '#domain/rating/events.ts'

/** The most cells of a table that are named. */
const mostNamed = 50

/** The prices that a cover lacks: the ages, terms and so on for which its table has no rate at all, then single cells. */
export const withoutRates = (
  { cover_index, rate_table, version, cells }: MissingRates,
  { dimensions, cells: rates }: Pick<RateTable, 'dimensions' | 'cells'>,
): string => {
  const held = valuesOf(Object.keys(rates), dimensions.length)
  const absent = valuesOf(cells, dimensions.length).map((values, at) =>
    [...values].filter((value) => !held[at]?.has(value)),
  )
  const single = cells.filter((cell) => !cell.split('|').some((value, at) => absent[at]?.includes(value)))
  const more = single.length - mostNamed
  const said = [
    ...absent.flatMap((values, at) =>
      values.length === 0 ? [] : [`has no rate at all for ${dimensions[at]} ${inRanges(values)}`],
    ),
    ...(single.length === 0
      ? []
      : [`lacks ${single.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`]),
    ...(cells.length === mostMissing ? ['more was not looked for'] : []),
  ]
  return `covers[${cover_index}] cannot be priced everywhere: ${rate_table} version ${version} ${said.join('; ')}`
}

/** The values in these cells, by dimension. */
const valuesOf = (cells: readonly string[], count: number): readonly ReadonlySet<string>[] => {
  const values = Array.from({ length: count }, () => new Set<string>())
  for (const cell of cells) cell.split('|').forEach((value, at) => values[at]?.add(value))
  return values
}

/** `11, 12, 13, 15` as `11 to 13, 15`. */
export const inRanges = (values: readonly string[]): string => {
  const numbers = values.map(Number)
  if (!numbers.every(Number.isInteger)) return values.join(', ')
  const ranges: [number, number][] = []
  for (const number of numbers.toSorted((one, other) => one - other)) {
    const last = ranges.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`)).join(', ')
}
