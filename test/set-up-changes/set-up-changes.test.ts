import { expect, test } from 'vitest'
import { fromStored, type Json, type RecordedEvent } from '#domain/event.ts'
import { setUpChanges } from '../../projections/set-up-changes/projection.ts'
import { samples } from '../stored-events/samples.ts'

const { events, keys, project, categories } = setUpChanges

const operator = { type: 'operator', id: 'ada' } as const

/** A stored sample as if somebody had just done it. */
const doneBy = (type: string, actor: RecordedEvent['metadata']['actor']): RecordedEvent => {
  const found = samples.findLast(({ event }) => event.type === type)?.event
  if (!found) throw new Error(`There is no sample of ${type}.`)
  return { ...found, metadata: { ...found.metadata, organisation_id: 'org', actor } }
}

const rowOf = (recorded: RecordedEvent) => {
  const event = fromStored(events, recorded)
  const [key] = keys(event, recorded)
  return key && project(undefined, event, recorded, key)
}

test('who published a rate table, and which one', () => {
  const recorded = doneBy('RateTablePublished', operator)

  const row = rowOf(recorded)

  const { key, version } = recorded.data['table'] as Json
  expect(row).toMatchObject({ operator: 'ada', changed_at: recorded.metadata.occurred_at })
  expect(row?.document).toMatchObject({
    type: 'RateTablePublished',
    record_type: 'rate_table',
    names: { key, version },
  })
})

test('a change shows no secret, however it is stored', () => {
  const shown = ['EndpointConnectionCreated', 'ApiApplicationCreated', 'PaymentAccountSet', 'ProviderAccountSet']
    .map((type) => JSON.stringify(rowOf(doneBy(type, operator))))
    .join('\n')

  expect(shown).toContain('"record_type":"api_application"')
  expect(shown).not.toMatch(/sealed|hash/)
})

test('what a worker or a timer does by itself is no change of an operator', () => {
  expect(rowOf(doneBy('DeliverySettingsChanged', { type: 'system', id: 'a worker' }))).toBeUndefined()
})

test('every category is one of a stored sample', () => {
  const known = new Set(samples.map(({ event }) => event.stream.split('-')[0]))

  expect(categories.filter((category) => !known.has(category))).toEqual([])
})

test('a change by a user bears their id, and no name', () => {
  const id = 'e4000000-0000-4000-8000-000000000001'

  expect(rowOf(doneBy('RateTablePublished', { type: 'user', id }))).toMatchObject({ operator: null, user_id: id })
})
