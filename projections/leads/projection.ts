import { idOf, organisationOf } from '#domain/event.ts'
import { publishedLeadEvent, team } from '#domain/lead-feed/record.ts'
import { leadEvents, type LeadEvent, type LeadShown } from '#domain/leads/events.ts'
import { evolveLead, evolveShown, nextDue, type LeadRecord } from '#domain/leads/record.ts'
import { documentProjection, position } from '../document-projection.ts'
import { isPlacedBehind } from '../place.ts'
import type { Projection } from '../projection.ts'

type FeedRow = {
  readonly organisation_id: string
  readonly api_application_id: string
  readonly contact_id: string
  /** Its latest place in the log: the order of the feed, which no clock and no concurrent writer can upset. */
  readonly position: string
  readonly status: string
  readonly campaign_id: string | null
  readonly external_system_id: string | null
  readonly document: LeadShown
  /** When the change was recorded: what happened before may be recorded later than a reader has last asked. */
  readonly updated_at: string
}

const place = `"position" collate "C"`

/** Business time may run ahead of real time; never behind. */
const later = (one: string, other: string): string => (one > other ? one : other)

/** The id in the organisation's own CRM, as far as it is for this application to see; undefined: as before. */
const externalIdFor = (event: LeadEvent, api_application_id: string): string | null | undefined => {
  if (event.type === 'LeadMarked') return event.marks.external_system_id
  if (event.type === 'LeadCreated') return event.external_system_id
  if (event.type !== 'LeadSentAgain') return undefined
  const { external_id_of: givenBy, seen_by } = event
  if (givenBy === undefined) return seen_by.length === 1 ? event.external_system_id : undefined
  return givenBy === null || givenBy.some((each) => each === api_application_id) ? event.external_system_id : null
}

/** Every lead once for each API application that has sent it, as it stands in that application's feed of changes. */
export const leads: Projection<typeof leadEvents, FeedRow, 'organisation_id' | 'api_application_id' | 'contact_id'> = {
  name: 'leads',
  version: 4,
  categories: ['lead'],
  events: leadEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      api_application_id: 'uuid',
      contact_id: 'uuid',
      position: 'text',
      status: 'text',
      campaign_id: 'uuid',
      external_system_id: 'text',
      document: 'json',
      updated_at: 'timestamptz',
    },
    key: ['organisation_id', 'api_application_id', 'contact_id'],
    indexes: [
      `organisation_id, api_application_id, ${place}`,
      `organisation_id, api_application_id, status, ${place}`,
      `organisation_id, api_application_id, campaign_id, status, ${place}`,
      `organisation_id, api_application_id, updated_at, ${place}`,
      `organisation_id where ${isPlacedBehind}`,
    ],
  },
  place: { column: 'position', record: 'contact_id' },

  keys: ({ seen_by }, recorded) =>
    seen_by.map((api_application_id) => ({
      organisation_id: organisationOf(recorded),
      api_application_id,
      contact_id: idOf(recorded.stream),
    })),

  project: (row, event, { position, metadata, recorded_at }, key) => {
    const document = evolveShown(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of lead ${key.contact_id}, which was never created.`)
    const { status, campaign_id } = document
    const given = externalIdFor(event, key.api_application_id)
    const external_system_id = given === undefined ? (row?.external_system_id ?? null) : given
    const updated_at = later(metadata.occurred_at, recorded_at.toISOString())
    return { ...key, position, status, campaign_id, external_system_id, document, updated_at }
  },
}

type EventRow = {
  readonly organisation_id: string
  readonly viewer_id: string
  readonly event_id: string
  readonly position: string
  readonly contact_id: string
  readonly campaign_id: string | null
  readonly type: string
  /** The part of the type before the dot. */
  readonly family: string
  readonly recorded_at: string
  readonly document: unknown
}

/**
 * Events of leads, and of people who are none, as published: once for each API application that saw it, and once for the
 * team.
 */
export const leadFeed: Projection<typeof leadEvents, EventRow, 'organisation_id' | 'viewer_id' | 'event_id'> = {
  name: 'lead_events',
  version: 4,
  categories: ['lead'],
  events: leadEvents,
  table: {
    columns: {
      organisation_id: 'uuid',
      viewer_id: 'uuid',
      event_id: 'uuid',
      position: 'text',
      contact_id: 'uuid',
      campaign_id: 'uuid',
      type: 'text',
      family: 'text',
      recorded_at: 'timestamptz',
      document: 'json',
    },
    key: ['organisation_id', 'viewer_id', 'event_id'],
    indexes: [
      `organisation_id, viewer_id, ${place}`,
      `organisation_id, viewer_id, type, ${place}`,
      `organisation_id, viewer_id, family, ${place}`,
      `organisation_id, viewer_id, contact_id, ${place}`,
      `organisation_id, viewer_id, campaign_id, ${place} where campaign_id is not null`,
      `organisation_id, viewer_id, campaign_id, type, ${place} where campaign_id is not null`,
      `organisation_id, viewer_id, campaign_id, family, ${place} where campaign_id is not null`,
      `organisation_id, viewer_id, recorded_at, ${place}`,
      `organisation_id where ${isPlacedBehind}`,
    ],
  },
  place: { column: 'position', record: 'contact_id' },

  keys: (event, recorded) =>
    publishedLeadEvent(event) === undefined
      ? []
      : [...event.seen_by, team].map((viewer_id) => ({
          organisation_id: organisationOf(recorded),
          viewer_id,
          event_id: recorded.id,
        })),

  project: (_row, event, { position, stream, recorded_at, metadata }, key) => {
    const published = publishedLeadEvent(event)
    if (!published) return undefined
    const { type, payload } = published
    const { campaign, by } = event
    return {
      ...key,
      position,
      contact_id: idOf(stream),
      campaign_id: campaign?.id ?? null,
      type,
      family: type.slice(0, type.indexOf('.')),
      recorded_at: recorded_at.toISOString(),
      document: { occurred_at: metadata.occurred_at, campaign_key: campaign?.key ?? null, payload, actor: by },
    }
  },
}

const dueOf = (lead: LeadRecord): string | null => {
  const due = nextDue(lead)
  return due === null ? null : `${due}/${lead.contact_id}`
}

/** Every lead as the team knows it. */
export const leadRecords = documentProjection({
  name: 'lead_records',
  version: 7,
  categories: ['lead'],
  events: leadEvents,
  key: { contact_id: 'uuid' },
  keys: (_event, { stream }) => [{ contact_id: idOf(stream) }],
  // An activity may be of somebody who is no lead.
  evolve: (before: LeadRecord | undefined, event, metadata) =>
    !before && event.type === 'LeadActivityRecorded' ? null : evolveLead(before, event, metadata),
  columns: {
    position,
    status: { type: 'text', of: ({ shown }) => shown.status },
    stage: { type: 'text', of: ({ shown }) => shown.stage.key },
    owner_id: 'uuid',
    source: 'text',
    created_at: { type: 'timestamptz', of: ({ shown }) => shown.created_at },
    /** The place among those for whom something is to be done. */
    due: { type: 'text', of: (lead) => dueOf(lead) },
    document: 'json',
    updated_at: 'timestamptz',
  },
  indexes: [
    `organisation_id, ${place}`,
    `organisation_id, due collate "C" where due is not null`,
    `organisation_id, owner_id, due collate "C" where due is not null`,
    'organisation_id, updated_at, contact_id',
    `organisation_id, status, ${place}`,
    `organisation_id, stage, status, ${place}`,
    `organisation_id, owner_id, status, ${place}`,
    `organisation_id, owner_id, stage, status, ${place}`,
    // All that figures ask for, so that rows are not read for them.
    'organisation_id, created_at, stage, source',
  ],
})
