import { customerEvents } from '#domain/customers/events.ts'
import { idOf, type EventOf } from '#domain/event.ts'
import type { LeadActor } from '#domain/leads/events.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import type { Leads } from './live-leads.ts'
import type { Reaction } from '../reactions/reaction.ts'

const { CustomerConsentRecorded } = customerEvents
const followed = { CustomerConsentRecorded }
type Recorded = EventOf<typeof followed>

const actors: Readonly<Record<Recorded['source']['type'], LeadActor['type']>> = {
  ingest: 'api',
  application: 'contact',
  operator: 'user',
  link: 'contact',
  reply: 'contact',
}

const summaryOf = ({ entries, method }: Recorded): string => {
  const said = entries.map(({ purpose, channel, state }) => `${purpose.replaceAll('_', ' ')} by ${channel}: ${state}`)
  return `Consent (${method}): ${said.join(', ')}`
}

/** Consent that a person gives or withdraws stands on the timeline of their lead. An ingest records its own. */
export const whenConsentRecordedRecordActivity = (leads: Leads): Reaction<typeof followed> => ({
  name: 'when-consent-recorded-record-activity',
  categories: ['customer'],
  events: followed,
  target: (_event, { stream }) => leads.stream(CustomerId.parse(idOf(stream))),
  react: async (event, { stream, id }, context) => {
    const contact_id = CustomerId.parse(idOf(stream))
    if (event.source.type === 'ingest') return
    if (!(await leads.find(OrganisationId.parse(context.organisation_id), contact_id))) return
    const isUnsubscribing =
      (event.source.type === 'link' || event.source.type === 'reply') &&
      event.entries.every(({ state }) => state === 'withdrawn')
    await leads.handle(
      {
        contact_id,
        acts: [
          {
            type: 'RecordActivity',
            activity_id: derivedId('consent_activity', id),
            kind: isUnsubscribing ? 'unsubscribed' : 'consent_changed',
            summary: summaryOf(event),
            direction: 'inbound',
            happened_at: event.said_at,
          },
        ],
        by: { type: actors[event.source.type], name: null },
      },
      context,
    )
  },
})
