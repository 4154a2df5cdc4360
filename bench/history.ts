import { v7 as uuidv7 } from 'uuid'
import { applicationStreamEvents, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import { toStored, type Metadata, type NewEvent } from '#domain/event.ts'
import {
  ApiApplicationId,
  ApplicationId,
  CoverId,
  CustomerId,
  JourneyId,
  OrganisationId,
  PresentationId,
  ProductId,
  QuoteId,
  ReleaseId,
} from '#domain/values.ts'

export type Written = { readonly stream: string; readonly event: NewEvent }

const organisation_id = OrganisationId.parse(uuidv7())
const api_application_id = ApiApplicationId.parse(uuidv7())
const product_id = ProductId.parse(uuidv7())
const release_id = ReleaseId.parse(uuidv7())
const journey_id = JourneyId.parse(uuidv7())
const cover_id = CoverId.parse(uuidv7())

/** How many applications are being filled in at the same time. */
const underWay = 1_000

/** What happens to an application that goes well: the events of its stream in their order. */
const eventsOf = (number: number): readonly ApplicationStreamEvent[] => {
  const application_id = ApplicationId.parse(uuidv7())
  const quote_id = QuoteId.parse(uuidv7())
  const person = {
    title: 'Ms',
    first_name: 'Ada',
    last_name: `Byron ${number}`,
    email: `ada.byron.${number}@example.com`,
    phone_number: '+447700900123',
    dob: '1986-02-11',
    postal_code: 'SW1A 2AA',
    address_line1: '12 St James’s Square',
    address_line2: null,
    city: 'London',
    country: 'GB',
  }
  return [
    {
      type: 'ApplicationStarted',
      application_id,
      organisation_id,
      api_application_id,
      started_by: 'server',
      idempotency_key: `bench-${number}`,
      asked_for: { product_slug: 'term-life', journey_slug: 'online', presentation_slug: null },
      product_id,
      release_id,
      journey_id,
      presentation_id: PresentationId.parse(uuidv7()),
      inline_bacs_mandate: false,
      direct_debit_first: true,
      stripe_test_mode: true,
      provenance: { page_url: 'https://example.com/life?utm_source=newsletter', locale: 'en-GB' },
      outreach_landing: null,
      inactive_after_days: 30,
    },
    { type: 'AnswersSaved', saved: { date_of_birth: '1986-02-11', sex: 'female', smoker: 'never' }, removed: [] },
    { type: 'CoverSaved', cover_amount_pence: 25_000_000, term_years: 25, components: [] },
    { type: 'AnswersSaved', saved: { height_cm: 168, weight_kg: 64, occupation: 'Mathematician' }, removed: [] },
    {
      type: 'CustomerSaved',
      customer_id: CustomerId.parse(uuidv7()),
      customer: person,
      sent: person,
      by: 'server',
      consent_answers: {},
      marketing_answers: null,
    },
    { type: 'AnswersSaved', saved: { conditions: ['asthma'], hazardous_pursuits: [], alcohol_units: 6 }, removed: [] },
    {
      type: 'QuoteIssued',
      quote_id,
      organisation_id,
      application_id,
      product_id,
      journey_id,
      product_release_id: release_id,
      inputs_digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      decision: 'standard',
      currency_code: 'GBP',
      premium_pence: 1_432,
      annual_premium_pence: 17_184,
      total_premium_pence: 429_600,
      policy_fee_pence: 150,
      cover_amount_pence: 25_000_000,
      term_years: 25,
      joint: false,
      members: null,
      start_date: '2026-06-01',
      components: [
        {
          cover_id,
          cover_index: 0,
          cover_type: 'life',
          title: null,
          pricing_basis: 'rated',
          benefit_basis: 'lump_sum',
          cover_amount_pence: 25_000_000,
          monthly_benefit_pence: null,
          term_years: 25,
          expires_on: '2051-06-01',
          premium_pence: 1_282,
          premium_basis: 'guaranteed',
          review_period_years: null,
          indexation_method: 'none',
          ci_payout_basis: 'additional',
          members: null,
          member_premium_pence: null,
          minimum_premium_applied: false,
          loading_percent: 0,
        },
      ],
      excluded_covers: [],
      journey_loading: '1.00',
      loadings: [],
      rate_tables: [{ key: 'life.level', version: 1 }],
      expires_at: '2026-06-30T12:00:00.000Z',
    },
    { type: 'QuoteAccepted', quote_id, via: 'accept_quote' },
  ]
}

const metadataOf = (): Metadata => ({
  organisation_id,
  actor: { type: 'api', id: api_application_id },
  correlation_id: uuidv7(),
  causation_id: null,
  occurred_at: new Date().toISOString(),
})

const asWritten = (stream: string, event: ApplicationStreamEvent): Written => ({
  stream,
  event: { id: uuidv7(), ...toStored(applicationStreamEvents, event), metadata: metadataOf() },
})

/** An application that has just been started. */
export const startOf = (number: number): Written => {
  const [started] = eventsOf(number)
  if (started?.type !== 'ApplicationStarted') throw new Error('An application begins with its start.')
  return asWritten(`application-${started.application_id}`, started)
}

/** What many applications wrote who were filled in at the same time, each at a pace of its own. */
export const past = function* (count: number): Generator<Written> {
  const random = randomFrom(1)
  let started = 0
  const begin = () => {
    const events = eventsOf(started++)
    const [first] = events
    const id = first?.type === 'ApplicationStarted' ? first.application_id : ''
    return { stream: `application-${id}`, rest: events.values() }
  }
  const open = Array.from({ length: underWay }, begin)

  for (let written = 0; written < count;) {
    const place = Math.floor(random() * open.length)
    const next = open[place]?.rest.next()
    if (next?.value && open[place]) {
      yield asWritten(open[place].stream, next.value)
      written++
    } else open[place] = begin()
  }
}

/** The same numbers in every run, so that runs can be compared. */
const randomFrom = (seed: number) => {
  let state = seed
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
