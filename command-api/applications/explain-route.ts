import { z } from 'zod'
import { application } from '#domain/applications/application.ts'
import { unknownQuote } from '#domain/applications/bindable.ts'
import { requestOfQuote } from '#domain/applications/quote.ts'
import { applicationStreamEvents, journeyOfApplication } from '#domain/applications/record.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import { fromStored } from '#domain/event.ts'
import { QuoteComponent } from '#domain/rating/events.ts'
import { explain } from '#domain/rating/explain.ts'
import { ApplicationId, OrganisationId, Pence, QuoteId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import { operatorRoute } from '../operator.ts'
import type { Writer } from '../writer.ts'
import type { Applications } from './applications.ts'
import { digest } from './digest.ts'

const PriceStep = z.object({
  step: z.enum([
    'rate',
    'loading',
    'answer_factor',
    'factor',
    'journey_loading',
    'list',
    'part_of_life_cover',
    'rounding',
    'minimum_premium',
  ]),
  name: z.string().describe('The cell of the rate table (`life.level 1: 34|25|n`), or which loading or factor.'),
  value: z.string().describe('What is multiplied by, or added. A rate is in ten-thousandths of a penny for £1,000.'),
  life: z
    .union([z.literal(1), z.literal(2)])
    .nullable()
    .describe('Of which of two people; null: of the whole.'),
  adds_pence: z.string().describe('A decimal, for example `-45.818`. The steps of a component add up to its premium.'),
})

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

const pageSize = 1000

/** How a quote was priced, worked out again from what the application held when it was issued. */
export const explainRoute = ({ applications, log }: { applications: Applications; log: Writer['log'] }): Route => {
  const { releaseOf, catalogue } = applications

  /** The application as it was just before the quote was issued, and what was issued. */
  const beforeQuote = async (id: ApplicationId, quote_id: QuoteId) => {
    let state: ApplicationState | undefined
    for (let from = 0; ; from += pageSize) {
      const page = await log.read(`application-${id}`, { from, limit: pageSize })
      for (const recorded of page) {
        const event = fromStored(applicationStreamEvents, recorded)
        if (event.type === 'QuoteIssued' && event.quote_id === quote_id) return state && { state, issued: event }
        state = application.evolve(state, event, recorded.metadata)
      }
      if (page.length < pageSize) return undefined
    }
  }

  return route(
    {
      ...operatorRoute,
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
      if (found?.state.record.organisation_id !== organisation_id) throw unknownQuote()
      const { state, issued } = found
      const release = await releaseOf(state.record)
      const journey = journeyOfApplication(release, state.record)
      const rate_tables = await catalogue.rateTablesOf(release)
      const explained = explain(requestOfQuote({ release, journey, rate_tables, digest }, state, issued.start_date))
      if (explained?.premium_pence !== issued.premium_pence)
        throw new Problem(
          'conflict',
          'This price cannot be worked out again: what it was made from has been erased. The quote itself still says what was charged and by which rate tables.',
        )
      const components = explained.components.map(({ steps, ...component }) => ({ ...component, steps: [...steps] }))
      const { start_date } = issued
      return { status: 200, body: { data: { ...explained, components, quote_id, start_date } } }
    },
  )
}
