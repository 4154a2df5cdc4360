import { z } from 'zod'
import type { Recorded } from '../decider.ts'
import { CustomerId, OrganisationId } from '../values.ts'
import { RetainedRecord, RetentionKind, type RecordErasureEvent, type RetentionPeriods } from './events.ts'

/** For how long an organisation keeps its records, by their kind. */
export type RetentionRules = { readonly organisation_id: OrganisationId; readonly periods: RetentionPeriods }

/** The receipt of a record that was erased by itself, because its period was over. */
export const RecordErasure = z
  .object({
    organisation_id: OrganisationId,
    kind: RetentionKind,
    record: RetainedRecord,
    contact_id: CustomerId.nullable().describe('The person whom the record is about; null: nobody is known.'),
    second_contact_id: CustomerId.nullable().describe('The second person of joint cover.'),
    state: z.enum(['requested', 'given_up', 'erased']),
    period: z.string().nullable().describe('The period that was over; null: erased again after a restore.'),
    ended_at: z.iso.datetime().nullable().describe('When the record came to its end, from which the period counts.'),
    requested_at: z.iso.datetime(),
    erased_at: z.iso.datetime().nullable().describe('When its keys were destroyed.'),
    because: z.string().nullable().describe('Why it was given up.'),
    streams: z.int().describe('How many streams of events told of it.'),
    kept_with_person: z
      .boolean()
      .describe(
        'A version before this one sealed a part of it under the key of the person: that part can be read until the person is erased, who is as soon as nothing of theirs is kept.',
      ),
  })
  .meta({ id: 'RecordErasure' })
export type RecordErasure = z.infer<typeof RecordErasure>

/** The erasure of a record after an event, for the command side and the read model alike. */
export const evolveRecordErasure = (
  before: RecordErasure | undefined,
  event: RecordErasureEvent,
  { occurred_at }: Recorded,
): RecordErasure | undefined => {
  switch (event.type) {
    case 'RecordErasureRequested': {
      const { organisation_id, kind, record, contact_id, second_contact_id, period, ended_at } = event
      const given = { organisation_id, kind, record, contact_id, second_contact_id, period, ended_at }
      const asked = { state: 'requested', requested_at: occurred_at, erased_at: null, because: null } as const
      return { ...given, ...asked, streams: 0, kept_with_person: false }
    }
    case 'RecordErasureGivenUp':
      return before && { ...before, state: 'given_up', because: event.because }
    case 'RecordErased': {
      const { streams, kept_with_person } = event
      return before && { ...before, state: 'erased', erased_at: occurred_at, streams: streams.length, kept_with_person }
    }
  }
}
