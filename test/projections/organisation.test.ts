import { expect, test } from 'vitest'
import { fromStored, type RecordedEvent } from '#domain/event.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { samples } from '../stored-events/samples.ts'

type Keys = (event: unknown, recorded: RecordedEvent) => readonly { readonly organisation_id?: unknown }[]

/** Holds events of the installation, which belong to no organisation, beside those of organisations. */
const ofAll = 'recorded_events'

const cases = allProjections
  .filter(({ name }) => name !== ofAll)
  .flatMap((projection) =>
    samples
      .filter(({ event }) => Object.hasOwn(projection.events, event.type))
      .map(({ name, event }) => ({ projection: projection.name, name, event, projected: projection })),
  )

test.each(cases)('$projection never passes over $name because its organisation is missing', ({ projected, event }) => {
  const keys = projected.keys as Keys
  const read = fromStored(projected.events, event)
  const without = { ...event, metadata: { ...event.metadata, organisation_id: null } }
  const known = keys(read, event)

  // Some events name their organisation in the data; the others are refused, which sets their record aside.
  const keysWithout = () => {
    try {
      return keys(read, without)
    } catch (error) {
      return String(error)
    }
  }
  expect([known, `Error: ${event.type} ${event.id} belongs to no organisation.`]).toContainEqual(keysWithout())
})
