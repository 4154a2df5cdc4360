import type { Pool } from 'pg'
import type { Customer } from '#domain/customers/record.ts'
import { idOf, type Json } from '#domain/event.ts'
import { publishedLeadEvent, team } from '#domain/lead-feed/record.ts'
import { leadEvents, type CampaignRef } from '#domain/leads/events.ts'
import type { LeadRecord } from '#domain/leads/record.ts'
import type { Pipeline } from '#domain/pipeline/events.ts'
import { seededPipeline } from '#domain/pipeline/record.ts'
import { CustomerId } from '#domain/values.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { subjectKind, type Wanted } from '../capability.ts'
import { leadSnapshot, personSnapshot } from './snapshot.ts'

/** The facts of the last event, since what it says decides which workflows it triggers. */
type Facts = {
  /** The campaign that the lead arrived on, or that of the ingest which caused the event. */
  readonly campaign: CampaignRef | null
  /** The workflow that somebody ran for the lead by it. */
  readonly run_workflow_id: string | null
  /** Nothing but activities was recorded so far, as of somebody who is no lead. */
  readonly only_activities?: true
}

type Row = {
  readonly event_id: string
  readonly lead: LeadRecord | null
  readonly customer: Customer | null
  readonly pipeline: Pipeline | null
  readonly currency: string | null
  readonly event: { readonly payload: Json } | null
}

/**
 * Leads, and people who are none and did something. What an event says of a person, such as the title of a task, is not
 * kept with the delivery: it is read when the event is sent, like the lead itself, so that nothing of it is left after an
 * erasure.
 */
export const leads = subjectKind<typeof leadEvents, Facts>({
  type: 'lead',
  categories: ['lead'],
  events: leadEvents,
  readModels: ['lead_events', 'lead_records'],
  idOf: (_event, { stream }) => idOf(stream),
  remember: (facts, event) => ({
    campaign: event.campaign,
    run_workflow_id: event.type === 'LeadRunByHand' ? event.workflow_id : null,
    ...(event.type === 'LeadActivityRecorded' && (!facts || facts.only_activities) && { only_activities: true }),
  }),
  happening: (event, { only_activities = false }) => {
    const published = publishedLeadEvent(event)
    // These follow from what became known of the person just before; so may what is recorded of somebody who is no lead.
    const isAboutDetails = event.type === 'LeadCreated' || event.type === 'ContactDetailsChanged' || only_activities
    return published && { type: published.type, payload: {}, alsoWaitsFor: isAboutDetails ? ['customers'] : [] }
  },
  people: (contact_id) => [contact_id],
  readSnapshots: async (pool, subjects) => {
    const rows = await read(pool, subjects)
    return (contact_id, _now, event_id) => {
      const { lead, customer = null, pipeline, currency, event } = rows.get(event_id) ?? {}
      if (!event) return undefined
      const firm = { pipeline: pipeline ?? seededPipeline, currency: currency ?? 'GBP' }
      const snapshot = lead
        ? leadSnapshot(lead, customer, firm)
        : personSnapshot(CustomerId.parse(contact_id), customer, firm)
      return { payload: event.payload, ...snapshot }
    }
  },
})

const read = async (pool: Pool, subjects: readonly Wanted[]): Promise<ReadonlyMap<string, Row>> => {
  const { rows } = await pool.query<Row>({
    name: 'delivery-leads',
    ...sql`
      select wanted.event_id, lead_records.document as lead, customers.document as customer, pipelines.document as pipeline,
        organisations.currency_code as currency, lead_events.document as event
      from unnest(${subjects.map(({ organisation_id }) => organisation_id)}::uuid[], ${subjects.map(({ id }) => id)}::uuid[],
        ${subjects.map(({ event_id }) => event_id)}::uuid[]) as wanted (organisation_id, id, event_id)
      left join lead_records
        on lead_records.organisation_id = wanted.organisation_id and lead_records.contact_id = wanted.id
      left join customers on customers.organisation_id = wanted.organisation_id and customers.id = wanted.id
      left join lead_events on lead_events.organisation_id = wanted.organisation_id and lead_events.viewer_id = ${team}
        and lead_events.event_id = wanted.event_id
      left join pipelines on pipelines.organisation_id = wanted.organisation_id
      left join organisations on organisations.organisation_id = wanted.organisation_id`,
  })
  return new Map(rows.map((row) => [row.event_id, row]))
}
