import { Rejection } from '../rejection.ts'
import { dateIn, startOfDayIn } from '../time-zone.ts'
import type { BankCalendar } from '../working-days.ts'
import { dueOnOtherDay } from '../premiums/collection.ts'
import { yearsAfter } from '../dates.ts'
import { hasEnded } from './ended.ts'
import type { PolicyEvent, PolicyTerms } from './events.ts'
import type { PolicyState } from './state.ts'

/** A change to a cover; a null field stays as it is. */
export type ComponentChange = {
  readonly cover_index: number
  readonly cover_amount_pence: number | null
  readonly premium_pence: number | null
}

/** The operator's acts. */
export type AmendPolicy = {
  readonly type: 'AmendPolicy'
  readonly components: readonly ComponentChange[]
  readonly collection_day: number | null
  /** The product's collection days of the month. */
  readonly collection_days: readonly number[]
  readonly calendar: BankCalendar
  readonly note: string | null
  readonly now: string
}
export type ReviewPolicy = {
  readonly type: 'ReviewPolicy'
  readonly components: readonly ComponentChange[]
  readonly now: string
}

type Decision = readonly PolicyEvent[]

const refuseEnded = (policy: PolicyState): void => {
  if (hasEnded(policy)) throw new Rejection('conflict', `This policy has ended (${policy.status}).`)
}

const refuseUnusable = (policy: PolicyState, changes: readonly ComponentChange[]): void => {
  const fields = changes.flatMap(({ cover_index }, place) => {
    const isKnown = policy.components.some((component) => component.cover_index === cover_index)
    const isAgain = changes.findIndex((change) => change.cover_index === cover_index) < place
    const hasItEnded = policy.ended_covers.includes(cover_index)
    if (isKnown && !isAgain && !hasItEnded) return []
    const unknown = isKnown ? 'the term of this cover is over' : `this policy has no cover ${cover_index}`
    return [[`components[${place}].cover_index`, isAgain ? 'this cover was named before' : unknown] as const]
  })
  if (fields.length > 0)
    throw new Rejection(
      'validation_failed',
      'Correct components and send the request again.',
      Object.fromEntries(fields),
    )
}

/** The terms after some covers have changed; all else that the premium holds, such as the fee, stays. */
export const termsWith = (policy: PolicyState, changes: readonly ComponentChange[]): PolicyTerms => {
  refuseUnusable(policy, changes)
  const components = policy.components.map((component) => {
    const change = changes.find(({ cover_index }) => cover_index === component.cover_index)
    const cover_amount_pence = change?.cover_amount_pence ?? component.cover_amount_pence
    const isMonthly = component.monthly_benefit_pence !== null && cover_amount_pence !== null
    return {
      cover_index: component.cover_index,
      cover_amount_pence,
      monthly_benefit_pence: isMonthly ? Math.floor(cover_amount_pence / 12) : component.monthly_benefit_pence,
      premium_pence: change?.premium_pence ?? component.premium_pence,
    }
  })
  const sum = (parts: readonly { readonly premium_pence: number }[]) =>
    parts.reduce((total, { premium_pence }) => total + premium_pence, 0)
  const premium_pence = policy.premium_pence + sum(components) - sum(policy.components)
  return { premium_pence, annual_premium_pence: 12 * premium_pence, components }
}

export const amendPolicy = (command: AmendPolicy, policy: PolicyState): Decision => {
  refuseEnded(policy)
  const { collection_days, calendar, note, now } = command
  const { collection_day: former, time_zone } = policy
  const day = command.collection_day ?? former
  if (day !== former && !collection_days.includes(day))
    throw new Rejection('validation_failed', 'Choose another day of collection and send the request again.', {
      collection_day: `must be one of ${collection_days.join(', ')}`,
    })
  const terms = termsWith(policy, command.components)
  const next_collection_on = day === former ? policy.next_collection_on : dueOnOtherDay(policy, day, now, calendar)
  const isSame =
    day === former &&
    terms.components.every((term) =>
      policy.components.some(
        (component) =>
          component.cover_index === term.cover_index &&
          component.cover_amount_pence === term.cover_amount_pence &&
          component.premium_pence === term.premium_pence,
      ),
    )
  if (isSame) return []
  return [
    {
      type: 'PolicyAmended',
      customer_id: policy.customer.id,
      ...terms,
      collection_day: day,
      next_collection_on,
      next_collection_at: next_collection_on === null ? null : startOfDayIn(time_zone, next_collection_on),
      note,
    },
  ]
}

/**
 * Concludes a review that is due. One that was priced by itself can be concluded otherwise: then the next one is due when
 * it was.
 */
export const reviewPolicy = ({ components, now }: ReviewPolicy, policy: PolicyState): Decision => {
  refuseEnded(policy)
  const { next_review_on: review_on, time_zone, review_priced_on } = policy
  const isDue = review_on !== null && review_on <= dateIn(time_zone, now)
  if (!isDue && review_priced_on === null)
    throw new Rejection(
      'conflict',
      review_on === null ? 'The premiums of this policy are guaranteed.' : `A review is due on ${review_on}.`,
    )
  const next = isDue ? reviewAfter(policy, review_on) : reviewOn(policy, review_on)
  return [{ type: 'PolicyReviewed', ...termsWith(policy, components), ...next }]
}

export const reviewPeriods = ({ components }: Pick<PolicyState, 'components'>): readonly number[] =>
  components.flatMap(({ premium_basis, review_period_years }) =>
    premium_basis === 'reviewable' && review_period_years !== null ? [review_period_years] : [],
  )

/** The next review is as long after this one as the shortest period of its covers. */
export const reviewAfter = (policy: PolicyState, review_on: string) => {
  const next = yearsAfter(review_on, Math.min(...reviewPeriods(policy)))
  return reviewOn(policy, policy.end_date !== null && next >= policy.end_date ? null : next)
}

const reviewOn = ({ time_zone }: PolicyState, next_review_on: string | null) => ({
  next_review_on,
  next_review_at: next_review_on === null ? null : startOfDayIn(time_zone, next_review_on),
})
