import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { categoryOf, idOf } from '#domain/event.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { withoutSecrets } from '../../query-api/audit/event.ts'
import { withoutPeople } from '../../query-api/audit/record-history.ts'
import { exportedOf } from '../../query-api/audit/people/exported.ts'
import { samples, type StoredSample } from '../stored-events/samples.ts'

/** Records of people that an export finds: their own, those that the list of all events names, and those that these follow from. */
const found: readonly string[] = [
  'application',
  'complaint',
  'customer',
  'inbound_event',
  'ingest',
  'lead',
  'legal_hold',
  'membership',
  'message_news',
  'outcome_report',
  'outcomes',
  'outreach_person',
  'policy',
  'proposal',
]

/** What is personal in these is not about whom the firm serves. */
const ofTheTeam: readonly string[] = ['pipeline', 'user']

const ofTheTeamsTypes = [
  ...new Set(
    samples.filter(({ event }) => ofTheTeam.includes(categoryOf(event.stream))).map(({ event }) => event.type),
  ),
]
  .filter((type) => storedEvents[type]?.personal.length)
  .toSorted()

const organisation_id = OrganisationId.parse(randomUUID())
const fieldsOf = ({ event }: StoredSample) => storedEvents[event.type]?.personal ?? []
const about = samples.filter(
  (sample) => fieldsOf(sample).length > 0 && !ofTheTeam.includes(categoryOf(sample.event.stream)),
)
/** The newest version of each, with something in each personal field. */
const full = about.flatMap((sample): readonly StoredSample[] => {
  const shape = storedEvents[sample.event.type]
  if (!shape || sample.event.schema_version !== shape.version) return []
  const said = shape.personal.map((field) => [field, sample.readsAs[field] ?? `the ${field} of somebody`] as const)
  const data = { ...sample.readsAs, ...Object.fromEntries(said) }
  return [{ ...sample, event: { ...sample.event, data }, readsAs: data }]
})

/** Whoever's key the personal values of an event are under, and the export of it for some person. */
const exportFor = ({ event, readsAs }: StoredSample, isOwner: boolean) => {
  const subject = storedEvents[event.type]?.subject(readsAs, idOf(event.stream)) ?? null
  const person_id = CustomerId.parse(isOwner && subject !== null ? subject : randomUUID())
  const isOfStream = subject === null && isOwner
  const ofAnother = event.type === 'PartnerAnswersSaved'
  const sealed = new Set(isOfStream !== ofAnother ? [event.stream] : [])
  return exportedOf(event, {
    organisation_id,
    person_id,
    held: { streams: [], sealed },
    currency: 'GBP',
  }).event
}

describe('an export', () => {
  test('finds every kind of record that has something personal in it', () => {
    const categories = new Set(about.map(({ event }) => categoryOf(event.stream)))

    expect([...categories].filter((category) => !found.includes(category))).toEqual([])
  })

  test('is tried with every type of event that has something personal in it', () => {
    const types = new Set(about.map(({ event }) => event.type))
    const known = Object.keys(storedEvents).filter((type) => storedEvents[type]?.personal.length)

    expect(full.map(({ event }) => event.type).toSorted()).toEqual([...types].toSorted())
    expect(known.filter((type) => !types.has(type)).toSorted()).toEqual(ofTheTeamsTypes)
  })

  test.each([...about, ...full])('of $name holds each personal value, for whom it is about', (sample) => {
    const { data } = exportFor(sample, true)

    for (const field of fieldsOf(sample))
      expect([field, data[field]]).toEqual([field, withoutSecrets(sample.readsAs[field])])
  })

  test.each([...about, ...full])('of $name holds none of them for anybody else', (sample) => {
    const { data, personal } = exportFor(sample, false)
    const { type: _type, ...emptied } = withoutPeople({ ...sample.readsAs, type: sample.event.type })

    expect(data).toEqual(withoutSecrets(emptied))
    expect(personal).toMatch(/of_another|none/)
  })
})
