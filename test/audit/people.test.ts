import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { categoryOf, type RecordedEvent } from '#domain/event.ts'
import { applicationEvents, type ApplicationEvent } from '#domain/applications/events.ts'
import { installationEvents } from '#domain/installation/events.ts'
import { recordedEvents } from '../../projections/audit/projection.ts'
import { annaId, bertId, started } from '../applications/builders.ts'
import { recorded } from '../recorded.ts'
import { sampleEvent, samples } from '../stored-events/samples.ts'
import { rowsOf } from './rows.ts'

const organisation_id = randomUUID()
const ofApplication = (...events: readonly ApplicationEvent[]): readonly RecordedEvent[] =>
  recorded(applicationEvents, `application-${randomUUID()}`, events, { organisation_id })

const peopleOf = (events: readonly RecordedEvent[]) =>
  rowsOf(events).map(({ person_id, second_person_id }) => [person_id, second_person_id])

const saved = sampleEvent(applicationEvents, 'CustomerSaved', 2)
const partner = { ...sampleEvent(applicationEvents, 'PartnerSaved', 2), customer_id: bertId }
const choice = sampleEvent(applicationEvents, 'InterstitialChosen')

test('what was said before the person was known is about the person who is named later, and so is what follows', () => {
  const person = [saved.customer_id, null]

  expect(peopleOf(ofApplication(started(), saved, choice))).toEqual([person, person, person])
})

test('each event keeps the row that is its own', () => {
  const rows = rowsOf(ofApplication(started(), saved, choice))

  expect(rows.map(({ revision, kind }) => [revision, kind])).toEqual([
    [0, 'ApplicationStarted'],
    [1, 'CustomerSaved'],
    [2, 'InterstitialChosen'],
  ])
})

test('an application for two is about both', () => {
  const both = [saved.customer_id, bertId]

  expect(peopleOf(ofApplication(started(), saved, partner, choice))).toEqual([both, both, both, both])
})

test('a person who is named instead of another is whom all that follows is about', () => {
  const another = { ...saved, customer_id: annaId }

  expect(peopleOf(ofApplication(saved, another, choice)).map(([person]) => person)).toEqual([
    saved.customer_id,
    annaId,
    annaId,
  ])
})

test('what nobody is named in is about nobody', () => {
  expect(peopleOf(ofApplication(started()))).toEqual([[null, null]])
})

test('an event of the installation stands under no organisation’s id', () => {
  const [row] = rowsOf(
    recorded(installationEvents, 'installation-coverstream', [sampleEvent(installationEvents, 'InstallationBegun')]),
  )

  expect(row?.organisation_id).toBe('00000000-0000-0000-0000-000000000000')
})

test('every event that is stored is among those that can be searched', () => {
  const categories = new Set(samples.map(({ event }) => categoryOf(event.stream)))

  expect([...categories].filter((category) => !recordedEvents.categories.includes(category))).toEqual([])
})
