import { randomUUID } from 'node:crypto'
import { applicationEvents, type Answers } from '#domain/applications/events.ts'
import type { EventOf, EventShapes, Position } from '#domain/event.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import {
  ApiApplicationId,
  ApplicationId,
  CustomerId,
  JourneyId,
  OrganisationId,
  ProductId,
  QuoteId,
  ReleaseId,
} from '#domain/values.ts'
import { answered, covered, customerSaved, started } from '../applications/builders.ts'
import { quoteComponent, quoteIssued } from '../quotes/issued.ts'

export const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
export const product_id = ProductId.parse('d9d8c7e6-3f4a-4b52-8cbd-2e3f4a5b6c7d')

/** What the customer answered, in words that are found nowhere else: no webhook may hold one of them. */
export const answers = {
  smoker: 'smoked-until-last-week',
  conditions: ['heart-murmur-2019', 'asthma-as-child'],
  alcohol_units: 77123,
  family_history: 'father-had-a-stroke',
} satisfies Answers

const placedAnew = () => ({
  release_id: ReleaseId.parse(randomUUID()),
  journey_id: JourneyId.parse(randomUUID()),
})

export const applicationStarted = (application_id: ApplicationId, placed: Parameters<typeof started>[0] = {}) =>
  started({
    application_id,
    organisation_id,
    api_application_id: ApiApplicationId.parse(randomUUID()),
    idempotency_key: `key-${application_id}`,
    product_id,
    ...placedAnew(),
    presentation_id: null,
    inline_bacs_mandate: false,
    direct_debit_first: true,
    stripe_test_mode: true,
    ...placed,
  })

type Append = <Shapes extends EventShapes>(
  shapes: Shapes,
  stream: string,
  events: readonly EventOf<Shapes>[],
  organisation?: string,
) => Promise<{ readonly ids: string[]; readonly position: Position }>

/** An application with answers, a cover and a customer, and what can happen to it. */
export const startApplicationWith =
  (append: Append) =>
  async ({ product = product_id, organisation = organisation_id } = {}) => {
    const application_id = ApplicationId.parse(randomUUID())
    const { release_id, journey_id } = placedAnew()
    const stream = `application-${application_id}`
    const tell = <Shapes extends EventShapes>(shapes: Shapes, ...events: readonly EventOf<Shapes>[]) =>
      append(shapes, stream, events, organisation)

    const start = await tell(
      applicationEvents,
      applicationStarted(application_id, {
        product_id: product,
        organisation_id: organisation,
        journey_id,
        release_id,
      }),
      answered(answers),
      covered({ cover_amount_pence: 20_000_000, term_years: 25 }),
    )

    const loadedQuote = (quote_id: QuoteId) => {
      const component = quoteComponent({ cover_amount_pence: 20_000_000, premium_pence: 1_625, loading_percent: 50 })
      const [condition] = answers.conditions
      return quoteIssued(
        {
          quote_id,
          organisation_id: organisation,
          application_id,
          product_id: product,
          journey_id,
          product_release_id: release_id,
        },
        {
          decision: 'loaded',
          premium_pence: 1_875,
          annual_premium_pence: 22_500,
          total_premium_pence: 562_500,
          policy_fee_pence: 250,
          cover_amount_pence: 20_000_000,
          start_date: '2026-01-16',
          components: [component],
          excluded_covers: [
            {
              cover_id: component.cover_id,
              cover_type: 'critical_illness',
              reason: 'declined',
              message: `because of ${condition}`,
            },
          ],
          loadings: [{ code: 'heart', label: `For ${condition}`, basis: 'percent', value: '50' }],
          rate_tables: [{ key: `life.${answers.smoker}`, version: 1 }],
          expires_at: '2126-02-14T12:00:00.000Z',
        },
      )
    }

    return {
      application_id,
      started_event_id: start.ids[0] ?? '',
      tell,
      saveCustomer: (first_name: string) => {
        const known = { last_name: 'Okafor', email: 'grace@example.com', dob: '1988-04-12', city: 'London' }
        const address = { postal_code: 'SW1A 1AA', address_line1: '1 High Street', country: 'GB' }
        const customer_id = CustomerId.parse(randomUUID())
        return tell(applicationEvents, customerSaved({ first_name, ...known, ...address }, { customer_id, sent: {} }))
      },
      issueQuote: async () => {
        const quote_id = QuoteId.parse(randomUUID())
        const issued = await tell(quoteEvents, loadedQuote(quote_id))
        return { quote_id, event_id: issued.ids[0] ?? '' }
      },
      replaceQuote: (quote_id: QuoteId, replaced_by: QuoteId) =>
        tell(quoteEvents, { type: 'QuoteReplaced', quote_id, replaced_by }),
      acceptQuote: (quote_id: QuoteId) => tell(quoteEvents, { type: 'QuoteAccepted', quote_id, via: 'accept_quote' }),
    }
  }
export type TestApplication = Awaited<ReturnType<ReturnType<typeof startApplicationWith>>>
