import { expect, test } from 'vitest'
import { fromStored } from '#domain/event.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { samples } from './samples.ts'
import { allEvents } from './shapes.ts'

const shapes = Object.fromEntries(allEvents)

const versions = [...allEvents].flatMap(([type, { version }]) =>
  Array.from({ length: version }, (_, index) => `${type}.v${index + 1}`),
)

test('the shapes of all stored events are known to the log', () => {
  expect(new Map(Object.entries(storedEvents))).toEqual(new Map(allEvents))
})

test('every version of every event has a sample of how it is stored', () => {
  const names = new Set(samples.map(({ name }) => name))
  const missing = versions.filter((name) => !names.has(name))
  expect(
    missing,
    'Add test/stored-events/samples/<event>.v<version>.json with the event as it is stored, its position after all others, and never change it again.',
  ).toEqual([])
})

test('every sample is of an event that there is, and the only one at its place', () => {
  const places = samples.map(({ event }) => `${event.stream}@${event.revision}`)
  expect(samples.map(({ name }) => name).toSorted()).toEqual(versions.toSorted())
  expect(samples.map(({ name }) => name)).toEqual(samples.map(({ event }) => `${event.type}.v${event.schema_version}`))
  expect(new Set(places).size).toBe(samples.length)
  expect(new Set(samples.map(({ event }) => event.position)).size).toBe(samples.length)
})

test.each(samples)('$name is read as it was when it was recorded', ({ event, readsAs }) => {
  expect(
    fromStored(shapes, event),
    'What is stored cannot change: give the event a new version with an upcast, and a sample of that version.',
  ).toEqual({ type: event.type, ...readsAs })
})

// What is read in its newest version is not parsed again, so a default in the shape would never be filled in.
test.each(samples)('$name has what the newest shape has, no more and no less', ({ event, readsAs }) => {
  expect(
    allEvents.get(event.type)?.schema.parse(readsAs),
    'The shape of the event has changed: raise its version by an upcast.',
  ).toEqual(readsAs)
})
