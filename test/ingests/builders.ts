import type { IngestContent, IngestEvent } from '#domain/ingests/events.ts'
import { ApiApplicationId, CustomerId, IngestId, OrganisationId } from '#domain/values.ts'

/** A lead that was sent, in each state that it can be in. */

export const ingest_id = IngestId.parse('1a000000-0000-4000-8000-000000000001')
export const contact_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
export const nothing: IngestContent = {
  identity: null,
  data: null,
  text: null,
  declared: null,
  consent: null,
  provenance: null,
}
export const content: IngestContent = { ...nothing, identity: { email: 'ada@example.com' } }
export const received = {
  type: 'IngestReceived',
  ingest_id,
  organisation_id: OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f'),
  api_application_id: ApiApplicationId.parse('0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b'),
  source: 'website',
  source_reference: null,
  campaign: null,
  happened_at: null,
  accepted_at: '2026-01-15T12:00:00.000Z',
  content,
} satisfies IngestEvent
export const started: IngestEvent = { type: 'IngestResolutionStarted', attempt: 1 }
export const written = { facts_written: 2, fields_proposed: 1, activities_written: 3 }
export const who = { contact_id, matched_by: 'email', is_new_lead: false } as const
export const resolved: IngestEvent = { type: 'IngestResolved', ...who, ...written }
export const applied = { type: 'IngestApplied', ...written, truncated: false } satisfies IngestEvent
export const failures = [{ field: 'email', rule: 'required', reason: 'is missing' }] as const
export const held: IngestEvent = { type: 'IngestHeld', failures: [...failures] }
export const inReview: IngestEvent = { type: 'IngestReviewNeeded', reason: 'several_people', candidates: [contact_id] }
export const spam: IngestEvent = { type: 'IngestDiscarded', reason: 'trap_field', note: null }
export const failedAt = (step: 'resolving' | 'extracting'): IngestEvent => ({
  type: 'IngestFailed',
  step,
  reason: 'It broke.',
})
export const later = '2026-01-15T12:00:10.000Z'
export const deferred = (step: 'resolving' | 'extracting', attempt: number): IngestEvent => ({
  type: 'IngestDeferred',
  step,
  attempt,
  reason: 'It broke.',
  retry_after: later,
})

export const resolving = [received, started]
export const extracting = [...resolving, resolved]
export const states: Readonly<Record<string, readonly IngestEvent[]>> = {
  received: [received],
  resolving,
  extracting,
  applied: [...extracting, applied],
  held: [...resolving, held],
  needs_review: [...resolving, inReview],
  discarded: [...resolving, spam],
  failed: [...resolving, failedAt('resolving')],
  deferred: [...resolving, deferred('resolving', 1)],
}

/** Every ingest that is shown has these; others only when there is something to say. */
export const alwaysShown = [
  'id',
  'status',
  'source',
  'received_at',
  'facts_written',
  'fields_proposed',
  'activities_written',
  'truncated',
  'explanation',
]
