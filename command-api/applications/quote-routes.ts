import { z } from 'zod'
import type { ApplicationCommand } from '#domain/applications/application.ts'
import { Application } from '#domain/applications/record.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import { latestQuote, type ApplicationState } from '#domain/applications/state.ts'
import { Quote } from '#domain/quotes/record.ts'
import { ApplicationId, CalendarDate, QuoteId, type OrganisationId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import { newId } from '#infra/ids.ts'
import { route, type Caller, type RequestFacts, type Route } from '#infra/http/route.ts'
import type { Context, Handled } from '../writing/handle.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'
import { accessToApplication as access, accessToQuote, type Fixed } from './applications.ts'
import { digest } from './digest.ts'
import { dateIn } from '#domain/time-zone.ts'

const QuoteRequest = z.object({
  start_date: CalendarDate.optional().describe('When cover starts: from today to 90 days on; tomorrow by default.'),
})

const AcceptRequest = z.object({ quote_id: QuoteId.optional().describe('By default the current quote.') })

const RejectRequest = z.object({
  reason: z
    .string()
    .max(500)
    .nullish()
    .transform((reason) => reason ?? null)
    .describe('Why, in the customer’s words.'),
})

type Deps = {
  readonly handle: (
    id: string,
    command: ApplicationCommand,
    context: Context,
  ) => Promise<Handled<ApplicationState | undefined, ApplicationStreamEvent>>
  /** The fixed fields of an application, if the caller may see it; otherwise it throws `not_found`. */
  readonly findFixed: (id: ApplicationId, caller: Caller) => Promise<Fixed>
  readonly findByQuote: (id: QuoteId, caller: Caller) => Promise<ApplicationState>
  readonly contextOf: (caller: Caller, facts: RequestFacts) => Context
  readonly answer: (state: ApplicationState, caller: Caller) => Promise<Application>
  readonly catalogue: Catalogue
  readonly timeZoneOf: (id: OrganisationId) => string
}

/** The answer to a request for a price when the underwriting decision is against the application. */
const decidedAgainst = (events: readonly ApplicationStreamEvent[]): Problem | undefined => {
  for (const event of events) {
    if (event.type === 'ApplicationReferred')
      return new Problem(
        'quote_failed',
        `${event.reason_message ?? ''} The application was referred: our team decides. Read it until its status is another.`.trim(),
        { fields: { application: 'referred' } },
      )
    if (event.type === 'ApplicationDeclined')
      return new Problem('no_quotable_cover', `${event.reason_message ?? ''} We cannot offer this cover.`.trim())
    if (event.type === 'ApplicationPostponed')
      return new Problem('no_quotable_cover', `${event.reason_message ?? ''} We cannot offer this cover now.`.trim())
  }
  return undefined
}

export const quoteRoutes = ({
  handle,
  findFixed,
  findByQuote,
  contextOf,
  answer,
  catalogue,
  timeZoneOf,
}: Deps): Route[] => [
  route(
    {
      method: 'post',
      address: '/api/v1/applications/:id/quotes',
      tag: 'Quotes',
      summary: 'Price the application',
      access,
      path: z.object({ id: ApplicationId }),
      body: QuoteRequest,
      answers: { 200: z.object({ data: Quote }), 201: z.object({ data: Quote }) },
      errors: ['cover_missing', 'no_quotable_cover', 'quote_failed', 'rate_unavailable'],
    },
    async ({ path, body, caller, ...facts }) => {
      const { id, organisation_id, product_id, release_id, journey_id } = await findFixed(path.id, caller)
      const release = await catalogue.release(organisation_id, product_id, release_id)
      const journey = release?.journeys.find((each) => each.id === journey_id)
      if (!release || !journey) throw new Error(`Application ${id} was started with a release that does not exist.`)

      const quote_id = QuoteId.parse(newId())
      const { state, events } = await handle(
        path.id,
        {
          type: 'QuoteApplication',
          quote_id,
          start_date: body.start_date ?? null,
          now: facts.now,
          today: dateIn(timeZoneOf(caller.organisation_id), facts.now),
          release,
          journey,
          rate_tables: await catalogue.rateTablesOf(release),
          digest,
        },
        contextOf(caller, facts),
      )
      const refusal = decidedAgainst(events)
      if (refusal) throw refusal
      const quote = state && latestQuote(state)?.quote
      if (!quote) throw new Error(`Quoting application ${id} left no quote.`)
      return { status: quote.id === quote_id ? 201 : 200, body: { data: quote } }
    },
  ),
  route(
    {
      method: 'post',
      address: '/api/v1/applications/:id/accept_quote',
      tag: 'Quotes',
      summary: 'Accept a quote; accepting again is fine',
      access,
      path: z.object({ id: ApplicationId }),
      body: AcceptRequest,
      answers: { 200: z.object({ data: Application }) },
      errors: ['accept_failed'],
    },
    async ({ path, body, caller, ...facts }) => {
      await findFixed(path.id, caller)
      const command = { type: 'AcceptQuote', quote_id: body.quote_id ?? null, now: facts.now, digest } as const
      const { state } = await handle(path.id, command, contextOf(caller, facts))
      if (!state) throw new Error(`Application ${path.id} was found and no longer exists.`)
      return { status: 200, body: { data: await answer(state, caller) } }
    },
  ),
  route(
    {
      method: 'post',
      address: '/api/v1/quotes/:id/reject',
      tag: 'Quotes',
      summary: 'Reject the current quote: the customer does not want it',
      access: accessToQuote,
      path: z.object({ id: QuoteId }),
      body: RejectRequest,
      answers: { 200: z.object({ data: Quote }) },
      errors: ['quote_not_bindable'],
    },
    async ({ path: { id }, body, caller, ...facts }) => {
      const { record } = await findByQuote(id, caller)
      const command = { type: 'RejectQuote', quote_id: id, reason: body.reason, now: facts.now } as const
      const { state } = await handle(record.id, command, contextOf(caller, facts))
      const quote = state && latestQuote(state)?.quote
      if (quote?.id !== id) throw new Error(`Quote ${id} was rejected and is not the latest.`)
      return { status: 200, body: { data: quote } }
    },
  ),
]
