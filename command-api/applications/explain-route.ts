import { z } from 'zod'
import { requestOfQuote } from '#domain/applications/priced-request.ts'
import { journeyOfApplication } from '#domain/applications/record.ts'
import { PriceStep, QuoteComponent } from '#domain/rating/events.ts'
import { explain } from '#domain/rating/explain.ts'
import { ApplicationId, OrganisationId, Pence, QuoteId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import { teamRoute } from '../operator.ts'
import type { Writer } from '../writing/writer.ts'
import type { Applications } from './applications.ts'
import { makeBeforeQuote } from './before-quote.ts'
import { digest } from './digest.ts'

const QuoteExplanation = z
  .object({
    quote_id: QuoteId,
    start_date: z.string(),
    components: z.array(
      QuoteComponent.pick({
        cover_id: true,
        cover_index: true,
        cover_type: true,
        title: true,
        premium_pence: true,
      }).extend({ steps: z.array(PriceStep) }),
    ),
    policy_fee_pence: Pence,
    premium_pence: Pence.describe('All components and the policy fee.'),
  })
  .meta({ id: 'QuoteExplanation' })

const Path = z.object({ organisation_id: OrganisationId, id: ApplicationId, quote_id: QuoteId })

/** Explains a quote's price, worked out again from what the application held when it was issued. */
export const explainRoute = ({ applications, log }: { applications: Applications; log: Writer['log'] }): Route => {
  const { releaseOf, catalogue } = applications
  const beforeQuote = makeBeforeQuote(log)

  return route(
    {
      ...teamRoute('underwriting'),
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/applications/:id/quotes/:quote_id/explanation',
      summary:
        'Explain the price of a quote: which cells, which factors and which rounding, as steps that add up to it',
      path: Path,
      answers: { 200: z.object({ data: QuoteExplanation }) },
      errors: ['conflict'],
    },
    async ({ path: { organisation_id, id, quote_id } }) => {
      const found = await beforeQuote(id, quote_id)
      if (found?.state.record.organisation_id !== organisation_id) throw notFound('quote')
      const { state, issued, isErased } = found
      const release = await releaseOf(state.record)
      const journey = journeyOfApplication(release, state.record)
      const rate_tables = await catalogue.rateTablesOf(release)
      const explained = explain(requestOfQuote({ release, journey, rate_tables, digest }, state, issued.start_date))
      if (explained?.premium_pence !== issued.premium_pence)
        throw new Problem(
          'conflict',
          isErased
            ? 'This price cannot be worked out again: what it was made from has been erased. The quote itself still says what was charged and by which rate tables.'
            : 'Worked out again, this price is another one, or none. GET /audit/v1/organisations/{organisation_id}/quotes/{quote_id}/price names each difference.',
        )
      const components = explained.components.map(({ steps, ...component }) => ({ ...component, steps: [...steps] }))
      const { start_date } = issued
      return { status: 200, body: { data: { ...explained, components, quote_id, start_date } } }
    },
  )
}
