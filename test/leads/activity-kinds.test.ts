import { expect, test } from 'vitest'
import { ActivityKind } from '#domain/leads/events.ts'
import type { LeadFeedEvent } from '#domain/lead-feed/record.ts'
import { contact_id, organisation_id, website } from './builders.ts'
import { openLeads, type Fixture } from './fixture.ts'

/** Every kind of activity that there is, in the words of the published list. */
const kinds = `
  note call missed_call email sms whatsapp letter reply unsubscribed bounced booking booking_changed
  booking_cancelled booking_attended booking_missed form visit link_clicked document_sent document_opened task
  application_started application_abandoned application_referred application_declined quote_issued
  quote_accepted quote_expired market_quotes_ready handed_off policy_bound policy_updated policy_cancelled
  policy_lapsed premium_failed claim_opened outcome outcome_reversed consent_changed survey_answered
  membership_changed complaint`
  .trim()
  .split(/\s+/)

const activities = async (fixture: Fixture) => {
  const { body } = await fixture.get(`/api/v1/crm/events?contact_id=${contact_id}&type=activity.*&limit=200`)
  return (body as { data: readonly LeadFeedEvent[] }).data
}

test('the team records an activity of every kind, and whoever sent the lead reads it as activity.<kind>', async () => {
  await using fixture = await openLeads()
  await fixture.send(website, { contact_id })
  const address = `/admin/v1/organisations/${organisation_id}/leads/${contact_id}/acts`
  const related = { type: 'policy', id: crypto.randomUUID() }
  const given = { summary: 'As it was', channel: 'phone', direction: 'inbound', related }
  const acts = kinds.map((kind) => ({ act: 'record_activity', activity_id: crypto.randomUUID(), kind, ...given }))

  const middle = kinds.length / 2
  for (const some of [acts.slice(0, middle), acts.slice(middle)])
    expect((await fixture.post(address, { acts: some, by: 'Olive Owner' })).status).toBe(200)

  expect(ActivityKind.options).toEqual(kinds)
  const told = await activities(fixture)
  expect(told.map(({ event_type }) => event_type)).toEqual(kinds.map((kind) => `activity.${kind}`))
  expect(told.map(({ payload }) => payload)).toEqual(acts.map(({ act: _act, ...activity }) => activity))
  expect(told[0]?.actor).toEqual({ type: 'user', name: 'Olive Owner' })
})

test('what happens with the application of a lead stands on its timeline, each as its kind', async () => {
  await using fixture = await openLeads()
  await fixture.send(website, { contact_id })
  const left = { type: 'ApplicationAbandoned', data: { reason: 'inactive', superseded_by: null } }
  const happened = [
    ['QuoteIssued.v1', 'quote_issued'],
    ['QuoteAccepted.v1', 'quote_accepted'],
    ['QuoteExpired.v1', 'quote_expired'],
    ['MarketSearchCompleted.v1', 'market_quotes_ready'],
    ['ApplicationHandedOff.v1', 'handed_off'],
    ['ApplicationReferred.v2', 'application_referred'],
    ['ApplicationDeclined.v2', 'application_declined'],
    [left, 'application_abandoned'],
  ] as const

  for (const [what, kind] of happened) {
    const stream = `application-${crypto.randomUUID()}`
    const before = (await activities(fixture)).length
    await fixture.happened('ApplicationStarted.v2', stream)
    await fixture.happened('CustomerSaved.v2', stream)
    await (typeof what === 'string' ? fixture.happened(what, stream) : fixture.append(stream, what))
    await fixture.settled()

    const told = (await activities(fixture)).slice(before)
    const own = told.filter(({ event_type }) => event_type !== 'activity.consent_changed')
    expect(own.map(({ event_type }) => event_type)).toEqual(['activity.application_started', `activity.${kind}`])
    expect(own[1]?.payload['related']).toMatchObject({ type: kind.startsWith('quote') ? 'quote' : 'application' })
  }
})

test('what happens with the policy of a lead stands on its timeline, each as its kind', async () => {
  await using fixture = await openLeads()
  await fixture.send(website, { contact_id })
  await fixture.happened('PolicyBound.v1')
  const [bound] = (await fixture.log.readAll()).filter(({ type }) => type === 'PolicyBound')
  await fixture.settled()
  const happened = [
    ['PolicyActivated.v1', 'policy_updated'],
    ['PolicyDocumentIssued.v1', 'document_sent'],
    ['PremiumFailed.v1', 'premium_failed'],
    ['ClaimOpened.v1', 'claim_opened'],
    ['PolicyLapsed.v1', 'policy_lapsed'],
    ['PolicyCancelled.v1', 'policy_cancelled'],
  ] as const

  for (const [what, kind] of happened) {
    const before = (await activities(fixture)).length
    await fixture.happened(what, bound?.stream)
    await fixture.settled()

    const told = (await activities(fixture)).slice(before).map(({ event_type }) => event_type)
    expect(told.filter((type) => type !== 'activity.outcome')).toEqual([`activity.${kind}`])
  }
})
