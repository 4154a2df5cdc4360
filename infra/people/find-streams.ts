import { categoryOf } from '#domain/event.ts'
import { phoneDigits } from '#domain/phone-digits.ts'
import { findableText } from '#domain/invisible-characters.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import type { EventLog } from '../event-log/event-log.ts'
import type { Database } from '../postgres/lookups.ts'
import { sql } from '../postgres/postgres.ts'

type Person = { readonly organisation_id: OrganisationId; readonly contact_id: CustomerId }

/** Categories of one person's own streams, sealed under a key of their own until the person is known. */
const ownCategories: readonly string[] = ['ingest', 'outcome_report', 'inbound_event']

const pageSize = 500

export type PersonStreams = {
  /** All that tell of the person. */
  readonly streams: readonly string[]
  /** The streams whose own keys go with the person's. */
  readonly sealed: readonly string[]
  /** Those of them that nothing but details led to: they may be about somebody else who has the same. */
  readonly byDetails: readonly string[]
}

/**
 * The streams that tell of a person: those of their own, those that read models name, and those that these follow from.
 * It finds the same when nothing of the person can be read any more. Of an application with two persons, and of its policy, the
 * key belongs to the first one, and what they follow from is about that one.
 */
export const findStreams = async (
  { pool, eventLog }: { readonly pool: Database; readonly eventLog: Pick<EventLog, 'read'> },
  { organisation_id, contact_id }: Person,
  known: readonly string[],
): Promise<PersonStreams> => {
  const { rows: named } = await pool.query<{
    readonly stream: string
    readonly is_own: boolean
    readonly is_theirs: boolean
  }>(sql`
    with own_application as (
      select id, customer_id = ${contact_id} as is_first, document ->> 'policy_id' as policy_id from applications
      where organisation_id = ${organisation_id} and customer_id = ${contact_id}
      union all
      select id, false, document ->> 'policy_id' from applications
      where organisation_id = ${organisation_id} and partner_id = ${contact_id}),
    own_policy as (
      select id, policy_number, true as is_theirs from policies
      where organisation_id = ${organisation_id} and customer_id = ${contact_id}
      union
      select id, policy_number, customer_id = ${contact_id} from policies
      where organisation_id = ${organisation_id} and id = any (array(
        select policy_id::uuid from own_application where policy_id is not null)))
    select 'application-' || id as stream, bool_or(is_first) as is_own, bool_or(is_first) as is_theirs
      from own_application group by id
    union all select 'policy-' || id, is_theirs, is_theirs from own_policy
    union all select 'membership-' || id, bool_or(is_theirs and customer_id is null), bool_or(is_theirs) from (
        select memberships.id, memberships.customer_id, is_theirs
          from memberships join own_policy using (policy_number) where memberships.organisation_id = ${organisation_id}
        union all select id, customer_id, true from memberships
          where organisation_id = ${organisation_id} and customer_id = ${contact_id}) as own_membership group by id
    union all select 'ingest-' || id, true, true from ingests
      where organisation_id = ${organisation_id} and contact_id = ${contact_id}
    union all select 'complaint-' || id, false, true from complaints
      where organisation_id = ${organisation_id} and contact_id = ${contact_id}
    union all select distinct 'message_news-' || news_id, false, true from message_news
      where organisation_id = ${organisation_id} and contact_id = ${contact_id}
    union all select 'outcome_report-' || id, true, true from outcomes
      where organisation_id = ${organisation_id} and viewer_id = ${organisation_id} and contact_id = ${contact_id}`)

  const personal = ['customer', 'lead', 'legal_hold', 'outcomes', 'outreach_person'].map(
    (category) => `${category}-${contact_id}`,
  )
  const own = new Set(named.filter(({ is_own }) => is_own).map(({ stream }) => stream))
  const ofAnother = new Set(named.filter(({ is_theirs }) => !is_theirs).map(({ stream }) => stream))
  const seen = new Set<string>()
  /** These streams and those that they follow from, as far as they were not come to before. */
  const follow = async (from: readonly string[]): Promise<readonly string[]> => {
    const waiting = from.filter((stream) => !seen.has(stream))
    for (const stream of waiting) seen.add(stream)
    const streams: string[] = []
    for (let stream = waiting.shift(); stream !== undefined; stream = waiting.shift()) {
      const { length, causes } = await causesOf(eventLog, stream)
      if (length > 0) streams.push(stream)
      if (ofAnother.has(stream)) continue
      for (const cause of causes)
        if (ownCategories.includes(categoryOf(cause)) && !seen.has(cause)) {
          seen.add(cause)
          waiting.push(cause)
        }
    }
    return streams
  }
  const certain = await follow([...new Set([...personal, ...named.map(({ stream }) => stream)])])
  const byDetails = await follow([...new Set(known)])
  const streams = [...certain, ...byDetails]
  const sealed = streams.filter((stream) => own.has(stream) || ownCategories.includes(categoryOf(stream)))
  return { streams: streams.toSorted(), sealed: sealed.toSorted(), byDetails }
}

/** The length of a stream, and the streams that reactions wrote to it because of. */
export const causesOf = async (eventLog: Pick<EventLog, 'read'>, stream: string) => {
  const causes = new Set<string>()
  let length = 0
  for (;;) {
    const page = await eventLog.read(stream, { from: length, limit: pageSize })
    for (const { metadata } of page) if (metadata.cause) causes.add(metadata.cause.stream)
    length += page.length
    if (page.length < pageSize) return { length, causes }
  }
}

/** A request that finds more of them asks to look at them first. */
export const mostNamed = 10_000

/** The details by which outcomes and leads may name a person. `external_id` is the id in the organisation's own system. */
type Names = {
  readonly email: string | null
  readonly phone_number: string | null
  readonly external_id: string | null
}

/**
 * Streams that name the person by ids or details alone: outcomes that are held, and leads that nobody was found for. A
 * telephone number names the person only while nobody else has it, and not beside another person's email address. `atRest` are the
 * statuses of leads with which nothing happens by itself.
 */
export const findNamed = async (
  pool: Database,
  { organisation_id, contact_id }: Person,
  { email, phone_number, external_id }: Names,
  atRest: readonly string[],
): Promise<readonly string[]> => {
  const digits = phoneDigits(phone_number)
  // Some keep our id as theirs.
  const externalIds = external_id === null ? [contact_id] : [contact_id, findableText(external_id)]
  const { rows } = await pool.query<{ readonly stream: string }>(sql`
    with own_phone as (
      select ${digits}::text as digits where ${digits}::text is not null and not exists (
        select from customers
        where organisation_id = ${organisation_id} and phone_number = ${phone_number} and id <> ${contact_id})),
    named as (
      select 'outcome_report-' || id as stream from held_outcomes
      where organisation_id = ${organisation_id} and named_id = ${contact_id}::text
      union select 'outcome_report-' || id from held_outcomes
      where organisation_id = ${organisation_id} and external_id = any (${externalIds})
      union select 'outcome_report-' || id from held_outcomes
      where organisation_id = ${organisation_id} and email = ${email}
      union select 'outcome_report-' || id from held_outcomes
      where organisation_id = ${organisation_id} and phone_digits = (select digits from own_phone)
        and (email is null or ${email}::text is null)
      union select 'ingest-' || id from ingests
      where organisation_id = ${organisation_id} and named_id = ${contact_id}::text and status = any (${atRest})
      union select 'ingest-' || id from ingests
      where organisation_id = ${organisation_id} and external_id = any (${externalIds}) and status = any (${atRest})
      union select 'ingest-' || id from ingests
      where organisation_id = ${organisation_id} and email = ${email} and status = any (${atRest})
      union select 'ingest-' || id from ingests
      where organisation_id = ${organisation_id} and phone_digits = (select digits from own_phone)
        and (email is null or ${email}::text is null) and status = any (${atRest}))
    select stream from named order by stream limit ${mostNamed + 1}`)
  return rows.map(({ stream }) => stream)
}
