import { z } from 'zod'
import type { Kind } from '#domain/event-kinds.ts'
import type { RecordedEvent } from '#domain/event.ts'
import { leadEvents } from '#domain/leads/events.ts'
import { policyStreamEvents } from '#domain/policies/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { realTime } from '#infra/clock.ts'
import { auditRoute, route, type Route } from '#infra/http/route.ts'
import { sql, withDeadline } from '#infra/postgres/postgres.ts'
import { csvAnswer, format, wantsCsv } from '../../csv.ts'
import { untilFound } from '../as-of/until-found.ts'
import { mostUnread, unread, unreadHeader, type ListDeps } from './list.ts'
import { momentOf, momentParameters, momentShown, ShownMoment } from './moment.ts'
import { candidatesOf, eachRead, readStreams, toldBy, type Past, type UnreadRecord } from './walk.ts'
import { shownPair, ShownCount, type Pair } from './small-numbers.ts'
import { Problem } from '#infra/http/problem.ts'

const withinMs = 30_000

/** The counts: of the people to whom it happened. */
const counted = ['quoted', 'declined', 'referred', 'loaded', 'claim_paid', 'claim_declined', 'complained'] as const
type Counted = (typeof counted)[number]

const described: Readonly<Record<Counted, string>> = {
  quoted: 'People to whom a quote was issued.',
  declined: 'People of whom an application was declined.',
  referred: 'People of whom an application was referred to the team.',
  loaded: 'People who were quoted other than the standard terms.',
  claim_paid: 'People of whom a claim was paid.',
  claim_declined: 'People of whom a claim was declined.',
  complained: 'People of whom a complaint was opened.',
}

const Group = z
  .object({
    group: z.enum(['vulnerable', 'others']),
    people: ShownCount.describe('People who were known by then.'),
    ...(Object.fromEntries(counted.map((name) => [name, ShownCount.describe(described[name])])) as Record<
      Counted,
      typeof ShownCount
    >),
    claim_decided: ShownCount.describe('People of whom a claim was approved or declined.'),
    days_to_decide: z
      .number()
      .nullable()
      .describe('Days from the opening of a claim to its first decision, on average. null: of too few people.'),
  })
  .meta({ id: 'VulnerableCustomers' })

const dayMs = 86_400_000

/** Claims of one person, as far as they were decided or paid. */
type Claims = { readonly paid: boolean; readonly declined: boolean; readonly daysToDecide: readonly number[] }

type Told = ReturnType<typeof toldBy<typeof policyStreamEvents>>

const daysToDecide = (claims: Told): readonly number[] => {
  const byClaim = Map.groupBy(claims, ({ event }) => ('claim_id' in event ? event.claim_id : null))
  return [...byClaim.values()].flatMap((told) => {
    const opened = told.find(({ event }) => event.type === 'ClaimOpened')
    const decided = told.find(({ event }) => event.type === 'ClaimApproved' || event.type === 'ClaimDeclined')
    if (!opened || !decided) return []
    return [
      (Date.parse(decided.recorded.metadata.occurred_at) - Date.parse(opened.recorded.metadata.occurred_at)) / dayMs,
    ]
  })
}

/** The claims of a policy by the person whose cover they are on. */
const claimsIn = (events: readonly RecordedEvent[]): readonly (readonly [person: string, Claims])[] => {
  const told = toldBy(policyStreamEvents, events).filter(({ event }) => 'claim_id' in event)
  const byPerson = Map.groupBy(told, ({ event }) => ('customer_id' in event ? event.customer_id : null))
  return [...byPerson].flatMap(([person, own]) => {
    const has = (type: string) => own.some(({ event }) => event.type === type)
    const claims = { paid: has('ClaimPaid'), declined: has('ClaimDeclined'), daysToDecide: daysToDecide(own) }
    return person === null ? [] : [[person, claims] as const]
  })
}

/** Reads each stream that has an event of these kinds, some at a time; those that cannot be read are named. */
const eachStreamWith = async (
  { past, deadline, unread }: Counting,
  kinds: readonly Kind[],
  take: (events: readonly RecordedEvent[]) => void,
): Promise<void> => {
  const seen = new Set<string>()
  for await (const { rows } of candidatesOf(past, kinds)) {
    if (performance.now() > deadline) throw tooMany()
    const fresh = [...new Set(rows.map(({ stream }) => stream))].filter((stream) => !seen.has(stream))
    for (const stream of fresh) seen.add(stream)
    const { unread: lacking } = await eachRead(
      fresh,
      (stream) => stream,
      async (some) => {
        const streams = await readStreams(past, some)
        for (const stream of some) take(streams.get(stream) ?? [])
        return some
      },
    )
    unread.push(...lacking.slice(0, mostUnread - unread.length))
  }
}

type Counting = { readonly past: Past; readonly deadline: number; readonly unread: UnreadRecord[] }

type Flagged = {
  readonly id: string
  readonly revision: number
  /** As the lead is now; null where it was flagged again since the moment. */
  readonly vulnerable: boolean | null
}

/** Whoever was marked on their lead: as it is now, but for those of whom something else was said since. */
const markedIn = async ({ past, deadline, unread }: Counting): Promise<ReadonlySet<string>> => {
  const { organisation_id, moment, pool, eventLog } = past
  const statement = sql`
    with flagged as (
      select substring(stream from length('lead-') + 1)::uuid as id, max(revision) as last,
        max(revision) filter (where recorded_at <= ${moment.known_at}) as revision
      from recorded_events where organisation_id = ${organisation_id} and kind = 'LeadVulnerabilityFlagged' group by stream)
    select flagged.id, revision, case when last = revision then (document ->> 'vulnerable')::boolean end as vulnerable
    from flagged left join lead_records on lead_records.organisation_id = ${organisation_id} and contact_id = flagged.id
    where revision is not null`
  const { rows } = await pool.query<Flagged>(withDeadline(statement, withinMs))
  const marked = new Set<string>()
  for (const { id, revision, vulnerable } of rows) {
    if (performance.now() > deadline) throw tooMany()
    const read = async () => {
      const [event] = toldBy(leadEvents, await eventLog.read(`lead-${id}`, { from: revision, limit: 1 }))
      return [event?.event.type === 'LeadVulnerabilityFlagged' && event.event.flagged]
    }
    const { made, unread: lacking } =
      vulnerable === null ? await eachRead([id], () => `lead-${id}`, read) : { made: [vulnerable], unread: [] }
    if (made[0] === true) marked.add(id)
    unread.push(...lacking.slice(0, mostUnread - unread.length))
  }
  return marked
}

type Sums = Record<Counted | 'people' | 'claim_decided', number> & { days: number; decisions: number }

const noSums = (): Sums => ({
  people: 0,
  quoted: 0,
  declined: 0,
  referred: 0,
  loaded: 0,
  claim_paid: 0,
  claim_declined: 0,
  complained: 0,
  claim_decided: 0,
  days: 0,
  decisions: 0,
})

const countClaims = async (counting: Counting, groupOf: (person: string) => Sums): Promise<void> => {
  const byPerson = new Map<string, Claims[]>()
  await eachStreamWith(counting, ['ClaimApproved', 'ClaimDeclined', 'ClaimPaid'], (events) => {
    for (const [person, claims] of claimsIn(events)) byPerson.set(person, [...(byPerson.get(person) ?? []), claims])
  })
  for (const [person, claims] of byPerson) {
    const sums = groupOf(person)
    const days = claims.flatMap((each) => each.daysToDecide)
    if (claims.some(({ paid }) => paid)) sums.claim_paid++
    if (claims.some(({ declined }) => declined)) sums.claim_declined++
    if (days.length > 0) sums.claim_decided++
    sums.decisions += days.length
    for (const each of days) sums.days += each
  }
}

type Row = Pick<Sums, 'people' | 'quoted' | 'declined' | 'referred' | 'loaded' | 'complained'> & { is_marked: boolean }

/** All that is known by the kinds of events alone: one pass over those of the organisation. */
const countPeople = async ({ past, deadline }: Counting, marked: readonly string[]): Promise<readonly Row[]> => {
  const { organisation_id, moment, pool } = past
  const statement = sql`
    with happened as (
      select kind, stream, revision, person_id, second_person_id from recorded_events
      where organisation_id = ${organisation_id} and recorded_at <= ${moment.known_at} and kind in (
        'CustomerCreated', 'CustomerSentIn', 'QuoteIssued', 'ApplicationDeclined', 'ApplicationReferred', 'ComplaintOpened')),
    told as (
      select person_id as id, kind, stream, revision from happened where person_id is not null
      union all select second_person_id, kind, stream, revision from happened where second_person_id is not null),
    loaded as (
      select 'application-' || application_id as stream, revision, true as is_loaded from quotes
      where organisation_id = ${organisation_id} and document ->> 'decision' = 'loaded'),
    person as (
      select id, bool_or(kind in ('CustomerCreated', 'CustomerSentIn')) as is_known, bool_or(kind = 'QuoteIssued') as quoted,
        bool_or(kind = 'ApplicationDeclined') as declined, bool_or(kind = 'ApplicationReferred') as referred,
        bool_or(kind = 'QuoteIssued' and is_loaded) as loaded, bool_or(kind = 'ComplaintOpened') as complained
      from told left join loaded using (stream, revision) group by id)
    select marked.id is not null as is_marked, count(*)::integer as people,
      (count(*) filter (where quoted))::integer as quoted, (count(*) filter (where declined))::integer as declined,
      (count(*) filter (where referred))::integer as referred, (count(*) filter (where loaded))::integer as loaded,
      (count(*) filter (where complained))::integer as complained
    from person left join unnest(${marked}::uuid[]) as marked (id) using (id) where is_known group by 1`
  const { rows } = await pool.query<Row>(withDeadline(statement, Math.max(1, deadline - performance.now())))
  return rows
}

/** The people of a firm: their sums are all that is kept. */
const sumsOf = async (past: Past) => {
  const counting = { past, deadline: performance.now() + withinMs, unread: [] as UnreadRecord[] }
  const sums: Pair<Sums> = { vulnerable: noSums(), others: noSums() }
  const marked = await markedIn(counting)
  await countClaims(counting, (person) => (marked.has(person) ? sums.vulnerable : sums.others))
  for (const { is_marked, ...counts } of await countPeople(counting, [...marked]))
    Object.assign(is_marked ? sums.vulnerable : sums.others, counts)
  return { sums, unreadable: counting.unread }
}

const tooMany = () =>
  new Problem(
    'unavailable',
    'There was no time to count all people of the organisation: a part of them would say nothing. Ask again when less is done.',
    { headers: { 'Retry-After': '60' } },
  )

/** The count that each is a part of. */
const wholesOf: Readonly<Partial<Record<keyof Sums, readonly (keyof Sums)[]>>> = {
  people: [],
  loaded: ['people', 'quoted'],
  claim_paid: ['people', 'claim_decided'],
  claim_declined: ['people', 'claim_decided'],
}

const groupsOf = ({ vulnerable, others }: Pair<Sums>): z.input<typeof Group>[] => {
  const pairOf = (name: keyof Sums) => ({ vulnerable: vulnerable[name], others: others[name] })
  const pairs = (['people', ...counted, 'claim_decided'] as const).map(
    (name) => [name, shownPair(pairOf(name), (wholesOf[name] ?? ['people']).map(pairOf))] as const,
  )
  return (['vulnerable', 'others'] as const).map((group) => {
    const shown = Object.fromEntries(pairs.map(([name, pair]) => [name, pair[group]])) as Omit<
      z.input<typeof Group>,
      'group' | 'days_to_decide'
    >
    const { days, decisions } = group === 'vulnerable' ? vulnerable : others
    const isShown = typeof shown.claim_decided === 'number'
    return { group, ...shown, days_to_decide: isShown ? Math.round((days / decisions) * 10) / 10 : null }
  })
}

/**
 * The beginning of the month, before which moments are not told apart: of two that lie close together, one person alone may make the
 * difference.
 */
const monthOf = (known_at: string | undefined): string => {
  const at = known_at === undefined ? realTime() : new Date(known_at)
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth())).toISOString()
}

/** People who are marked as vulnerable, beside all others, by the same counts. */
export const vulnerableCustomersRoute = ({ pool, eventLog, inTurn }: ListDeps): Route =>
  route(
    {
      ...auditRoute,
      method: 'get',
      address: '/audit/v1/organisations/:organisation_id/lists/vulnerable_customers',
      summary: 'Compare what happened to people who are marked as vulnerable with what happened to all others',
      path: z.object({ organisation_id: OrganisationId }),
      query: z.object({
        known_at: momentParameters.known_at.describe(
          'What was known when the month of this moment began (UTC), which the answer says as known_at. Default: this month.',
        ),
        format,
      }),
      example: { query: {} },
      alsoAs: 'text/csv',
      answers: { 200: z.object({ data: z.array(Group), total: z.literal(2), unread, ...ShownMoment.shape }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query, header }) => {
      await momentOf(eventLog, query)
      const moment = { known_at: monthOf(query.known_at) }
      const { sums, unreadable } = await inTurn(organisation_id, async () => {
        await untilFound({ db: pool, eventLog }, moment)
        return sumsOf({ organisation_id, moment, pool, eventLog })
      })
      const data = groupsOf(sums)
      if (wantsCsv(query.format, { header })) {
        const file = csvAnswer('vulnerable_customers', Object.keys(Group.shape), data)
        return { ...file, headers: { ...file.headers, ...unreadHeader(unreadable) } }
      }
      return { status: 200, body: { data, total: 2, unread: unreadable, ...momentShown(moment) } }
    },
  )
