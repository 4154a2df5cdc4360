import { v7 as uuidv7 } from 'uuid'
import { applicationStreamEvents, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import { toStored, type Metadata, type NewEvent } from '#domain/event.ts'
import {
  ApiApplicationId,
  ApplicationId,
  CustomerId,
  JourneyId,
  OrganisationId,
  PresentationId,
  ProductId,
  QuoteId,
  ReleaseId,
} from '#domain/values.ts'
import { answered, covered, customerSaved, started } from '../test/applications/builders.ts'
import { quoteIssued } from '../test/quotes/issued.ts'

export type Written = { readonly stream: string; readonly event: NewEvent }

const organisation_id = OrganisationId.parse(uuidv7())
const api_application_id = ApiApplicationId.parse(uuidv7())
const product_id = ProductId.parse(uuidv7())
const release_id = ReleaseId.parse(uuidv7())
const journey_id = JourneyId.parse(uuidv7())

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
    started({
      application_id,
      organisation_id,
      api_application_id,
      idempotency_key: `bench-${number}`,
      asked_for: { product_slug: 'term-life', journey_slug: 'online', presentation_slug: null },
      product_id,
      release_id,
      journey_id,
      presentation_id: PresentationId.parse(uuidv7()),
      provenance: { page_url: 'https://example.com/life?utm_source=newsletter', locale: 'en-GB' },
    }),
    answered({ date_of_birth: '1986-02-11', sex: 'female', smoker: 'never' }),
    covered({ cover_amount_pence: 25_000_000, term_years: 25 }),
    answered({ height_cm: 168, weight_kg: 64, occupation: 'Mathematician' }),
    customerSaved(person, { customer_id: CustomerId.parse(uuidv7()), consent_answers: {} }),
    answered({ conditions: ['asthma'], hazardous_pursuits: [], alcohol_units: 6 }),
    quoteIssued({ quote_id, organisation_id, application_id, product_id, journey_id, product_release_id: release_id }),
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
  const [first] = eventsOf(number)
  if (first?.type !== 'ApplicationStarted') throw new Error('An application begins with its start.')
  return asWritten(`application-${first.application_id}`, first)
}

/** What many applications wrote who were filled in at the same time, each at a pace of its own. */
export const past = function* (count: number): Generator<Written> {
  const random = randomFrom(1)
  let begun = 0
  const begin = () => {
    const events = eventsOf(begun++)
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
