import { policyEvents } from '#domain/policies/events.ts'
import { sampleEvent } from '../stored-events/samples.ts'

/** A policy sold at 34 for 25 years from 2 February 2026, whose premium is reviewed every five years. */
export const sold = sampleEvent(policyEvents, 'PolicyBound', 2)
const [life] = sold.components
if (!life) throw new Error('The sample covers nothing.')

type Component = typeof life
export const reviewable = { premium_basis: 'reviewable', review_period_years: 5 } as const
const componentOf = (changes: Partial<Component> = {}): Component => ({
  ...life,
  ...reviewable,
  cover_amount_pence: 25_000_000,
  term_years: 25,
  expires_on: '2051-02-02',
  premium_pence: 950,
  ...changes,
})
export type Bound = typeof sold
export const bound = (components: readonly Partial<Component>[] = [{}], changes: Partial<Bound> = {}): Bound => ({
  ...sold,
  time_zone: 'Europe/London',
  start_date: '2026-02-02',
  end_date: '2051-02-02',
  next_review_on: '2031-02-02',
  next_indexation_on: null,
  components: components.map((each, cover_index) => componentOf({ ...each, cover_index })),
  ...changes,
})
