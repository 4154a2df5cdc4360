import { expect, test } from 'vitest'
import { seededModel, type Outcome } from '#domain/outcomes/record.ts'
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

const wins = seededModel.types.filter(({ effect }) => effect === 'won')
const renewed = wins.map((type) => ({ ...type, key: 'renewed' }))

test.each([
  ['sold, whichever type by which a lead is won comes first', [...renewed, ...wins], 'sold'],
  ['the first type by which a lead is won, where none is called sold', renewed, 'renewed'],
])('the outcome of a policy is %s', async (_which, types, type) => {
  await using fixture = await openLeads({ types })
  await fixture.send(website, { contact_id })

  await sale(fixture)

  expect(await outcomesOf(fixture)).toMatchObject([{ type, source: 'policy' }])
})

test('a policy that is cancelled cancels its deal, and the lead is lost with the reason when it was the only sale', async () => {
  await using fixture = await openLeads()
  await fixture.send(website, { contact_id })
  await sale(fixture)

  await fixture.happened('PolicyActivated.v1')
  await fixture.happened('PolicyDocumentIssued.v1')
  await fixture.happened('PolicyCancelled.v1')
  await fixture.settled()

  const [sold, cancelled, ...others] = await outcomesOf(fixture)
  expect(others).toEqual([])
  expect(cancelled).toMatchObject({ type: 'cancelled', source: 'policy', deal_ref: sold?.deal_ref, contact_id })
  const lead = await fixture.leads.find(organisation_id, contact_id)
  expect(lead?.record).toMatchObject({ shown: { status: 'lost' }, outcome_reason: expect.any(String) as unknown })
  const types = await typesOf(fixture)
  for (const kind of ['policy_updated', 'document_sent', 'policy_cancelled'])
    expect(types.filter((type) => type === `activity.${kind}`)).toHaveLength(1)

  await fixture.reactAgain()
  await fixture.settled()
  expect(await typesOf(fixture)).toEqual(types)
  expect(await outcomesOf(fixture)).toHaveLength(2)
})

test('a sale that is told late, of a policy that was cancelled meanwhile, makes no lost lead won', async () => {
  await using fixture = await openLeads()
  await fixture.send(website, { contact_id })
  // What tells of the sale is set aside.
  fixture.holdBack('when-policy-bound-win-lead')
  await sale(fixture)
  await fixture.happened('PolicyActivated.v1')
  await fixture.happened('PolicyDocumentIssued.v1')
  await fixture.happened('PolicyCancelled.v1')
  await fixture.settled()
  expect((await fixture.leads.find(organisation_id, contact_id))?.record.shown.status).toBe('lost')

  fixture.holdBack(undefined)
  await fixture.reactAgain()
  await fixture.settled()

  expect((await fixture.leads.find(organisation_id, contact_id))?.record.shown.status).toBe('lost')
  expect(await typesOf(fixture)).toContain('activity.policy_bound')
})

test('a cancellation that the firm has reported itself is recorded once', async () => {
  await using fixture = await openLeads()
  await fixture.send(website, { contact_id })
  await sale(fixture)
  const [sold] = await outcomesOf(fixture)
  const report = { contact_id, type: 'cancelled', occurred_at: '2026-01-15', deal_ref: sold?.deal_ref }
  expect((await fixture.post('/api/v1/crm/outcomes', report)).status).toBe(201)

  await fixture.happened('PolicyCancelled.v1')
  await fixture.settled()

  expect((await outcomesOf(fixture)).map(({ type, source }) => [type, source])).toEqual([
    ['sold', 'policy'],
    ['cancelled', 'api'],
  ])
})

test('a search of the market and what is chosen of it stand on the timeline', async () => {
  await using fixture = await openLeads()
  await fixture.send(website, { contact_id })
  await fixture.happened('ApplicationStarted.v2', application)
  await fixture.happened('CustomerSaved.v2', application)
  await fixture.happened('MarketSearchCompleted.v1', application)
  await fixture.happened('ApplicationHandedOff.v1', application)
  await fixture.settled()

  expect(await typesOf(fixture)).toEqual(
    expect.arrayContaining(['activity.market_quotes_ready', 'activity.handed_off']) as unknown,
  )
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

test('a person who is no lead does not become one by applying: their activities and the outcome stand with the person', async () => {
  await using fixture = await openLeads()
  const timeline = async () => {
    const { body } = await fixture.get(`/admin/v1/organisations/${organisation_id}/leads/${contact_id}/timeline`)
    return (body as { data: readonly { event_type: string }[] }).data.map(({ event_type }) => event_type)
  }
  const activities = ['application_started', 'quote_issued', 'quote_accepted', 'policy_bound'].map(
    (kind) => `activity.${kind}`,
  )

  await sale(fixture)
  await fixture.reactAgain()
  await fixture.settled()

  expect(await fixture.leads.find(organisation_id, contact_id)).toBeUndefined()
  expect(await outcomesOf(fixture)).toHaveLength(1)
  expect((await timeline()).toSorted()).toEqual(activities.toSorted())
  const listed = async () => (await fixture.get(`/admin/v1/organisations/${organisation_id}/leads`)).body
  expect(await listed()).toMatchObject({ data: [] })
  expect((await fixture.get('/api/v1/crm/leads')).body).toMatchObject({ data: [] })
  expect(await typesOf(fixture)).toEqual([])

  await fixture.send(website, { contact_id })

  expect((await timeline()).toSorted()).toEqual([...activities, 'lead.created'].toSorted())
  expect(await typesOf(fixture)).toEqual(['lead.created'])
  expect(await listed()).toMatchObject({ data: [{ contact_id, shown: { status: 'open' }, activities: {} }] })
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
