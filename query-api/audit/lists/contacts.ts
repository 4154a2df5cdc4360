import { z } from 'zod'
import { customerEvents } from '#domain/customers/events.ts'
import { evolveCustomer, ConsentHeld } from '#domain/customers/record.ts'
import { Actor, idOf, type RecordedEvent } from '#domain/event.ts'
import { ActivityKind, leadEvents, TpsStatus, type LeadEvent } from '#domain/leads/events.ts'
import {
  evolveLead,
  listedAs,
  marketingPermissions,
  MarketingPermission,
  type LeadRecord,
} from '#domain/leads/record.ts'
import { Channel, CustomerId, SentInstant } from '#domain/values.ts'
import type { Route } from '#infra/http/route.ts'
import type { CsvRow } from '../../csv.ts'
import type { EventRow } from '../asked.ts'
import { personalParameter } from '../event.ts'
import { listRoute, type ListDeps } from './list.ts'
import { foldOf, readStreams, toldBy } from './walk.ts'

/** Calls and texts, and the channel that consent and permission are about. */
const channels = { call: 'phone', missed_call: 'phone', sms: 'sms', whatsapp: 'whatsapp' } as const
const ContactKind = ActivityKind.extract(['call', 'missed_call', 'sms', 'whatsapp'])
type ContactKind = z.infer<typeof ContactKind>

const Screening = z
  .enum(['valid', 'expired', 'of_another_number', 'none'])
  .describe('The screening of the number against the TPS as it was at that moment. none: it had never been screened.')

const Consent = ConsentHeld.omit({ purpose: true, channel: true }).extend({
  method: z.string().nullable().describe('How the person answered. null where it is masked.'),
  wording: z.string().nullable().describe('The wording that they answered.'),
})

const Contact = z
  .object({
    contact_id: CustomerId,
    activity_id: z.uuid(),
    kind: ContactKind,
    channel: Channel,
    happened_at: z.iso.datetime(),
    recorded_at: z.iso.datetime(),
    by: Actor.describe('Who recorded it.'),
    screening: Screening,
    tps_status: TpsStatus.nullable().describe(
      'What the last screening of this number found, even where it had expired.',
    ),
    screened_at: z.iso.datetime().nullable(),
    screening_expires_at: z.iso.datetime().nullable(),
    screening_age_days: z.int().nullable().describe('Whole days from the screening to the contact.'),
    allowed: z.boolean().describe('Whether the firm’s own marketing was permitted over this channel at that moment.'),
    reason: MarketingPermission.shape.reason,
    consent: Consent.nullable().describe('The person’s answer on marketing over this channel. null: there was none.'),
  })
  .meta({ id: 'AuditedContact' })
type Contact = z.input<typeof Contact>

const screeningOf = (tps: LeadRecord['tps'], phone_number: string | null, at: string): z.infer<typeof Screening> => {
  if (!tps) return 'none'
  if (tps.phone_number !== phone_number) return 'of_another_number'
  return listedAs(tps, phone_number, at) === null ? 'expired' : 'valid'
}

const dayMs = 86_400_000

type Activity = Extract<LeadEvent, { type: 'LeadActivityRecorded' }>

type Streams = ReadonlyMap<string, readonly RecordedEvent[]>

/** All that held for a person at a moment, recorded of them by then, in business time. */
const heldAt = (streams: Streams, contact_id: string, at: string) => {
  const lead = foldOf(toldBy(leadEvents, streams.get(`lead-${contact_id}`), at), evolveLead)
  const customer = foldOf(toldBy(customerEvents, streams.get(`customer-${contact_id}`), at), evolveCustomer)
  return {
    tps: lead?.tps ?? null,
    phone_number: customer?.phone_number ?? null,
    consent: (customer?.consent ?? []).filter(({ said_at }) => said_at <= at),
  }
}

const contactOf = (streams: Streams, { event_id, stream }: EventRow, isOpened: boolean): Contact | undefined => {
  const told = toldBy(leadEvents, streams.get(stream)).find(({ recorded }) => recorded.id === event_id)
  if (told?.event.type !== 'LeadActivityRecorded' || told.event.direction === 'inbound') return undefined
  const kind = ContactKind.parse(told.event.kind)
  const contact_id = CustomerId.parse(idOf(stream))
  return {
    contact_id,
    activity_id: told.event.activity_id,
    kind,
    channel: channels[kind],
    happened_at: told.event.happened_at,
    recorded_at: told.recorded.recorded_at.toISOString(),
    by: told.recorded.metadata.actor,
    ...permissionOf(streams, contact_id, told.event, channels[kind], isOpened),
  }
}

const permissionOf = (
  streams: Streams,
  contact_id: string,
  { happened_at }: Activity,
  channel: (typeof channels)[ContactKind],
  isOpened: boolean,
) => {
  const { tps, phone_number, consent } = heldAt(streams, contact_id, happened_at)
  const screening = screeningOf(tps, phone_number, happened_at)
  const ofNumber = screening === 'of_another_number' ? null : tps
  const permissions = marketingPermissions(consent, listedAs(tps, phone_number, happened_at))
  const { allowed, reason } = permissions.find((each) => each.channel === channel) ?? noPermission
  const said = consent.find((each) => each.purpose === 'first_party_marketing' && each.channel === channel)
  return {
    screening,
    tps_status: ofNumber?.status ?? null,
    screened_at: ofNumber?.screened_at ?? null,
    screening_expires_at: ofNumber?.expires_at ?? null,
    screening_age_days: ofNumber && Math.floor((Date.parse(happened_at) - Date.parse(ofNumber.screened_at)) / dayMs),
    allowed,
    reason,
    consent: said ? consentOf(said, isOpened) : null,
  }
}

const noPermission = { allowed: false, reason: 'no_consent' } as const

const consentOf = ({ state, basis, method, wording, said_at, source }: ConsentHeld, isOpened: boolean) => ({
  state,
  basis,
  said_at,
  source,
  method: isOpened ? method : null,
  wording: isOpened ? wording : null,
})

const linesOf = ({ consent, by, ...contact }: Contact): readonly CsvRow[] => [
  {
    ...contact,
    by_type: by.type,
    by_id: by.id,
    consent_state: consent?.state ?? null,
    consent_basis: consent?.basis ?? null,
    consent_method: consent?.method ?? null,
    consent_wording: consent?.wording ?? null,
    consent_said_at: consent?.said_at ?? null,
    consent_source_type: consent?.source.type ?? null,
    consent_source_id: consent?.source.id ?? null,
  },
]

const columns = [
  ...Object.keys(Contact.omit({ by: true, consent: true }).shape),
  'by_type',
  'by_id',
  'consent_state',
  'consent_basis',
  'consent_method',
  'consent_wording',
  'consent_said_at',
  'consent_source_type',
  'consent_source_id',
]

/** Calls and texts of the firm, with what permitted each at that moment. */
export const contactsRoute = (deps: ListDeps): Route =>
  listRoute(deps, {
    name: 'contacts',
    summary:
      'List calls and texts to people, each with the TPS screening and the consent that held at that moment, the latest recorded first',
    filters: {
      since: SentInstant.optional().describe('Happened at this moment or later.'),
      until: SentInstant.optional().describe('Happened before this moment.'),
      kind: ContactKind.optional(),
      screening: Screening.optional(),
      contact_id: CustomerId.optional(),
      personal: personalParameter,
    },
    kinds: ContactKind.options.map((kind) => `LeadActivityRecorded/${kind}`),
    row: Contact,
    example: { kind: 'call', screening: 'expired' },
    columns,
    linesOf,
    rowsOf: async (past, rows, { since, until, kind, screening, contact_id, personal }) => {
      const wanted = (row: EventRow) =>
        (kind === undefined || row.kind.endsWith(`/${kind}`)) &&
        (contact_id === undefined || idOf(row.stream) === contact_id)
      const streams = await readStreams(
        past,
        rows.filter(wanted).flatMap(({ stream }) => [stream, `customer-${idOf(stream)}`]),
      )
      return rows.map((row) => {
        const contact = wanted(row) ? contactOf(streams, row, personal === 'opened') : undefined
        if (!contact || (screening !== undefined && contact.screening !== screening)) return undefined
        const { happened_at } = contact
        return (since !== undefined && happened_at < since) || (until !== undefined && happened_at >= until)
          ? undefined
          : contact
      })
    },
  })
