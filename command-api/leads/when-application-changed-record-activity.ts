import { applicationEvents } from '#domain/applications/events.ts'
import { idOf, type EventOf, type RecordedEvent } from '#domain/event.ts'
import type { ActivityKind, LeadActor } from '#domain/leads/events.ts'
import { marketQuoteEvents } from '#domain/market-quotes/events.ts'
import { quoteEvents } from '#domain/quotes/events.ts'
import type { CustomerId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import type { Leads } from './live-leads.ts'
import type { Reaction } from '../reactions/reaction.ts'

const { CustomerSaved, ApplicationReferred, ApplicationDeclined, ApplicationAbandoned } = applicationEvents
const { MarketSearchCompleted, ApplicationHandedOff } = marketQuoteEvents
const { QuoteIssued, QuoteAccepted, QuoteExpired } = quoteEvents

const followed = {
  CustomerSaved,
  ApplicationReferred,
  ApplicationDeclined,
  ApplicationAbandoned,
  QuoteIssued,
  QuoteAccepted,
  QuoteExpired,
  MarketSearchCompleted,
  ApplicationHandedOff,
}
type Followed = EventOf<typeof followed>

type Described = { readonly kind: ActivityKind; readonly summary: string; readonly by: LeadActor['type'] }

const describe = (event: Followed): Described | undefined => {
  switch (event.type) {
    case 'CustomerSaved':
      return { kind: 'application_started', summary: 'Started an application', by: 'contact' }
    case 'ApplicationReferred':
      return { kind: 'application_referred', summary: 'The application went to the team', by: 'system' }
    case 'ApplicationDeclined':
      return { kind: 'application_declined', summary: 'The application was declined', by: 'system' }
    case 'ApplicationAbandoned':
      return event.reason === 'superseded_by_retry'
        ? undefined
        : { kind: 'application_abandoned', summary: 'The application was left', by: 'system' }
    case 'QuoteIssued':
      return { kind: 'quote_issued', summary: 'A quote was issued', by: 'system' }
    case 'QuoteAccepted':
      return { kind: 'quote_accepted', summary: 'Accepted a quote', by: 'contact' }
    case 'QuoteExpired':
      return { kind: 'quote_expired', summary: 'A quote expired', by: 'system' }
    case 'MarketSearchCompleted':
      return { kind: 'market_quotes_ready', summary: 'Quotes of the market are ready', by: 'system' }
    case 'ApplicationHandedOff':
      return { kind: 'handed_off', summary: 'Chose a quote of the market and was handed over', by: 'contact' }
  }
}

type Deps = {
  readonly leads: Leads
  /** The first person of the application that an event is about, as of the event at least; undefined: nobody is known. */
  readonly customerOf: (recorded: RecordedEvent) => Promise<CustomerId | undefined>
}

/**
 * An application's events stand on the timeline of its person, who need not be a lead and becomes none by it. Applications of
 * one person are followed at the same time and in no order, so there is no target: an activity is recorded once because its id
 * follows from its subject.
 */
export const whenApplicationChangedRecordActivity = ({ leads, customerOf }: Deps): Reaction<typeof followed> => ({
  name: 'when-application-changed-record-activity',
  categories: ['application'],
  events: followed,
  react: async (event, recorded, context) => {
    const activity = describe(event)
    const contact_id = activity && (await customerOf(recorded))
    if (!contact_id) return
    const { kind, summary, by } = activity
    const application_id = idOf(recorded.stream)
    const isStart = event.type === 'CustomerSaved'
    const activity_id = derivedId('application_activity', isStart ? application_id : recorded.id, kind)
    const related =
      'quote_id' in event ? { type: 'quote', id: event.quote_id } : { type: 'application', id: application_id }
    await leads.handle(
      {
        contact_id,
        acts: [{ type: 'RecordActivity', activity_id, kind, summary, related, happened_at: context.now }],
        by: { type: by, name: null },
      },
      context,
    )
  },
})
