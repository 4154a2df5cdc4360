import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { CustomerId, OrganisationId } from '../values.ts'

/** The kinds of records that an organisation may have erased after a time. */
export const RetentionKind = z.enum(['applications', 'leads', 'policies', 'claims', 'messages', 'integration_log'])
export type RetentionKind = z.infer<typeof RetentionKind>

/** A hundred years. */
const most = { days: 36_500, months: 1_200 }

const asPeriod = (text: z.ZodString) =>
  text.regex(/^[1-9]\d{0,4} (days|months)$/, 'must be a number of days or months, such as 24 months')

/** For how long a kind is kept: a number of days or months. */
export const RetentionPeriod = asPeriod(z.string()).refine(
  (period) => Number.parseInt(period) <= (period.endsWith('days') ? most.days : most.months),
  'must be at most 36500 days or 1200 months',
)
export type RetentionPeriod = z.infer<typeof RetentionPeriod>

/** The period of each kind that has one; a kind without is kept. */
export const RetentionPeriods = z.partialRecord(RetentionKind, RetentionPeriod)
export type RetentionPeriods = Readonly<z.infer<typeof RetentionPeriods>>

const period = asPeriod(z.string())

/** Stream `retention-<organisation id>`: for how long an organisation keeps its records. */
export const retentionEvents = {
  /** All periods as they are from now on. */
  RetentionSet: event({ organisation_id: OrganisationId, periods: z.partialRecord(RetentionKind, period) }),
}

/** A record that can be erased by itself: a claim is a part of its policy. */
export const RetainedRecord = z
  .object({
    type: z.enum([
      'application',
      'claim',
      'ingest',
      'lead',
      'message_news',
      'outcome_report',
      'outreach_person',
      'policy',
    ]),
    id: z.uuid().toLowerCase(),
  })
  .meta({ id: 'RetainedRecord' })
export type RetainedRecord = z.infer<typeof RetainedRecord>

const stream = z.string().regex(/^[a-z_]+-[\da-f-]{36}$/, 'must be the name of a stream')

const about = {
  record: RetainedRecord,
  contact_id: CustomerId.nullable(),
  /** The second person of joint cover. */
  second_contact_id: CustomerId.nullable(),
}

/**
 * Stream `record_erasure-<id>`, the id made from organisation and record: nothing in it is personal, so that it stays and says what
 * was done. What a person has one of for ever, such as their lead, can be erased again after it has begun again.
 */
export const recordErasureEvents = {
  RecordErasureRequested: event({
    organisation_id: OrganisationId,
    ...about,
    kind: RetentionKind,
    /** Null: a restored backup had brought the record back, and it is erased again. */
    period: period.nullable(),
    /** When the record came to its end, from which the period counts. */
    ended_at: z.iso.datetime().nullable(),
  }),
  /** Before anything was destroyed, something came up for which the record is needed, or its period was changed. */
  RecordErasureGivenUp: event({ ...about, because: z.string() }),
  /** The keys are destroyed: what these streams tell of the record's people is read with empty values from now on. */
  RecordErased: event({
    ...about,
    streams: z.array(stream),
    /** An earlier version has sealed a part of it under the key of the person, with whom alone that goes. */
    kept_with_person: z.boolean(),
  }),
}
export type RecordErasureEvent = EventOf<typeof recordErasureEvents>
