import { expect, test } from 'vitest'
import type { Outcome } from '#domain/outcomes/record.ts'
import { contact_id, organisation_id, website } from './builders.ts'
import { openLeads, type Fixture } from './fixture.ts'

const application = 'application-a0000000-0000-4000-8000-000000000077'

/** A person applies, is quoted, accepts and buys. */
const sale = async (fixture: Fixture) => {
  await fixture.happened('ApplicationStarted.v2', application)
  await fixture.happened('CustomerSaved.v2', application)
  await fixture.happened('CustomerSaved.v2', application)
  await fixture.happened('QuoteIssued.v1', application)
  await fixture.happened('QuoteAccepted.v1', application)
  await fixture.happened('PolicyBound.v1')
  await fixture.settled()
}
const outcomesOf = async (fixture: Fixture) => {
  const { body } = await fixture.get(`/api/v1/crm/outcomes?contact_id=${contact_id}`)
  return (body as { data: readonly Outcome[] }).data
}
const typesOf = async (fixture: Fixture) => {
  const { body } = await fixture.get(`/api/v1/crm/events?contact_id=${contact_id}`)
  return (body as { data: readonly { event_type: string }[] }).data.map(({ event_type }) => event_type)
}

test('applications, quotes and policies of a lead write their activities, and a policy makes it won with an outcome', async () => {
  await using fixture = await openLeads()
  await fixture.send(website, { contact_id })

  await sale(fixture)

  const types = await typesOf(fixture)
  for (const kind of ['application_started', 'quote_issued', 'quote_accepted', 'policy_bound', 'outcome'])
    expect(types.filter((type) => type === `activity.${kind}`)).toHaveLength(1)
  const lead = await fixture.leads.find(organisation_id, contact_id)
  expect(lead?.record.shown).toMatchObject({ status: 'won', stage: { key: 'won' } })
  expect(await outcomesOf(fixture)).toMatchObject([
    { type: 'sold', source: 'policy', contact_id, currency: 'GBP', missing_values: ['commission'], reversed: false },
  ])
})

test('reacting once more to all that has happened changes nothing', async () => {
  await using fixture = await openLeads()
  await fixture.send(website, { contact_id })
  await sale(fixture)
  const before = [await typesOf(fixture), await outcomesOf(fixture)]

  await fixture.reactAgain()
  await fixture.settled()

  expect([await typesOf(fixture), await outcomesOf(fixture)]).toEqual(before)
})

test('a person who is no lead does not become one by applying; the outcome stands with the person', async () => {
  await using fixture = await openLeads()

  await sale(fixture)

  expect(await fixture.leads.find(organisation_id, contact_id)).toBeUndefined()
  expect(await outcomesOf(fixture)).toHaveLength(1)
})

test('the feed tells which details of the person have changed, never what they are', async () => {
  await using fixture = await openLeads()
  const lead = await fixture.send(website)
  await fixture.know(lead, { first_name: 'Anna' })
  await fixture.know(lead, { first_name: 'Anne', phone_number: '+447911123402' })
  await fixture.settled()

  const { body } = await fixture.get(`/api/v1/crm/events?contact_id=${lead}&type=contact.details_changed`)

  expect(body).toMatchObject({ data: [{ payload: { changes: { first_name: true, phone_number: true } } }] })
})
