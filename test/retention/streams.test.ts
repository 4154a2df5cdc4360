import { expect, test } from 'vitest'
import { RetainedRecord } from '#domain/retention/events.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { subjectsOf } from '../../command-api/retention/streams.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const contact_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
const second_contact_id = CustomerId.parse('c0000000-0000-4000-8000-000000000002')
const id = 'a0000000-0000-4000-8000-000000000001'
const [one, other] = [`person:${contact_id}`, `person:${second_contact_id}`]

const subjects = (type: RetainedRecord['type'], streams: readonly string[], ownId = id) =>
  subjectsOf({ organisation_id, record: { type, id: ownId }, contact_id, second_contact_id }, streams)

test('with a record go its own keys, and those of what it says of each person', () => {
  expect(subjects('application', ['application-1'])).toEqual([
    'application-1',
    `${one}/application-1`,
    `${other}/application-1`,
  ])
  expect(subjects('policy', ['policy-1', 'application-2'])).toEqual([
    'policy-1',
    `${one}/policy-1`,
    `${other}/policy-1`,
    'application-2',
    `${one}/application-2`,
    `${other}/application-2`,
  ])
  expect(subjects('claim', ['policy-1'])).toEqual([`${one}/policy-1/claim-${id}`, `${other}/policy-1/claim-${id}`])
  expect(subjects('lead', ['lead-1', 'outcomes-1']).slice(0, 1)).toEqual([`${one}/lead-1`])
  expect(subjects('ingest', ['ingest-1', 'inbound_event-2'])).toEqual(['ingest-1', 'inbound_event-2'])
  expect(subjects('outreach_person', ['outreach_person-1'])).toEqual([
    `${one}/outreach_person-1`,
    `${other}/outreach_person-1`,
  ])
  expect(subjects('message_news', ['message_news-1'])).toEqual([`${one}/message_news-1`, `${other}/message_news-1`])
  expect(subjects('outcome_report', ['outcome_report-1'])).toEqual(['outcome_report-1'])
})

test.each(RetainedRecord.shape.type.options)('with a record of the type %s never goes the key of a person', (type) => {
  const streams = [
    'application',
    'complaint',
    'customer',
    'inbound_event',
    'ingest',
    'lead',
    'membership',
    'policy',
  ].map((category) => `${category}-1`)
  expect(subjects(type, streams).filter((subject) => /^person:[^/]+$/.test(subject))).toEqual([])
})
