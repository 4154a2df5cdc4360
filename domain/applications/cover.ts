import { z } from 'zod'
import type { ReleaseCover } from '../catalogue/events.ts'
import type { Fields } from '../rejection.ts'
import { CoverId, Pence } from '../values.ts'
import type { ComponentChoice } from './events.ts'

/** The amount, the term and the chosen covers. */
export type Cover = {
  readonly cover_amount_pence: number | null
  readonly term_years: number | null
  readonly components: readonly ComponentChoice[]
}

export const ComponentInput = z.object({
  cover_id: CoverId.nullish(),
  cover_index: z.int().min(0).nullish().describe('Names the cover by its place in the product, instead of `cover_id`.'),
  cover_amount_pence: Pence.nullish(),
  term_years: z.int().nullish(),
  selected: z.boolean().nullish(),
})
export type ComponentInput = z.infer<typeof ComponentInput>

/** The parts that were sent; an undefined one stays. */
export type CoverInput = {
  readonly cover_amount_pence?: number | null | undefined
  readonly term_years?: number | null | undefined
  readonly components?: readonly ComponentInput[] | undefined
}

type Covers = readonly ReleaseCover[]
type Limits = { readonly min: number; readonly max: number }
type Reason = readonly [input: string, reason: string]

/** The cover after sent figures, and reasons against them. Ages are checked later, when the application is quoted. */
export const changeCover = (
  covers: Covers,
  held: Cover,
  { cover_amount_pence = held.cover_amount_pence, term_years = held.term_years, components }: CoverInput,
): { readonly cover: Cover; readonly fields: Fields } => {
  const chosen = components && chooseComponents(covers, components)
  const reasons = [
    ...outside('cover_amount_pence', cover_amount_pence, amountLimits(covers), noAmount),
    ...outside('term_years', term_years, termLimits(covers), noTerm),
    ...(chosen?.reasons ?? []),
  ]
  return {
    cover: { cover_amount_pence, term_years, components: chosen?.choices ?? held.components },
    fields: Object.fromEntries(reasons),
  }
}

const chooseComponents = (covers: Covers, components: readonly ComponentInput[]) => {
  const named = components.map((component) => ({ component, cover: coverOf(covers, component) }))
  const reasons = named.flatMap(({ component, cover }, index): readonly Reason[] => {
    const input = `components[${index}]`
    if (!cover) return [unknownCover(input, component)]
    if (named.findIndex((other) => other.cover === cover) < index)
      return [[`${input}.${namedBy(component)}`, 'names the same cover as an earlier component']]
    return [
      ...outside(`${input}.cover_amount_pence`, component.cover_amount_pence, amountLimits([cover]), noAmount),
      ...outside(`${input}.term_years`, component.term_years, termLimits([cover]), noTerm),
    ]
  })
  const choices = named.flatMap(({ component, cover }) => (cover ? [choiceOf(component, cover)] : []))
  return { choices, reasons }
}

const isNamed = ({ cover_id, cover_index }: ComponentInput): boolean => (cover_id ?? cover_index ?? null) !== null

const coverOf = (covers: Covers, component: ComponentInput): ReleaseCover | undefined =>
  isNamed(component)
    ? covers.find(
        ({ id, cover_index }) =>
          (component.cover_id ?? id) === id && (component.cover_index ?? cover_index) === cover_index,
      )
    : undefined

/** The input that names the cover, of those that were sent. */
const namedBy = ({ cover_id }: ComponentInput): 'cover_id' | 'cover_index' =>
  (cover_id ?? null) === null ? 'cover_index' : 'cover_id'

const unknownCover = (input: string, component: ComponentInput): Reason =>
  isNamed(component)
    ? [`${input}.${namedBy(component)}`, 'is not a cover of this product']
    : [`${input}.cover_id`, 'is needed: name the cover by cover_id or cover_index']

const choiceOf = (component: ComponentInput, { id }: ReleaseCover): ComponentChoice => ({
  cover_id: id,
  cover_amount_pence: component.cover_amount_pence ?? null,
  term_years: component.term_years ?? null,
  selected: component.selected ?? null,
})

const noAmount = 'is not wanted here: the price does not depend on an amount'
const noTerm = 'is not wanted here: there is no fixed term'

/** The covers of a product may differ: together they allow what at least one of them allows. */
const amountLimits = (covers: Covers): Limits | undefined =>
  span(
    covers
      .filter(({ pricing_basis }) => pricing_basis !== 'per_member')
      .map(({ sum_assured_min_pence: min, sum_assured_max_pence: max }) => ({ min, max })),
  )

const termLimits = (covers: Covers): Limits | undefined =>
  span(
    covers.flatMap(({ term_years_min: min, term_years_max: max }) =>
      min === null || max === null ? [] : [{ min, max }],
    ),
  )

const span = (limits: readonly Limits[]): Limits | undefined =>
  limits.length === 0
    ? undefined
    : { min: Math.min(...limits.map(({ min }) => min)), max: Math.max(...limits.map(({ max }) => max)) }

const outside = (
  input: string,
  value: number | null | undefined,
  limits: Limits | undefined,
  unwanted: string,
): readonly Reason[] => {
  if (value === null || value === undefined) return []
  if (!limits) return [[input, unwanted]]
  const isInside = value >= limits.min && value <= limits.max
  if (isInside) return []
  return [[input, limits.min === limits.max ? `must be ${limits.min}` : `must be from ${limits.min} to ${limits.max}`]]
}
