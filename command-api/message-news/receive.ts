import type { Pool } from 'pg'
import { asksToStop } from '#domain/message-news/asks-to-stop.ts'
import { messageNews } from '#domain/message-news/message-news.ts'
import type { MessageNewsEvent } from '#domain/message-news/events.ts'
import type { Person } from '#domain/outreach/member.ts'
import type { OutreachStream } from '#domain/outreach/record.ts'
import { CustomerId, OutreachStreamId, type OrganisationId } from '#domain/values.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { linkSubjectOf } from '#infra/crypto/link-tokens.ts'
import { untilShown, type Shown } from '#infra/consumers/until-shown.ts'
import { derivedId } from '#infra/ids.ts'
import type { GatewayReport } from '#infra/message-channels/reports.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { makePeople } from '../customers/people.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'

type Deps = {
  readonly writer: Writer
  readonly digest: DataKeys['digest']
  readonly keys: Pick<Keys, 'links'>
  readonly pool: Pick<Pool, 'query'>
  readonly shown: Shown
  readonly people: Pick<ReturnType<typeof makePeople>, 'find' | 'isErased' | 'record'>
  /** The state of outreach for a person. */
  readonly outreachOf: (contact_id: CustomerId) => Promise<Person>
  readonly streams: ReadonlyMap<string, OutreachStream>
}

type News = Omit<MessageNewsEvent, 'type'>
type About = Pick<News, 'contact_id' | 'stream_id' | 'message_id'>

/** The most people with one telephone number that are looked at: more than any household or office has. */
const mostPeople = 100
const marketing: News['purposes'] = ['first_party_marketing', 'third_party_marketing']
const nobody: About = { contact_id: null, stream_id: null, message_id: null }

/** Records what message gateways tell, with the person and the message that it is about. What follows is for reactions. */
export const makeMessageNews = ({ writer, digest, keys, pool, shown, people, outreachOf, streams }: Deps) => {
  const { handle } = commandHandler(writer, messageNews)

  const byReference = async (organisation_id: OrganisationId, reference: string): Promise<About | undefined> => {
    const subject = linkSubjectOf(keys, 'news', reference)
    if (subject?.organisation_id !== organisation_id) return undefined
    const contact_id = CustomerId.parse(subject.contact_id)
    const record = await people.record(organisation_id, contact_id)
    const isKnown = record !== undefined && !(await people.isErased(contact_id))
    const { stream_id, message_id } = subject
    return isKnown ? { contact_id, stream_id: OutreachStreamId.parse(stream_id), message_id } : undefined
  }

  const havingAddress = async (
    organisation_id: OrganisationId,
    { channel }: GatewayReport,
    address: string,
  ): Promise<readonly CustomerId[]> => {
    if (channel === 'email') {
      const found = await people.find({ organisation_id, kind: 'email', value: address })
      return found ? [found] : []
    }
    // Who asks to receive no more may have got this number a moment ago.
    await untilShown(shown, ['customer'])
    const { rows } = await pool.query<{ id: CustomerId }>(sql`
      select id from customers where organisation_id = ${organisation_id} and phone_number = ${address}
      order by id limit ${mostPeople}`)
    // The read model may still show somebody who was erased; nothing can be recorded of them.
    const erased = await Promise.all(rows.map(async ({ id }) => people.isErased(id)))
    return rows.flatMap(({ id }, index) => (erased[index] ? [] : [id]))
  }

  /**
   * A reply answers the last message that went to the address. Whoever asks from it to receive no more asks for all who
   * have it, since nobody can tell them apart.
   */
  const byAddress = async (
    organisation_id: OrganisationId,
    report: GatewayReport,
    kind: News['kind'],
    address: string,
  ) => {
    const ids = await havingAddress(organisation_id, report, address)
    const having = await Promise.all(
      ids.map(async (contact_id) => {
        const last = (await outreachOf(contact_id)).last_sent[report.channel]
        const { stream_id = null, message_id = null } = last ?? {}
        return { about: { contact_id, stream_id, message_id }, at: last?.at ?? '' }
      }),
    )
    const [latest, ...others] = having.toSorted((one, other) => (one.at > other.at ? -1 : 1))
    if (!latest) return [nobody]
    if (kind === 'unsubscribe') return having.map(({ about }) => about)
    return others.length > 0 && latest.at === '' ? [nobody] : [latest.about]
  }

  /** The purposes of a message or, without one, of all that the person was sent; where that is nothing, marketing. */
  const purposesOf = async (
    { contact_id, stream_id, message_id }: About,
    isExact: boolean,
  ): Promise<News['purposes']> => {
    if (contact_id === null) return []
    const { members } = await outreachOf(contact_id)
    const sent = Object.values(members).filter(({ first_sent_at }) => first_sent_at !== null)
    const ids = isExact && message_id !== null && stream_id !== null ? [stream_id] : sent.map((each) => each.stream_id)
    const purposes = [...new Set(ids.flatMap((id) => streams.get(id)?.purpose ?? []))]
    return purposes.length > 0 ? purposes : marketing
  }

  return async (organisation_id: OrganisationId, report: GatewayReport, context: Context): Promise<void> => {
    const address = report.type === 'undeliverable' ? report.to : report.from
    const isStop = report.type === 'unsubscribe' || (report.type === 'reply' && asksToStop(report.text))
    const kind = isStop ? 'unsubscribe' : report.type
    const text =
      report.type === 'reply' ? report.text : report.type === 'undeliverable' ? (report.reason ?? null) : null
    const exact = report.reference ? await byReference(organisation_id, report.reference) : undefined
    const found = exact ? [exact] : await byAddress(organisation_id, report, kind, address)
    const digested = await digest(organisation_id, 'message news', report.id)
    const received = await Promise.all(
      found.map(async (about): Promise<News> => ({
        organisation_id,
        kind,
        channel: report.channel,
        ...about,
        purposes: isStop ? await purposesOf(about, exact !== undefined) : [],
        ...(about.contact_id === null ? { address: null, text: null } : { address, text }),
      })),
    )
    const id = derivedId('message_news', organisation_id, digested.toString('hex'))
    await handle(id, { type: 'ReceiveMessageNews', news: received }, context)
  }
}
