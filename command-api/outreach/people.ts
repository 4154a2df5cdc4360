import { timeZoneOf } from '#domain/access/record.ts'
import { withoutAddress } from '#domain/address-in-text.ts'
import type { ConsentEntry, CustomerDetails } from '#domain/customers/events.ts'
import type { JoinedBy, OutreachChannel } from '#domain/outreach/events.ts'
import type { Member, Person } from '#domain/outreach/member.ts'
import type { Join } from '#domain/outreach/due.ts'
import { outreachPerson } from '#domain/outreach/person.ts'
import type { Circumstances } from '#domain/outreach/queueing.ts'
import type { OutreachStream } from '#domain/outreach/record.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import type { Leads } from '../leads/live-leads.ts'
import { outreachMemberIdOf, outreachMessageIdOf } from './ids.ts'
import type { LiveOutreach, Organisations } from './streams.ts'

type Known = Pick<CustomerDetails, 'first_name' | 'last_name' | 'email' | 'phone_number'> & {
  readonly consent: readonly ConsentEntry[]
}

export type OutreachPeopleDeps = {
  readonly writer: Writer
  readonly leads: Pick<Leads, 'find' | 'handle' | 'stream'>
  /** A person's own record, as it is now. */
  readonly recordOf: (organisation_id: OrganisationId, contact_id: CustomerId) => Promise<Known | undefined>
  readonly live: LiveOutreach
  readonly organisations: Organisations
}

/** Facts about a person for the messages of one stream. */
export type Facts = Omit<Circumstances, 'now'> & {
  readonly addresses: Readonly<Record<OutreachChannel, string | null>>
}

/** A channel counts only with consent that was given: unknown is not consent. */
export const isGranted = (
  consent: readonly ConsentEntry[],
  purpose: OutreachStream['purpose'],
  channel: OutreachChannel,
): boolean => consent.some((each) => each.purpose === purpose && each.channel === channel && each.state === 'granted')

const addressesOf = (known: Known | undefined): Facts['addresses'] => {
  const number = known?.phone_number?.startsWith('+') ? known.phone_number : null
  return { email: known?.email ?? null, sms: number, whatsapp: number }
}

const dateOf = (value: unknown): string | null => {
  const day = typeof value === 'string' ? value.slice(0, 10) : ''
  return /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day)) ? day : null
}

/** People and the outreach streams that they are in. */
export const makeOutreachPeople = ({ writer, leads, recordOf, live, organisations }: OutreachPeopleDeps) => {
  const { handle, load } = commandHandler(writer, outreachPerson)

  /** The facts with the stored columns of the membership by default. */
  const factsOf = async (
    stream: OutreachStream,
    contact_id: CustomerId,
    person: Person,
    columns: Member['columns'] = person.members[stream.id]?.columns ?? {},
  ): Promise<Facts> => {
    const { organisation_id, purpose, date_column, date_field } = stream
    const known = await recordOf(organisation_id, contact_id)
    const addresses = addressesOf(known)
    const lead = date_field === null ? undefined : await leads.find(organisation_id, contact_id)
    const date = date_column === null ? lead?.record.facts[date_field ?? ''] : columns[date_column]
    const member_id = outreachMemberIdOf(organisation_id, stream.id, contact_id)
    return {
      stream,
      time_zone: timeZoneOf(organisations, organisation_id),
      reachable: stream.channels.filter(
        (channel) =>
          addresses[channel] !== null &&
          addresses[channel] !== person.undelivered[channel]?.address &&
          isGranted(known?.consent ?? [], purpose, channel),
      ),
      known: {
        ...columns,
        first_name: withoutAddress(known?.first_name ?? null),
        last_name: withoutAddress(known?.last_name ?? null),
      },
      date: dateOf(date),
      messageIdOf: (role, number) => outreachMessageIdOf(member_id, role, number),
      addresses,
    }
  }

  const joinOf = async (
    stream: OutreachStream,
    contact_id: CustomerId,
    { columns, by }: Pick<Join, 'columns' | 'by'>,
    now: string,
    person: Person,
  ): Promise<Join> => {
    const { organisation_id, id } = stream
    const { addresses: _addresses, ...facts } = await factsOf(stream, contact_id, person, columns)
    const member_id = outreachMemberIdOf(organisation_id, id, contact_id)
    return { type: 'Join', organisation_id, contact_id, member_id, columns, by, ...facts, now }
  }

  /** True where a person can join streams at all: as a lead, of an organisation that has outreach. */
  const canJoin = async (organisation_id: OrganisationId, contact_id: CustomerId): Promise<boolean> =>
    live.settings.get(organisation_id)?.is_on === true && (await leads.find(organisation_id, contact_id)) !== undefined

  return {
    handle,
    load,
    factsOf,
    /** The stream of events between a person and outreach. */
    stream: (contact_id: string): string => `${outreachPerson.category}-${contact_id}`,

    /** A lead joins a stream, once; undefined when the person is no lead of the organisation. */
    join: async (
      stream: OutreachStream,
      contact_id: CustomerId,
      told: Pick<Join, 'columns' | 'by'>,
      context: Context,
    ): Promise<Member | undefined> => {
      if (!(await canJoin(stream.organisation_id, contact_id))) return undefined
      const joining = await joinOf(stream, contact_id, told, context.now, await load(contact_id))
      const { state } = await handle(contact_id, joining, context)
      return state.members[stream.id]
    },

    /** A lead joins several streams at once, by what campaigns and workflows say. */
    joinSeveral: async (
      organisation_id: OrganisationId,
      contact_id: CustomerId,
      streams: readonly { readonly stream: OutreachStream; readonly by: JoinedBy }[],
      context: Context,
    ): Promise<void> => {
      if (streams.length === 0 || !(await canJoin(organisation_id, contact_id))) return
      const person = await load(contact_id)
      const joins = await Promise.all(
        streams.map(async ({ stream, by }) => joinOf(stream, contact_id, { columns: {}, by }, context.now, person)),
      )
      await handle(contact_id, { type: 'JoinSeveral', joins }, context)
    },
  }
}
export type OutreachPeople = ReturnType<typeof makeOutreachPeople>
