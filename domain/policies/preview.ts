import { z } from 'zod'
import { callPremium } from '../premiums/collect.ts'
import { PremiumId } from '../premiums/events.ts'
import { PremiumStatus } from '../premiums/record.ts'
import { startOfDayIn } from '../time-zone.ts'
import { CalendarDate, CoverType, Pence } from '../values.ts'
import type { BankCalendar } from '../working-days.ts'
import { MandateStatus } from './events.ts'
import { policy, type PolicyCommand } from './policy.ts'
import { PolicyComponent, PolicyStatus } from './shown.ts'
import type { PolicyStreamEvent } from './record.ts'
import { evolvePolicyState, type PolicyState } from './state.ts'

const Side = z
  .object({
    status: PolicyStatus,
    covers: z.array(
      z.object({
        cover_index: z.int(),
        cover_type: CoverType,
        status: PolicyComponent.shape.status,
        cover_amount_pence: Pence.nullable(),
        premium_pence: Pence.describe('A month.'),
        ends_on: CalendarDate.nullable(),
      }),
    ),
    premium_pence: Pence.describe('A month.'),
    collection_day: z.int(),
    mandate_status: MandateStatus,
    collections: z
      .array(z.object({ due_on: CalendarDate, amount_pence: Pence }))
      .describe('The next premiums, up to three, as the terms stand: none once nothing is due any more.'),
    open_premiums: z
      .array(z.object({ premium_id: PremiumId, due_on: CalendarDate, amount_pence: Pence, status: PremiumStatus }))
      .describe('Premiums that are being collected, or have failed and may be collected again.'),
  })
  .meta({ id: 'PolicyBesideAct' })

/** The effect of an act on the money and the cover of a policy. */
export const PolicyPreview = z
  .object({
    is_new: z.boolean().describe('False: it is so already, and nothing would change.'),
    before: Side,
    after: Side,
    refund_pence: Pence.describe('To be given back because of it, in all.'),
    refunds: z.array(z.object({ premium_id: PremiumId, due_on: CalendarDate, refund_pence: Pence })),
    written_off: z
      .array(z.object({ premium_id: PremiumId, due_on: CalendarDate, amount_pence: Pence }))
      .describe('Premiums that are asked for no more.'),
    claim_pence: Pence.nullable().describe('What is recorded as paid for a claim. null: no payment is recorded.'),
  })
  .meta({ id: 'PolicyPreview' })
export type PolicyPreview = z.output<typeof PolicyPreview>

type Recorded = { readonly now: string; readonly calendar: BankCalendar }

const evolved = (state: PolicyState, events: readonly PolicyStreamEvent[], occurred_at: string): PolicyState =>
  events.reduce((before, event) => evolvePolicyState(before, event, { occurred_at }) ?? before, state)

const shownCollections = 3

/** An id for a premium that is never made. */
const idOf = (number: number): PremiumId =>
  PremiumId.parse(`00000000-0000-4000-8000-${String(number).padStart(12, '0')}`)

/** The next premiums, called one after the other as their days come. */
const collectionsOf = (state: PolicyState, calendar: BankCalendar): z.output<typeof Side>['collections'] => {
  const collections: { readonly due_on: string; readonly amount_pence: number }[] = []
  let policyThen = state
  while (collections.length < shownCollections && policyThen.next_collection_on !== null) {
    const now = startOfDayIn(policyThen.time_zone, policyThen.next_collection_on)
    const events = callPremium({ type: 'CallPremium', now, calendar, idOf }, policyThen)
    const due = events.find((event) => event.type === 'PremiumDue')
    if (!due) break
    collections.push({ due_on: due.due_on, amount_pence: due.amount_pence })
    policyThen = evolved(policyThen, events, now)
  }
  return collections
}

const isOpen = ({ status }: PolicyState['premiums'][number]): boolean =>
  status === 'due' || status === 'requested' || status === 'failed'

/** A policy as far as its money and its cover go. */
export const besideAct = (state: PolicyState, calendar: BankCalendar): z.output<typeof Side> => ({
  status: state.status,
  covers: state.components.map(({ cover_index, cover_type, status, cover_amount_pence, premium_pence, ends_on }) => ({
    cover_index,
    cover_type,
    status,
    cover_amount_pence,
    premium_pence,
    ends_on,
  })),
  premium_pence: state.premium_pence,
  collection_day: state.collection_day,
  mandate_status: state.payment_method.mandate_status,
  collections: collectionsOf(state, calendar),
  open_premiums: state.premiums
    .filter(isOpen)
    .map(({ premium_id, due_on, amount_pence, status }) => ({ premium_id, due_on, amount_pence, status })),
})

/** The effect that a command would have on a policy, decided as it would be. Throws what the command would throw. */
export const previewOf = (command: PolicyCommand, state: PolicyState, { now, calendar }: Recorded): PolicyPreview => {
  const events = policy.decide(command, state)
  const refunds = events.flatMap((event) =>
    event.type === 'PremiumRefundOwed'
      ? [{ premium_id: event.premium_id, due_on: event.due_on, refund_pence: event.refund_pence }]
      : [],
  )
  const cancelled = events.find((event) => event.type === 'PolicyCancelled')
  return {
    is_new: events.length > 0,
    before: besideAct(state, calendar),
    after: besideAct(evolved(state, events, now), calendar),
    refund_pence: cancelled?.refund_pence ?? refunds.reduce((sum, { refund_pence }) => sum + refund_pence, 0),
    refunds,
    written_off: events.flatMap((event) =>
      event.type === 'PremiumWrittenOff'
        ? [{ premium_id: event.premium_id, due_on: event.due_on, amount_pence: event.amount_pence }]
        : [],
    ),
    claim_pence: events.find((event) => event.type === 'ClaimPaid')?.amount_pence ?? null,
  }
}
