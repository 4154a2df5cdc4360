import { idOf } from '#domain/event.ts'
import type { PolicyRules } from '#domain/policy-rules/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { reviewDue, type ReviewBasis } from '#domain/policies/review.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'
import type { Timer } from '../reactions/timers.ts'
import { premiumIds } from './ids.ts'

type Deps = {
  readonly writer: Writer
  readonly catalogue: Pick<Catalogue, 'release'>
  readonly rulesOf: (organisation_id: OrganisationId) => PolicyRules
  readonly reviewBasis: (policy: PolicyState, at: string) => Promise<ReviewBasis>
  readonly calendar: BankCalendar
}

/** Cover starts, and ends, on the day that the policy says. */
export const policyTimers = ({ writer, catalogue, rulesOf, reviewBasis, calendar }: Deps): readonly Timer[] => {
  const { handle, load } = commandHandler(writer, policy)

  const callPremiums = async (id: string, now: string, context: Context): Promise<void> => {
    const call = { type: 'CallPremium', now, calendar, idOf: premiumIds(id) } as const
    while ((await handle(id, call, context)).events.length > 0);
  }

  /** Premiums due before that day cost what they cost before, also where their own timer comes later. */
  const callPremiumsBefore = async (id: string, day: string, context: Context): Promise<void> =>
    callPremiums(id, new Date(Date.parse(day) - 1).toISOString(), context)

  const index = async (id: string, now: string, context: Context): Promise<void> => {
    await callPremiumsBefore(id, now, context)
    const state = await load(id)
    if (!state) return
    const { organisation_id, product_id, product_release_id } = state
    const release = await catalogue.release(organisation_id, product_id, product_release_id)
    if (!release) throw new Error(`Release ${product_release_id} of product ${product_id} does not exist.`)
    const rules = rulesOf(organisation_id)
    await handle(state.id, { type: 'IndexPolicy', now, rules, release }, context)
  }

  return [
    {
      kind: 'policy_review',
      fire: async ({ stream, due_at }, context) => {
        const id = idOf(stream)
        const state = await load(id)
        const review_on = state && reviewDue(state, due_at)
        if (!state || !review_on) return
        await callPremiumsBefore(id, due_at, context)
        // What covers grow to on the same day is part of what is reviewed, whichever timer comes first.
        if (state.next_indexation_on === review_on) await index(id, due_at, context)
        await handle(id, { type: 'CallReview', now: due_at, basis: await reviewBasis(state, due_at) }, context)
      },
    },
    {
      kind: 'policy_indexation',
      fire: async ({ stream, due_at }, context) => index(idOf(stream), due_at, context),
    },
    {
      kind: 'policy_start',
      fire: async ({ stream, due_at }, context) =>
        handle(idOf(stream), { type: 'ActivatePolicy', now: due_at }, context),
    },
    {
      kind: 'policy_end',
      fire: async ({ stream, due_at }, context) => {
        const id = idOf(stream)
        // The last months of cover may be due on the day on which cover ends.
        await callPremiums(id, due_at, context)
        await handle(id, { type: 'ExpirePolicy', now: due_at }, context)
      },
    },
  ]
}
