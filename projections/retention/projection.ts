import { recordErasureEvents, retentionEvents } from '#domain/retention/events.ts'
import { evolvePeriods, evolveRecordErasure, type RetentionRules } from '#domain/retention/record.ts'
import { documentProjection, position } from '../document-projection.ts'

/** For how long each organisation that has said so keeps its records. */
export const retentionRules = documentProjection({
  name: 'retention_rules',
  version: 2,
  categories: ['retention'],
  events: retentionEvents,
  evolve: (before: RetentionRules | undefined, event, recorded): RetentionRules => ({
    organisation_id: event.organisation_id,
    ...evolvePeriods(before, event, recorded),
  }),
  columns: { document: 'json' },
})

/** Records that were erased by themselves, or are about to be. */
export const recordErasures = documentProjection({
  name: 'record_erasures',
  version: 1,
  categories: ['record_erasure'],
  events: recordErasureEvents,
  evolve: evolveRecordErasure,
  columns: {
    kind: 'text',
    record_type: { type: 'text', of: ({ record }) => record.type },
    record_id: { type: 'uuid', of: ({ record }) => record.id },
    contact_id: 'uuid',
    second_contact_id: 'uuid',
    state: 'text',
    kept_with_person: 'boolean',
    requested_at: 'timestamptz',
    erased_at: 'timestamptz',
    // When all that follows from the last event is done, the record is gone from the read models too.
    position,
    document: 'json',
  },
  indexes: [
    'organisation_id, requested_at, id',
    'organisation_id, state, requested_at, id',
    'organisation_id, kind, requested_at, id',
    'organisation_id, kind, state, requested_at, id',
    'organisation_id, kept_with_person, requested_at, id',
    'organisation_id, record_type, record_id',
    'organisation_id, contact_id where contact_id is not null',
    'organisation_id, second_contact_id where second_contact_id is not null',
  ],
})
