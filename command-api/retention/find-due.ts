import { z } from 'zod'
import type { ApplicationStatus } from '#domain/applications/record.ts'
import { ClaimStatus, unsettled } from '#domain/claims/record.ts'
import { atRest } from '#domain/ingests/record.ts'
import { beginsAgain } from '#domain/retention/record-erasure.ts'
import { inForce, PolicyStatus } from '#domain/policies/record.ts'
import { RetainedRecord, type RetentionKind, type RetentionPeriod } from '#domain/retention/events.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import { realTime, type Clock } from '#infra/clock.ts'
import type { Database } from '#infra/postgres/lookups.ts'

export type People = { readonly contact_id: CustomerId | null; readonly second_contact_id: CustomerId | null }

/** A record whose period is over. */
export type DueRecord<Type extends DueType = RecordType> = People & {
  readonly kind: RetentionKind
  readonly record: { readonly type: Type; readonly id: string }
  /** When it came to its end, from which the period counts. */
  readonly ended_at: Date
}

export type RecordType = RetainedRecord['type']

/** An entry has no key of its own, nor events: it is removed where the log of integrations is kept in order. */
const entry = 'integration_log_entry'

export const DueType = z.enum([...RetainedRecord.shape.type.options, entry])
export type DueType = z.infer<typeof DueType>

/** Applications that came to nothing: none of them is worked on, or was sold. */
const cameToNothing: readonly ApplicationStatus[] = ['abandoned', 'declined', 'handed_off', 'postponed']

type Source = {
  readonly kind: RetentionKind
  /**
   * Selects id, status, contact_id, second_contact_id and ended_at of all of an organisation ($1); and begun_at, which is no later
   * and begins an index with the organisation: by it pages are read.
   */
  readonly text: string
  /** Those of a record that has come to its end. */
  readonly ended: readonly string[]
}

const ofTheSameReport = `
  from message_news as other where other.organisation_id = $1 and other.received_at = news.received_at
    and other.news_id = news.news_id`

/**
 * The end of a record is the moment of its last change: nobody has needed it since. An application that was postponed can be opened
 * again on a day, and a policy that has lapsed be reinstated for some time: neither has come to its end before.
 */
const sources: Readonly<Record<DueType, Source>> = {
  application: {
    kind: 'applications',
    ended: cameToNothing,
    text: `
      select id, status, customer_id as contact_id, partner_id as second_contact_id,
        updated_at as begun_at, greatest(updated_at, (document #>> '{decisions,-1,until}')::date) as ended_at
      from applications where organisation_id = $1`,
  },
  lead: {
    kind: 'leads',
    ended: ['ended'],
    text: `
      select contact_id as id, case status when 'open' then 'open' else 'ended' end as status, contact_id,
        null::uuid as second_contact_id, updated_at as begun_at, updated_at as ended_at
      from lead_records where organisation_id = $1`,
  },
  // What was sent goes with the lead that was made of it, or by itself where nobody was recognised in it.
  ingest: {
    kind: 'leads',
    ended: [...atRest, 'applied'],
    text: `
      select ingests.id, case lead_records.status when 'open' then 'open' else ingests.status end as status,
        ingests.contact_id, null::uuid as second_contact_id, received_at as begun_at,
        greatest(received_at, lead_records.updated_at) as ended_at
      from ingests left join lead_records on lead_records.organisation_id = $1
        and lead_records.contact_id = ingests.contact_id
      where ingests.organisation_id = $1`,
  },
  outcome_report: {
    kind: 'leads',
    ended: ['ended'],
    text: `
      select outcomes.id, case status when 'open' then 'open' else 'ended' end as status, contact_id,
        null::uuid as second_contact_id, lead_records.updated_at as begun_at, lead_records.updated_at as ended_at
      from outcomes join lead_records using (organisation_id, contact_id)
      where organisation_id = $1 and viewer_id = $1`,
  },
  policy: {
    kind: 'policies',
    ended: PolicyStatus.options.filter((status) => !inForce.includes(status)),
    text: `
      select id, status, customer_id as contact_id, (document #>> '{joint_customer,id}')::uuid as second_contact_id,
        created_at as begun_at, greatest((document ->> 'updated_at')::timestamptz, case status when 'lapsed' then (document ->> 'lapsed_on')::date
          + (document #>> '{collection_rules,reinstate_within_days}')::integer + 1 end) as ended_at
      from policies where organisation_id = $1`,
  },
  claim: {
    kind: 'claims',
    ended: ClaimStatus.options.filter((status) => !unsettled.includes(status)),
    text: `
      select claims.id, claims.status, customer_id as contact_id,
        (policies.document #>> '{joint_customer,id}')::uuid as second_contact_id,
        opened_at as begun_at, (claims.document ->> 'updated_at')::timestamptz as ended_at
      from claims join policies on policies.organisation_id = $1 and policies.id = claims.policy_id
      where claims.organisation_id = $1`,
  },
  // All that is between a person and outreach, which goes on while they may be sent something more. A stream that is put away, or
  // whose work was cancelled after they had joined, sends nothing.
  outreach_person: {
    kind: 'messages',
    ended: ['ended'],
    text: `
      select person.id, case when exists (
          select from jsonb_to_recordset(person.expecting::jsonb) as member (stream_id uuid, joined_at timestamptz)
          left join outreach_streams as stream on stream.organisation_id = $1 and stream.id = member.stream_id
          where stream.document ->> 'archived_at' is null
            and coalesce(member.joined_at > (stream.document ->> 'work_cancelled_at')::timestamptz, true)
        ) then 'open' else 'ended' end as status, person.id as contact_id, null::uuid as second_contact_id,
        person.updated_at as begun_at, person.updated_at as ended_at
      from outreach_people as person where person.organisation_id = $1`,
  },
  // A report that is about several people, whose address it came from, is one record, received at one moment.
  message_news: {
    kind: 'messages',
    ended: ['ended'],
    text: `
      select news_id as id, 'ended' as status, contact_id,
        (select max(other.contact_id::text)::uuid ${ofTheSameReport} and other.contact_id <> news.contact_id) as second_contact_id,
        received_at as begun_at, received_at as ended_at
      from message_news as news where organisation_id = $1 and contact_id is not null
        and not exists (select ${ofTheSameReport} and other.contact_id < news.contact_id)`,
  },
  [entry]: {
    kind: 'integration_log',
    ended: ['ended'],
    text: `
      select id, 'ended' as status, null::uuid as contact_id, null::uuid as second_contact_id, at as begun_at,
        at as ended_at
      from integration_log where organisation_id = $1`,
  },
}

const types = Object.keys(sources) as readonly DueType[]

type OfKinds = Readonly<Partial<Record<RetentionKind, unknown>>>

/** The types of what goes after a time, by the kinds that have a period. */
export const typesDue = (kinds: OfKinds): readonly DueType[] =>
  types.filter((type) => kinds[kindOf(type)] !== undefined)

/** Those that are erased, with a receipt. */
export const recordsDue = (kinds: OfKinds): readonly RecordType[] => typesDue(kinds).filter((type) => type !== entry)

export const isRecord = (due: { readonly type: DueType; readonly id: string }): due is RetainedRecord =>
  due.type !== entry

/** Entries are dated by real time. */
export const nowFor = (type: DueType, clock: Clock): Date => (type === entry ? realTime() : clock.now())

export const kindOf = (type: DueType): RetentionKind => sources[type].kind

const isErased = (type: DueType, isAsked: string): string => `
  exists (select from record_erasures as erased where erased.organisation_id = $1 and erased.record_type = '${type}'
    and erased.record_id = due.id and (${isAsked} or (erased.state = 'erased'
      ${beginsAgain.some((each) => each === type) ? 'and erased.erased_at >= due.ended_at' : ''})))`

const isPersonErased = (column: string): string => `
  (${column} is null
    or exists (select from erasures where erasures.organisation_id = $1 and erasures.contact_id = due.${column}
      and given_up_at is null))`

export type Place = { readonly at: string; readonly id: string }

type Asked<Type extends DueType = DueType> = {
  readonly organisation_id: OrganisationId
  readonly type: Type
  /** All of them must be over. */
  readonly periods: readonly RetentionPeriod[]
  readonly now: Date
}

/** The moment since which something must have come to its end to be due. */
const limit = `(select min($3::timestamptz - period::interval) from unnest($4::text[]) as period)`

/** True of the records of a type that are due. Whose people are all erased has nothing left. */
const isDue = (type: DueType, isAsked = `erased.state = 'requested'`) => `
  due.status = any ($2) and ended_at < ${limit} and not ${isErased(type, isAsked)}
    and not (contact_id is not null and ${isPersonErased('contact_id')} and ${isPersonErased('second_contact_id')})`

const valuesOf = ({ organisation_id, type, periods, now }: Asked): readonly unknown[] => [
  organisation_id,
  sources[type].ended,
  now,
  periods,
]

type Row = People & { readonly id: string; readonly ended_at: Date }
const columns = 'id, contact_id, second_contact_id, ended_at'

const recordIn = <Type extends DueType>(
  kind: RetentionKind,
  type: Type,
  { id, contact_id, second_contact_id, ended_at }: Row,
): DueRecord<Type> => ({ kind, record: { type, id }, contact_id, second_contact_id, ended_at })

const lookedAtOnce = 1_000
const beginning: Place = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' }

/**
 * Records whose period is over, of the first thousand that may be: what was erased is passed over, however much that is. `after` is
 * the place from which the next page goes on.
 */
export const findDue = async <Type extends DueType>(
  pool: Database,
  asked: Asked<Type> & { readonly after: Place | undefined; readonly limit: number },
): Promise<{ readonly records: readonly DueRecord<Type>[]; readonly after: Place | undefined }> => {
  const { kind, text } = sources[asked.type]
  const from = asked.after ?? beginning
  const { rows } = await pool.query<Row & { readonly at: string; readonly is_due: boolean }>({
    text: `
      with due as materialized (
        select * from (${text}) as record
        where begun_at < ${limit} and begun_at >= $5::timestamptz and (begun_at, id) > ($5, $6::uuid)
        order by begun_at, id limit ${lookedAtOnce})
      select ${columns}, to_char(begun_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
        ${isDue(asked.type)} as is_due
      from due order by begun_at, id`,
    values: [...valuesOf(asked), from.at, from.id],
  })
  const found = rows.filter(({ is_due }) => is_due)
  const records = found.slice(0, asked.limit).map((row) => recordIn(kind, asked.type, row))
  const last = found.length > asked.limit ? found[asked.limit - 1] : rows[lookedAtOnce - 1]
  return { records, after: last && { at: last.at, id: last.id } }
}

/**
 * The number of those of a type that are due, among the `most` that began first and may be. Where there are so many, others may be
 * due as well.
 */
export const countDue = async (
  pool: Database,
  asked: Asked & { readonly most: number },
): Promise<{ readonly count: number; readonly isAtLeast: boolean }> => {
  const { rows } = await pool.query<{ readonly count: number; readonly read: number }>({
    text: `
      with due as materialized (
        select * from (${sources[asked.type].text}) as record where begun_at < ${limit}
        order by begun_at, id limit $5)
      select count(*) filter (where ${isDue(asked.type)})::integer as count, count(*)::integer as read from due`,
    values: [...valuesOf(asked), asked.most],
  })
  const { count = 0, read = 0 } = rows[0] ?? {}
  return { count, isAtLeast: read === asked.most }
}

/** One record, if its period is over, also where its erasure is asked for. */
export const findOneDue = async (
  pool: Database,
  asked: Asked<RecordType>,
  id: string,
): Promise<DueRecord | undefined> => {
  const { kind, text } = sources[asked.type]
  const { rows } = await pool.query<Row>({
    text: `select ${columns} from (${text}) as due where id = $5 and ${isDue(asked.type, 'false')}`,
    values: [...valuesOf(asked), id],
  })
  return rows[0] && recordIn(kind, asked.type, rows[0])
}

/** The people of a record, whatever has become of it. */
export const peopleOf = async (
  pool: Database,
  organisation_id: OrganisationId,
  { type, id }: RetainedRecord,
): Promise<People> => {
  const { rows } = await pool.query<Row>({
    text: `select ${columns} from (${sources[type].text}) as record where id = $2`,
    values: [organisation_id, id],
  })
  return rows[0] ?? { contact_id: null, second_contact_id: null }
}
