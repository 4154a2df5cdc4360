import { afterAll, beforeAll, expect, test } from 'vitest'
import { customer } from '#domain/customers/customer.ts'
import { fromStored, idOf, type EventShapes, type RecordedEvent } from '#domain/event.ts'
import { application } from '#domain/applications/application.ts'
import { makeApplicationConsent } from '../../command-api/applications/application-consent.ts'
import { makePeople } from '../../command-api/customers/people.ts'
import { whenCustomerSavedRecordCustomer } from '../../command-api/customers/when-customer-saved-record-customer.ts'
import { whenQuoteIssuedRecordSoftOptIn } from '../../command-api/customers/when-quote-issued-record-soft-opt-in.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { contextOf, type Reaction } from '../../command-api/reactions/reaction.ts'
import { as, applicationApis, type Fixture } from '../applications/fixture.ts'
import { release } from '../applications/release.ts'
import { samples } from '../stored-events/samples.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await applicationApis()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const never = new AbortController().signal

/** Lets the customers' records follow what applications were told so far, from the first event on. */
const follow = async () => {
  const { writer, dataKeys } = fixture
  const people = makePeople({ writer, digest: dataKeys.digest })
  const answersOf = makeApplicationConsent(writer, { release: async () => release })
  const { load } = commandHandler(writer, application)
  const customerOf = async ({ stream }: RecordedEvent) => (await load(idOf(stream)))?.record.customer?.id
  const run = async <Shapes extends EventShapes>(reaction: Reaction<Shapes>) => {
    for (const recorded of await fixture.log.readAll())
      if (recorded.type in reaction.events)
        await reaction.react(fromStored(reaction.events, recorded), recorded, contextOf(reaction, recorded, never))
  }
  await run(whenCustomerSavedRecordCustomer(writer, { people, answersOf }))
  await run(whenQuoteIssuedRecordSoftOptIn({ people, answersOf, customerOf }))
}

/** An application whose customer answered so: what is recorded of them from then on. */
const answered = async (answers: object, by: 'server' | 'browser' = 'server') => {
  const anna = { first_name: 'Anna', last_name: 'Ash', email: `${crypto.randomUUID()}@example.org` }
  const { body } = await fixture.start({}, as(by))
  const { id, share_token } = body.data
  const token = { 'X-Share-Token': String(share_token) }
  const { body: saved } = await fixture.saveCustomer(
    id,
    { customer: anna, ...answers },
    as(by, by === 'browser' ? token : {}),
  )
  await follow()
  return { id, customer_id: saved.data.customer?.id ?? '' }
}

const quoted = async (id: string) => {
  const sample = samples.find(({ name }) => name === 'QuoteIssued.v1')?.event
  if (!sample) throw new Error('There is no quote.')
  const { type, schema_version, data, metadata } = sample
  await fixture.log.append(`application-${id}`, 'any', [
    { id: crypto.randomUUID(), type, schema_version, data, metadata },
  ])
  await follow()
}

const consentOf = async (id: string) => {
  await follow()
  const record = await commandHandler(fixture.writer, customer).load(id)
  return (record?.consent ?? []).map(({ purpose, channel, state, basis, method, wording, source }) => ({
    said: `${purpose} ${channel} ${state} ${basis}`,
    method,
    wording,
    source: source.type,
  }))
}

test('the marketing question grants and refuses by channel, with its words', async () => {
  const { customer_id } = await answered({ marketing_answers: { email: true, sms: false } }, 'browser')

  const question = { method: 'marketing question', wording: 'May we write to you?', source: 'application' }
  expect(await consentOf(customer_id)).toEqual([
    { said: 'first_party_marketing email granted consent', ...question },
    { said: 'first_party_marketing sms refused consent', ...question },
  ])
})

test('a ticked box refuses its purpose and channels, and a quote later does not undo it', async () => {
  const { id, customer_id } = await answered({ consent_answers: { no_email: false } })
  const refused = { method: 'opt-out box', wording: 'no_email', source: 'application' }
  const expected = [{ said: 'first_party_marketing email refused soft_opt_in', ...refused }]

  expect(await consentOf(customer_id)).toEqual(expected)
  await quoted(id)
  expect(await consentOf(customer_id)).toEqual(expected)
})

test('boxes left alone grant nothing before a quote, and email about similar products after it', async () => {
  const { id, customer_id } = await answered({ consent_answers: {} })
  expect(await consentOf(customer_id)).toEqual([])

  await quoted(id)

  expect(await consentOf(customer_id)).toMatchObject([
    { said: 'first_party_marketing email granted soft_opt_in', method: 'opt-out box left alone' },
  ])
})

test('where no box was shown, a quote grants nothing', async () => {
  const { id, customer_id } = await answered({})

  await quoted(id)

  expect(await consentOf(customer_id)).toEqual([])
})
