import { z } from 'zod'
import { application } from '#domain/applications/application.ts'
import { requireSale, type BindQuote } from '#domain/applications/bind.ts'
import { journeyOfApplication } from '#domain/applications/record.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import { cardPaymentOf } from '#domain/payments/record.ts'
import { Policy, renderPolicy, type PolicyRecord } from '#domain/policies/record.ts'
import { CalendarDate, PolicyId, QuoteId, type ApplicationId, type OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Context } from '../writing/handle.ts'
import { keyInHeader } from '../idempotency-key.ts'
import type { Merchants } from '../payments/merchants.ts'
import { accessToQuote as access, type Applications } from './applications.ts'
import { digest } from './digest.ts'
import { capture } from '../payments/settle-card-payments.ts'

const BindRequest = z.object({
  start_date: CalendarDate.nullish()
    .transform((date) => date ?? null)
    .describe(
      'When cover starts: from today to 90 days on. By default that of the quote, or tomorrow if it has passed.',
    ),
  collection_day: z
    .int()
    .min(1)
    .max(28)
    .nullish()
    .transform((day) => day ?? null)
    .describe('The day of the month on which premiums are collected; where no bank works on it, the next working day.'),
})

/** The policy side of a sale, once it is decided. */
export type Policies = {
  readonly claimNumber: (
    policy: { readonly organisation_id: OrganisationId; readonly policy_id: PolicyId; readonly prefix: string },
    context: Context,
  ) => Promise<string>
  readonly setUp: (
    application_id: ApplicationId,
    quote_id: QuoteId,
    context: Context,
  ) => Promise<PolicyRecord | undefined>
  /** Address at which our own documents are served. */
  readonly baseUrl: string
  readonly waitUntilReadable: (organisation_id: OrganisationId, policy_id: PolicyId) => Promise<void>
}

type Deps = { readonly applications: Applications; readonly policies: Policies; readonly merchants: Merchants }

export const bindRoute = ({ applications, policies, merchants }: Deps): Route => {
  const { handle, findByQuote, releaseOf, catalogue, contextOf, todayOf } = applications

  /**
   * Charges an authorised card before the sale is decided, so that no policy is sold on a card that cannot be charged. What
   * is charged without a sale following is given back by a timer, unless the request is repeated first.
   */
  const charge = async ({ record, payments }: ApplicationState, quote_id: QuoteId, context: Context): Promise<void> => {
    const card = cardPaymentOf(payments, quote_id)
    if (card?.status !== 'authorised') return
    const { payment_id } = card
    const merchant = merchants(record.organisation_id, record.stripe_test_mode)
    const captured = merchant ? await capture(merchant.provider, card) : 'no_account'
    if (captured === 'unanswered')
      throw new Problem('unavailable', 'The payment provider does not answer at the moment. Send the request again.', {
        headers: { 'Retry-After': '5' },
      })
    if (typeof captured !== 'string') {
      await handle(record.id, captured, context)
      return
    }
    await handle(record.id, { type: 'OweCardReturn', payment_id, reason: 'bind_failed' }, context)
    throw new Problem(
      'bind_failed',
      `The card could not be charged (${captured}), and its authorisation is released. Take the first premium again with payment_intent and card_payment.`,
    )
  }

  return route(
    {
      method: 'post',
      address: '/api/v1/quotes/:id/bind',
      tag: 'Checkout',
      summary: 'Set up the policy; repeated, it answers the policy that was set up',
      access,
      path: z.object({ id: QuoteId }),
      headers: { 'Idempotency-Key': 'Answers the policy again, whatever else is sent with the same key.' },
      body: BindRequest,
      answers: { 200: z.object({ data: Policy }), 201: z.object({ data: Policy }) },
      errors: [
        'quote_not_bindable',
        'quote_expired',
        'not_sellable',
        'steps_owed',
        'customer_missing',
        'partner_missing',
        'direct_debit_missing',
        'first_payment_missing',
        'bind_failed',
        'unavailable',
      ],
    },
    async ({ path: { id }, body, caller, ...facts }) => {
      const before = await findByQuote(id, caller)
      const { record } = before
      const { organisation_id } = record
      const release = await releaseOf(record)
      const context = contextOf(caller, facts)
      const policy_id = PolicyId.parse(derivedId('policy', organisation_id, id))
      const prefix = release.checkout.policy_number_prefix
      const idempotency_key = keyInHeader(facts) ?? null
      const commandWith = async (policy_number: string): Promise<BindQuote> => ({
        type: 'BindQuote',
        quote_id: id,
        release,
        journey: journeyOfApplication(release, record),
        rate_tables: await catalogue.rateTablesOf(release),
        now: facts.now,
        today: todayOf(caller, facts),
        digest,
        asked: { start_date: body.start_date, collection_day: body.collection_day },
        caller: caller.api_application_id,
        idempotency_key,
        policy_id,
        policy_number,
        is_sandbox: catalogue.current(organisation_id, release.slug)?.lifecycle_state === 'sandbox',
      })

      // What is refused takes no number, and what was bought has one.
      const isNew = application.decide(await commandWith(`${prefix}-000000000`), before).length > 0
      if (isNew) await charge(before, id, context)
      const policy_number = isNew
        ? await policies.claimNumber({ organisation_id, policy_id, prefix }, context)
        : requireSale(before, id).policy_number
      const { state, events } = await handle(record.id, await commandWith(policy_number), context)
      if (!state) throw new Error(`Application ${record.id} was found and does not exist.`)

      const policy = await policies.setUp(record.id, id, context)
      if (!policy) throw new Error(`Quote ${id} was bought, and its sale cannot be read.`)
      await policies.waitUntilReadable(organisation_id, policy.id)
      const data = renderPolicy(policy, policies.baseUrl)
      if (events.length > 0) return { status: 201, body: { data } }
      const isReplay = idempotency_key !== null && requireSale(state, id).idempotency_key === idempotency_key
      return { status: 200, body: { data }, ...(isReplay && { headers: { 'Idempotent-Replay': 'true' } }) }
    },
  )
}
