import { z } from 'zod'
import { latestQuote } from '#domain/applications/state.ts'
import { SaleStep } from '#domain/checkout/events.ts'
import { owedEvidence } from '#domain/checkout/record.ts'
import { QuoteId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import { accessToQuote as access, type Applications } from './applications.ts'
import { digest } from './digest.ts'

type Deps = { readonly applications: Applications }

/** The steps from a quote to a policy: what the customer has agreed to. */
export const checkoutRoutes = ({ applications }: Deps): Route[] => {
  const { handle, findByQuote, releaseOf, contextOf } = applications

  return [
    route(
      {
        method: 'post',
        address: '/api/v1/quotes/:id/confirm',
        tag: 'Checkout',
        summary: 'Record that the customer has seen what before_you_buy shows, and agreed; may be repeated',
        access,
        path: z.object({ id: QuoteId }),
        answers: { 200: z.object({ data: z.object({ owed: z.array(SaleStep).describe('Normally empty.') }) }) },
        errors: ['quote_not_bindable', 'quote_expired', 'not_sellable'],
      },
      async ({ path: { id }, caller, ...facts }) => {
        const { record } = await findByQuote(id, caller)
        const release = await releaseOf(record)
        const command = { type: 'ConfirmSteps', quote_id: id, release, now: facts.now, digest } as const
        const { state } = await handle(record.id, command, contextOf(caller, facts))
        const quote = state && latestQuote(state)?.quote
        if (!state || quote?.id !== id) throw new Error(`Quote ${id} was found and does not exist.`)
        const owed = owedEvidence({ release, quote, confirmed: state.record.confirmed }, digest)
        return { status: 200, body: { data: { owed: owed.map(({ step }) => step) } } }
      },
    ),
  ]
}
