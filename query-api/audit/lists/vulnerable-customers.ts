import { z } from 'zod'
import { applicationStreamEvents, evolveRecord } from '#domain/applications/record.ts'
import { complaintEvents } from '#domain/complaints/events.ts'
import { categoryOf, idOf, type RecordedEvent } from '#domain/event.ts'
import { leadEvents } from '#domain/leads/events.ts'
import { evolveLead } from '#domain/leads/record.ts'
import { policyStreamEvents } from '#domain/policies/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { auditRoute, route, type Route } from '#infra/http/route.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { csvAnswer, format, wantsCsv } from '../../csv.ts'
import { untilFound } from '../as-of/until-found.ts'
import { mostUnread, unread, unreadHeader, type ListDeps } from './list.ts'
import { momentOf, momentParameters, momentShown, ShownMoment } from './moment.ts'
import { candidatesOf, eachRead, foldOf, readStreams, toldBy, type Past, type UnreadRecord } from './walk.ts'
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

type Person = Readonly<Record<Counted, boolean>> & {
  readonly isVulnerable: boolean
  /** Of each claim that was decided. */
  readonly daysToDecide: readonly number[]
}

const dayMs = 86_400_000

const isOfPerson = (events: readonly RecordedEvent[], person_id: string): boolean => {
  const application = foldOf(toldBy(applicationStreamEvents, events), evolveRecord)
  return application?.customer?.id === person_id || application?.joint_customer?.id === person_id
}

/** All that happened to a person: once is enough, whatever came of it later. */
const personOf = (person_id: string, streams: readonly (readonly [string, readonly RecordedEvent[]])[]): Person => {
  const of = (category: string) =>
    streams.flatMap(([stream, events]) => (categoryOf(stream) === category ? [events] : []))
  const lead = of('lead').flatMap((events) => toldBy(leadEvents, events))
  const applications = of('application')
    .filter((events) => isOfPerson(events, person_id))
    .flatMap((events) => toldBy(applicationStreamEvents, events))
  const claims = of('policy').flatMap((events) =>
    toldBy(policyStreamEvents, events).filter(
      ({ event }) => 'claim_id' in event && 'customer_id' in event && event.customer_id === person_id,
    ),
  )
  const has = (told: readonly { readonly event: { readonly type: string } }[], type: string) =>
    told.some(({ event }) => event.type === type)
  const complaints = of('complaint').flatMap((events) =>
    toldBy(complaintEvents, events).filter(({ event }) => event.contact_id === person_id),
  )
  return {
    isVulnerable: foldOf(lead, evolveLead)?.vulnerable ?? false,
    quoted: has(applications, 'QuoteIssued'),
    declined: has(applications, 'ApplicationDeclined'),
    referred: has(applications, 'ApplicationReferred'),
    loaded: applications.some(({ event }) => event.type === 'QuoteIssued' && event.decision === 'loaded'),
    claim_paid: has(claims, 'ClaimPaid'),
    claim_declined: has(claims, 'ClaimDeclined'),
    complained: has(complaints, 'ComplaintOpened'),
    daysToDecide: daysToDecide(claims),
  }
}

const daysToDecide = (claims: ReturnType<typeof toldBy<typeof policyStreamEvents>>): readonly number[] => {
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

/** The streams that may tell of some people, for each of them. */
const streamsAbout = async (
  { pool, organisation_id }: Past,
  people: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const { rows } = await pool.query<{ person: string; stream: string }>(sql`
    select distinct person_id as person, stream from recorded_events
    where organisation_id = ${organisation_id} and person_id = any(${[...people]}::uuid[])
    union
    select second_person_id, stream from recorded_events
    where organisation_id = ${organisation_id} and second_person_id = any(${[...people]}::uuid[])`)
  const wanted = rows.filter(({ stream }) =>
    ['lead', 'application', 'policy', 'complaint'].includes(categoryOf(stream)),
  )
  const byPerson = Map.groupBy(wanted, ({ person }) => person)
  return new Map(people.map((person) => [person, (byPerson.get(person) ?? []).map(({ stream }) => stream)]))
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

const count = (sums: Sums, person: Person): void => {
  sums.people++
  for (const name of counted) if (person[name]) sums[name]++
  if (person.daysToDecide.length > 0) sums.claim_decided++
  sums.decisions += person.daysToDecide.length
  for (const days of person.daysToDecide) sums.days += days
}

/** The people of a firm, some at a time, as all lists are made; their sums are all that is kept. */
const sumsOf = async (past: Past) => {
  const deadline = performance.now() + withinMs
  const sums: Pair<Sums> = { vulnerable: noSums(), others: noSums() }
  const unreadable: UnreadRecord[] = []
  for await (const { rows } of candidatesOf(past, ['CustomerCreated', 'CustomerSentIn'])) {
    if (performance.now() > deadline) throw tooMany()
    const about = await streamsAbout(
      past,
      rows.map(({ stream }) => idOf(stream)),
    )
    const { made, unread: lacking } = await eachRead(
      [...about],
      ([person_id]) => `customer-${person_id}`,
      async (some) => {
        const streams = await readStreams(
          past,
          some.flatMap(([, own]) => own),
        )
        return some.map(([person_id, own]) =>
          personOf(
            person_id,
            own.map((stream) => [stream, streams.get(stream) ?? []]),
          ),
        )
      },
    )
    for (const person of made) if (person) count(person.isVulnerable ? sums.vulnerable : sums.others, person)
    unreadable.push(...lacking.slice(0, mostUnread - unreadable.length))
  }
  return { sums, unreadable }
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

/** People who are marked as vulnerable, beside all others, by the same counts. */
export const vulnerableCustomersRoute = ({ pool, eventLog, inTurn }: ListDeps): Route =>
  route(
    {
      ...auditRoute,
      method: 'get',
      address: '/audit/v1/organisations/:organisation_id/lists/vulnerable_customers',
      summary: 'Compare what happened to people who are marked as vulnerable with what happened to all others',
      path: z.object({ organisation_id: OrganisationId }),
      query: z.object({ ...momentParameters, format }),
      example: { query: {} },
      alsoAs: 'text/csv',
      answers: { 200: z.object({ data: z.array(Group), total: z.literal(2), unread, ...ShownMoment.shape }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query, header }) => {
      const moment = await momentOf(eventLog, query)
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
