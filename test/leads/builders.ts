import type { LeadCommand, OneLeadCommand } from '#domain/leads/commands.ts'
import type { Facts, LeadEvent } from '#domain/leads/events.ts'
import type { Pipeline } from '#domain/pipeline/events.ts'
import { seededPipeline } from '#domain/pipeline/record.ts'
import { ApiApplicationId, CustomerId, OrganisationId } from '#domain/values.ts'

export const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
export const contact_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
export const website = ApiApplicationId.parse('d0000000-0000-4000-8000-000000000001')
export const partner = ApiApplicationId.parse('d0000000-0000-4000-8000-000000000002')
export const olive = {
  id: '71000000-0000-4000-8000-000000000001',
  full_name: 'Olive Owner',
  email: 'olive@example.org',
}
export const ingest = (index: number) => `19000000-0000-4000-8000-00000000000${index}`
export const activity = (index: number) => `ac000000-0000-4000-8000-00000000000${index}`

export const pipeline: Pipeline = {
  ...seededPipeline,
  team_members: [{ ...olive, active: true }],
  custom_fields: [
    { key: 'born', label: 'Born', type: 'date', options: [] },
    { key: 'cover', label: 'Cover', type: 'money', options: [] },
    { key: 'colour', label: 'Colour', type: 'choice', options: ['red', 'blue'] },
  ],
}

export const at = '2026-01-15T12:00:00.000Z'
export const days = (count: number) => new Date(Date.parse(at) + count * 86_400_000).toISOString()
export const user = { type: 'user', name: 'Olive Owner' } as const
export const about = { seen_by: [website], campaign: null, by: user }

export const created: Extract<LeadEvent, { type: 'LeadCreated' }> = {
  type: 'LeadCreated',
  ...about,
  organisation_id,
  contact_id,
  api_application_id: website,
  source: 'website',
  source_reference: null,
  ingest_id: ingest(1),
  external_system_id: null,
  stage: { key: 'new', kind: 'open' },
  score: 0,
  grade: 'E',
  first_contact_due_at: '2026-01-15T13:00:00.000Z',
  dormant_at: '2026-02-14T12:00:00.000Z',
}

export const receive = (changes: Partial<Extract<OneLeadCommand, { type: 'ReceiveLead' }>> = {}) =>
  ({
    type: 'ReceiveLead',
    organisation_id,
    contact_id,
    api_application_id: website,
    source: 'website',
    source_reference: null,
    ingest_id: ingest(1),
    external_system_id: null,
    activity_id: activity(1),
    summary: 'Sent a form',
    happened_at: at,
    ...changes,
  }) as const

export const act = (
  acts: OneLeadCommand | readonly OneLeadCommand[],
  changes: Partial<LeadCommand> = {},
): LeadCommand => ({
  type: 'Lead',
  acts: [acts].flat(),
  by: user,
  now: at,
  pipeline,
  ...changes,
})

export const form = {
  type: 'LeadActivityRecorded',
  ...about,
  activity_id: activity(1),
  kind: 'form',
  summary: 'Sent a form',
  channel: null,
  direction: 'inbound',
  related: null,
  happened_at: at,
  touches: true,
  is_first_contact: false,
  dormant_at: '2026-02-14T12:00:00.000Z',
} as const satisfies LeadEvent

/** What a person leaves who is sent in again. */
export const formSentIn = { ...form, related: { type: 'ingest', id: ingest(2) } } as const satisfies LeadEvent

export const recorded = (facts: Facts, ingest_id: string | null = null): LeadEvent => ({
  type: 'LeadFactsRecorded',
  ...about,
  keys: Object.keys(facts),
  facts: { ...facts },
  ingest_id,
})
