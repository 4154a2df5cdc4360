import type { CustomerDetails } from '#domain/customers/events.ts'
import type { IngestState } from '#domain/ingests/ingest.ts'
import { isUsableKey } from '#domain/ingests/fields.ts'
import type { Facts, LeadActor } from '#domain/leads/events.ts'
import type { CustomerId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import type { Context, Writer } from '../writing/handle.ts'
import type { Leads, OneLeadCommand } from '../leads/live-leads.ts'
import { changedDetails, countEffects, customerEffects, leadEffects, writingTo } from './effects.ts'
import type { ConsentGiven, People } from './people.ts'

export type ApplyDeps = {
  readonly writer: Writer
  readonly people: People
  readonly leads: Leads
  /** The API applications, of which an ingest is told by the name. */
  readonly applications: ReadonlyMap<string, { readonly name: string }>
}

/** The content of one step of an ingest about its person. */
export type Extracted = {
  readonly contact_id: CustomerId
  readonly details: Partial<CustomerDetails>
  /** Details that another person is known by. */
  readonly contested: readonly (keyof CustomerDetails)[]
  readonly facts: Facts
  readonly consent: ConsentGiven | null
  /** The person arrives by this ingest: they become a lead, or come back. */
  readonly arrives: { readonly external_id: string | null } | undefined
  /** Words of the person, for the timeline. */
  readonly words: string | null
}

/** Writes what is told of a person to their record and their lead. Repeated, it is written once. */
export const makeApply = ({ writer, people, leads, applications }: ApplyDeps) => {
  const { log } = writer

  /** Rows of a file are the team's. */
  const senderOf = ({ api_application_id }: IngestState['record']): LeadActor =>
    api_application_id === null
      ? { type: 'user', name: null }
      : { type: 'api', name: applications.get(api_application_id)?.name ?? null }

  return async ({ record }: IngestState, extracted: Extracted, context: Context) => {
    const { id: ingest_id, organisation_id } = record
    const { contact_id, details, contested, consent } = extracted
    if (isNothing(extracted)) return { ...countEffects([], []), is_new_lead: false }
    const person = people.stream(contact_id)
    const sent = await people.handle(
      contact_id,
      { type: 'SendCustomerIn', organisation_id, customer_id: contact_id, ingest_id, details, contested, consent },
      writingTo(context, person),
    )
    const ofCustomer = await customerEffects(log, person, writingTo(context, person), sent)

    const stream = leads.stream(contact_id)
    const acts = actsOf(record, extracted, {
      changed: changedDetails(ofCustomer),
      consented: ofCustomer.some(({ type }) => type === 'CustomerConsentRecorded'),
    })
    const { events } =
      acts.length === 0
        ? { events: [] }
        : await leads.handle(
            { contact_id, acts, by: senderOf(record), campaign: record.campaign },
            writingTo(context, stream),
          )
    const ofLead = acts.length === 0 ? [] : await leadEffects(log, stream, writingTo(context, stream), events)
    return {
      ...countEffects(ofCustomer, ofLead),
      is_new_lead: ofLead.some(({ type }) => type === 'LeadCreated'),
    }
  }
}

const isNothing = ({ details, facts, consent, arrives, words }: Extracted): boolean =>
  !arrives && !consent && words === null && Object.keys({ ...details, ...facts }).length === 0

type Learnt = { readonly changed: readonly string[]; readonly consented: boolean }

const actsOf = (
  record: IngestState['record'],
  { contact_id, facts, arrives, consent, words }: Extracted,
  { changed, consented }: Learnt,
): readonly OneLeadCommand[] => {
  const { id: ingest_id, organisation_id, api_application_id, source, source_reference } = record
  const { happened_at: told_at, received_at } = record
  // By a sender's clock that is ahead, nobody has been in contact for later than now.
  const happened_at = told_at !== null && told_at < received_at ? told_at : received_at
  const usable = Object.fromEntries(Object.entries(facts).filter(([key]) => isUsableKey(key)))
  const related = { type: 'ingest', id: ingest_id }
  const activityId = (what: string) => derivedId('activity', organisation_id, ingest_id, what)
  return [
    ...(arrives
      ? [
          {
            type: 'ReceiveLead',
            organisation_id,
            contact_id,
            api_application_id,
            source,
            source_reference,
            ingest_id,
            external_system_id: arrives.external_id,
            activity_id: activityId('form'),
            summary: record.campaign ? `Sent in by ${source} on ${record.campaign.key}` : `Sent in by ${source}`,
            happened_at,
          } as const,
        ]
      : []),
    ...(changed.length > 0 ? [{ type: 'RecordDetailsChange', changed } as const] : []),
    ...(Object.keys(usable).length > 0
      ? [{ type: 'RecordFacts', facts: usable, ingest_id, mode: 'propose' } as const]
      : []),
    ...(words === null
      ? []
      : [
          {
            type: 'RecordActivity',
            activity_id: activityId('text'),
            kind: 'note',
            summary: words,
            direction: 'inbound',
            related,
            happened_at,
          } as const,
        ]),
    ...(consented && consent
      ? [
          {
            type: 'RecordActivity',
            activity_id: activityId('consent'),
            kind: 'consent_changed',
            summary: describeConsent(consent),
            related,
            happened_at,
          } as const,
        ]
      : []),
  ]
}

const describeConsent = ({ entries, method }: ConsentGiven): string => {
  const said = entries.map(({ purpose, channel, state }) => `${purpose.replaceAll('_', ' ')} by ${channel}: ${state}`)
  return `Consent (${method}): ${said.join(', ')}`
}
