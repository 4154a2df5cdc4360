import { z } from 'zod'
import { requireBindable } from '#domain/applications/bindable.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import { MandateId } from '#domain/payments/events.ts'
import type { OrganisationId } from '#domain/values.ts'
import { QuoteId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import { derivedId } from '#infra/ids.ts'
import type { MandateSession, Provider } from '#infra/stripe/provider.ts'
import type { Merchants } from '../payments/merchants.ts'
import { accessToQuote as access, type Applications } from './applications.ts'
import { digest } from './digest.ts'
import { forPayer, payerOf } from './payer.ts'
import { doneOr, requireMerchant } from '../payments/provider-answers.ts'

const path = z.object({ id: QuoteId })
const OpenedSession = z.object({
  session: z.object({ id: z.string(), client_secret: z.string() }),
  publishable_key: z.string().nullable(),
  stripe_account: z.string().nullable(),
})
const Confirmed = z.object({ mandate_id: z.string().nullable(), account_number_last4: z.string().nullable() })

type Deps = { readonly applications: Applications; readonly merchants: Merchants }

/** Our id of a mandate; where the provider gives it none, it is that of its payment method. */
export const mandateIdOf = (organisation_id: OrganisationId, provider_id: string): MandateId =>
  MandateId.parse(derivedId('mandate', organisation_id, provider_id))

/** Direct Debit on the payment provider's own form. */
export const mandateRoutes = ({ applications, merchants }: Deps): Route[] => {
  const { findByQuote, handle, contextOf } = applications

  const merchantOf = requireMerchant(merchants)

  /** The session that was opened last for the quote, while the form can still be filled in. */
  const openSession = async (provider: Provider, { payments }: ApplicationState, quote_id: QuoteId) => {
    const latest = payments.sessions.findLast((session) => session.quote_id === quote_id)
    if (!latest) return undefined
    const read = await provider.readMandateSession(latest.session_id)
    // One that the provider does not know any more is as good as none.
    const session = read.outcome === 'refused' ? undefined : doneOr('bacs_setup_failed', read)
    return session?.status === 'open' ? session : undefined
  }

  return [
    route(
      {
        method: 'post',
        address: '/api/v1/quotes/:id/bacs_setup_intent',
        tag: 'Checkout',
        summary: 'Open the payment provider’s own form for a Direct Debit',
        access,
        path,
        answers: { 201: z.object({ data: OpenedSession }) },
        errors: ['quote_not_bindable', 'quote_expired', 'customer_missing', 'bacs_setup_failed', 'unavailable'],
      },
      async ({ path: { id: quote_id }, caller, ...facts }) => {
        const state = await findByQuote(quote_id, caller)
        requireBindable(state, quote_id, { now: facts.now, digest })
        const payer = payerOf(state)
        const { provider, publishable_key, stripe_account } = merchantOf(state.record, 'bacs_setup_failed')
        let session = await openSession(provider, state, quote_id)
        if (!session) {
          const count = state.payments.sessions.filter((each) => each.quote_id === quote_id).length
          const metadata = { quote_id, application_id: state.record.id, organisation_id: caller.organisation_id }
          const opening = await forPayer(provider, payer, async (provider_customer_id) =>
            provider.openMandateSession(`quote:${quote_id}:bacs:${count}`, { provider_customer_id, metadata }),
          )
          const opened = doneOr('bacs_setup_failed', opening)
          const { id: session_id, provider_customer_id } = opened
          await handle(
            state.record.id,
            { type: 'OpenMandateSession', quote_id, session_id, provider_customer_id },
            contextOf(caller, facts),
          )
          session = opened
        }
        const { id, client_secret } = session
        if (client_secret === null) throw new Problem('bacs_setup_failed', 'The payment provider gave no form.')
        return { status: 201, body: { data: { session: { id, client_secret }, publishable_key, stripe_account } } }
      },
    ),
    route(
      {
        method: 'post',
        address: '/api/v1/quotes/:id/bacs_mandate',
        tag: 'Checkout',
        summary: 'Keep the mandate that was set up on the payment provider’s form',
        access,
        path,
        body: z.object({ session_id: z.string().min(1).max(255) }),
        answers: { 201: z.object({ data: Confirmed }) },
        errors: ['quote_not_bindable', 'quote_expired', 'mandate_incomplete', 'bacs_mandate_failed', 'unavailable'],
      },
      async ({ path: { id: quote_id }, body: { session_id }, caller, ...facts }) => {
        const state = await findByQuote(quote_id, caller)
        const kept = state.payments.mandate
        if (kept?.session_id === session_id && kept.quote_id === quote_id)
          return { status: 201, body: { data: confirmed(kept.provider_mandate_id, kept.account_number_last4) } }

        requireBindable(state, quote_id, { now: facts.now, digest })
        const { provider } = merchantOf(state.record, 'bacs_mandate_failed')
        const session = await readSession(provider, session_id)
        if (session.metadata['quote_id'] !== quote_id)
          throw new Problem('bacs_mandate_failed', 'This session belongs to another quote. Send the one of this quote.')
        const { set_up, provider_customer_id } = session
        if (!set_up || provider_customer_id === null)
          throw new Problem(
            'mandate_incomplete',
            'The Direct Debit is not set up yet. Complete the form, then send the request again.',
          )
        const { mandate, last4, provider_payment_method_id } = set_up
        await handle(
          state.record.id,
          {
            type: 'CreateMandate',
            quote_id,
            mandate_id: mandateIdOf(caller.organisation_id, mandate?.id ?? provider_payment_method_id),
            session_id,
            provider_mandate_id: mandate?.id ?? null,
            provider_customer_id,
            provider_payment_method_id,
            account_number_last4: last4,
            made_from: null,
            answer: mandate ?? { network_status: 'pending', active: true },
          },
          contextOf(caller, facts),
        )
        return { status: 201, body: { data: confirmed(mandate?.id ?? null, last4) } }
      },
    ),
  ]
}

const confirmed = (mandate_id: string | null, account_number_last4: string | null) => ({
  mandate_id,
  account_number_last4,
})

const readSession = async (provider: Provider, session_id: string): Promise<MandateSession> => {
  const unknown = new Problem('bacs_mandate_failed', 'There is no such session. Send the one of bacs_setup_intent.')
  if (!/^cs_\w+$/.test(session_id)) throw unknown
  const read = await provider.readMandateSession(session_id)
  if (read.outcome === 'refused' && read.code === 'resource_missing') throw unknown
  return doneOr('bacs_mandate_failed', read)
}
