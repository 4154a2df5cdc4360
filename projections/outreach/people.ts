import type { Metadata } from '#domain/event.ts'
import { outreachPersonEvents, type OutreachPersonEvent } from '#domain/outreach/events.ts'
import { evolvePerson, expectingOf, nobody, type Person } from '#domain/outreach/record.ts'
import { documentProjection, happenedAt } from '../document-projection.ts'

const personAfter = (person: Person | undefined, event: OutreachPersonEvent, metadata: Metadata): Person =>
  evolvePerson(person ?? nobody, event, metadata)

/** All that is between a person and outreach, by which it is known when that has come to its end. */
export const outreachPeople = documentProjection({
  name: 'outreach_people',
  version: 1,
  categories: ['outreach_person'],
  events: outreachPersonEvents,
  evolve: personAfter,
  columns: {
    expecting: { type: 'json', of: expectingOf },
    updated_at: happenedAt,
    document: 'json',
  },
  indexes: ['organisation_id, updated_at, id'],
})
