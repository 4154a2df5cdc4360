import { z } from 'zod'
import { daysAfter } from '#domain/dates.ts'
import type { RecordedEvent } from '#domain/event.ts'
import { evolvePolicy, PolicyRecord, policyStreamEvents, type PolicyStreamEvent } from '#domain/policies/record.ts'
import { PolicyNumber } from '#domain/policies/events.ts'
import { dateIn, startOfDayIn } from '#domain/time-zone.ts'
import { CalendarDate, CustomerId, PolicyId, ProductId, ReleaseId } from '#domain/values.ts'
import type { Route } from '#infra/http/route.ts'
import { personalParameter } from '../event.ts'
import { listRoute, type ListDeps } from './list.ts'
import { foldOf, readStreams, toldBy, type Told } from './walk.ts'

const PolicyInForce = z
  .object({
    policy_id: PolicyId,
    policy_number: PolicyNumber,
    customer_id: CustomerId,
    first_name: z.string().nullable().describe('null where it is masked, and of a person who was erased.'),
    last_name: z.string().nullable(),
    product_id: ProductId,
    product_release_id: ReleaseId,
    status: z.string().describe('At the end of that day.'),
    start_date: CalendarDate,
    end_date: CalendarDate.nullable(),
    currency_code: z.string(),
    premium_pence: z.int().describe('A month, at the end of that day.'),
    cover_amount_pence: z.int().nullable(),
    bound_at: z.iso.datetime(),
    test: z.boolean(),
  })
  .meta({ id: 'PolicyInForce' })
type PolicyInForce = z.input<typeof PolicyInForce>

type Event = Told<typeof policyStreamEvents>

/** The day from which an event ends cover. */
const endBy = (event: PolicyStreamEvent): string | undefined => {
  if (event.type === 'PolicyCancelled') return event.effective_on
  if (event.type === 'PolicyLapsed') return event.lapsed_on
  return event.type === 'PolicyEndedByClaim' ? event.ended_on : undefined
}

/**
 * Cover was on then, by all that is known: by the days that events name, not by when they were recorded, since what is recorded
 * later may tell of that day, too.
 */
const isCovered = ({ start_date, end_date, time_zone }: PolicyRecord, told: readonly Event[], on: string): boolean => {
  if (on < start_date || (end_date !== null && on >= end_date)) return false
  let endedOn: string | undefined
  for (const { event, recorded } of told) {
    endedOn = endBy(event) ?? endedOn
    if (event.type !== 'PolicyReinstated' || endedOn === undefined) continue
    if (on >= endedOn && on < dateIn(time_zone, recorded.metadata.occurred_at)) return false
    endedOn = undefined
  }
  return endedOn === undefined || on < endedOn
}

/** The policy as it stood at the end of that day, where it was in force. */
const inForceOn = (events: readonly RecordedEvent[] | undefined, on: string): PolicyRecord | undefined => {
  const told = toldBy(policyStreamEvents, events)
  const policy = foldOf(told, evolvePolicy)
  if (!policy || !isCovered(policy, told, on)) return undefined
  if (on === lastDay) return policy
  const end = startOfDayIn(policy.time_zone, daysAfter(on, 1))
  return foldOf(
    told.filter(({ recorded }) => Date.parse(recorded.metadata.occurred_at) < Date.parse(end)),
    evolvePolicy,
  )
}

/** After it there is none that a date can name. */
const lastDay = '9999-12-31'

const rowOf = (policy: PolicyRecord, isOpened: boolean): PolicyInForce => ({
  policy_id: policy.id,
  policy_number: policy.policy_number,
  customer_id: policy.customer.id,
  first_name: isOpened ? policy.customer.first_name : null,
  last_name: isOpened ? policy.customer.last_name : null,
  product_id: policy.product_id,
  product_release_id: policy.product_release_id,
  status: policy.status,
  start_date: policy.start_date,
  end_date: policy.end_date,
  currency_code: policy.currency_code,
  premium_pence: policy.premium_pence,
  cover_amount_pence: policy.cover_amount_pence,
  bound_at: policy.created_at,
  test: policy.test,
})

/** The policies that were in force on a day, as it was known at a moment. */
export const policiesInForceRoute = (deps: ListDeps): Route =>
  listRoute(deps, {
    name: 'policies_in_force',
    summary: 'List the policies that were in force on a day, as it was known at a moment, the newest first',
    filters: {
      on: CalendarDate.describe('The day, where the organisation is.'),
      personal: personalParameter,
    },
    kinds: ['PolicyBound'],
    row: PolicyInForce,
    example: { on: '2026-03-31' },
    columns: Object.keys(PolicyInForce.shape),
    linesOf: (row) => [row],
    rowsOf: async (past, rows, { on, personal }) => {
      const streams = await readStreams(
        past,
        rows.map(({ stream }) => stream),
      )
      return rows.map(({ stream }) => {
        const policy = inForceOn(streams.get(stream), on)
        return policy && rowOf(policy, personal === 'opened')
      })
    },
  })
