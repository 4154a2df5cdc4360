import type { Stage } from './records.ts'

/** The unit of a number, by the key of its question, where the set-up says one. */
export type Units = Readonly<Record<string, string>>

export const unitsOf = (stages: readonly Stage[]): Units =>
  Object.assign({}, ...stages.map(({ config }) => config['units'])) as Units // of any stage's config, as the API has it

/** Two units in which people know the same measure: so many of the smaller make one of the larger. */
export type Known = {
  readonly said: string
  readonly larger: { readonly label: string; readonly sign: string }
  readonly smaller: { readonly label: string; readonly sign: string }
  readonly inLarger: number
  /** The smaller in the unit of the question. */
  readonly size: number
}

export const known: Readonly<Record<string, Known>> = {
  cm: {
    said: 'Or in feet and inches',
    larger: { label: 'Feet', sign: 'ft' },
    smaller: { label: 'Inches', sign: 'in' },
    inLarger: 12,
    size: 2.54,
  },
  kg: {
    said: 'Or in stones and pounds',
    larger: { label: 'Stones', sign: 'st' },
    smaller: { label: 'Pounds', sign: 'lb' },
    inLarger: 14,
    size: 0.453_592_37,
  },
}

type Pair = readonly [larger: number, smaller: number]

/** 178 cm are 5 feet and 10 inches. */
export const inKnown = (unit: string, value: number): Pair | undefined => {
  const measure = known[unit]
  if (!measure) return undefined
  const all = Math.round(value / measure.size)
  return [Math.floor(all / measure.inLarger), all % measure.inLarger]
}

/** Whole, or to one decimal. */
export const fromKnown = (unit: string, [larger, smaller]: Pair, isWhole: boolean): number => {
  const { inLarger = 1, size = 1 } = known[unit] ?? {}
  const value = (larger * inLarger + smaller) * size
  return isWhole ? Math.round(value) : Math.round(value * 10) / 10
}

/** `178 cm (5 ft 10 in)`. */
export const measured = (value: number, unit: string): string => {
  const pair = inKnown(unit, value)
  const measure = known[unit]
  const shown = `${value.toLocaleString('en-GB')} ${unit}`
  return pair && measure ? `${shown} (${pair[0]} ${measure.larger.sign} ${pair[1]} ${measure.smaller.sign})` : shown
}
