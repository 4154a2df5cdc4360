import { z } from 'zod'
import { timeZoneOf, type Directory } from '#domain/access/record.ts'
import { PremiumStatus } from '#domain/premiums/record.ts'
import { startOfDayIn } from '#domain/time-zone.ts'
import { CalendarDate, OrganisationId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import { impersonalRoute, route, type Route, type TeamRoute } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { withDeadline } from '#infra/postgres/postgres.ts'
import { DeliveryState } from '../delivery-log.ts'
import { Day, Every, mostDays, partOf, startsOf } from '../starts.ts'

const mostRows = 10_000
const withinMs = 5_000

const Period = z.object({
  from: Day.describe('The first day.'),
  until: Day.describe(`The day after the last, at most ${mostDays} after the first.`),
  every: Every.default('week').describe('Weeks begin on Mondays.'),
})
type Period = z.output<typeof Period>

const starts_on = CalendarDate.describe('The first day of the day, week or month, by the clocks of the organisation.')
const count = z.int()

const LeadFigure = z.object({ starts_on, stage: z.string(), source: z.string(), count }).meta({ id: 'LeadFigure' })
const SalesTotal = z
  .object({
    step: z.enum(['started', 'quoted', 'accepted', 'bound']),
    count: count.describe('Applications: each once, however often it was quoted.'),
  })
  .meta({ id: 'SalesTotal' })
const SalesFigure = SalesTotal.extend({ starts_on }).meta({ id: 'SalesFigure' })
const PremiumFigure = z
  .object({ starts_on, status: PremiumStatus, count, amount_pence: z.int() })
  .meta({ id: 'PremiumFigure' })
const DeliveryFigure = z.object({ starts_on, state: DeliveryState, count }).meta({ id: 'DeliveryFigure' })

const within = (column: string, since: string, until: string): string =>
  `organisation_id = $1 and ${column} >= ${since} and ${column} < ${until}`

/** The counts of each part of a period, for which an index is read from its first moment to its last: no row is put into one. */
const inEach = (counted: string): string =>
  `select starts_on::text, counted.* from unnest($2::date[], $3::timestamptz[], $4::timestamptz[]) as part (starts_on, since, until)
    cross join lateral (${counted}) as counted order by part.starts_on limit ${mostRows + 1}`

/** Applications by the step of a sale, which is an event of a kind. */
const sold = (since: string, until: string): string =>
  `select step, (select count(*)::int from (select distinct stream from recorded_events
      where ${within('recorded_at', since, until)} and recorded_events.kind = steps.kind) as once) as count
    from (values ('started', 'ApplicationStarted'), ('quoted', 'QuoteIssued'), ('accepted', 'QuoteAccepted'),
      ('bound', 'ApplicationBound')) as steps (step, kind)`

const refuseLong = ({ from, until }: Period): void => {
  const days = (Date.parse(until) - Date.parse(from)) / 86_400_000
  if (days > 0 && days <= mostDays) return
  throw new Problem('invalid_parameter', `Correct until: it must be 1 to ${mostDays} days after from.`, {
    fields: { until: `must be 1 to ${mostDays} days after from` },
  })
}

type Deps = { readonly pool: Database; readonly organisations: Directory['organisations'] }

type Read = {
  readonly inEach: <Row extends object>(counted: string) => Promise<Row[]>
  readonly inAll: <Row extends object>(text: string) => Promise<Row[]>
}

type Figures<Answer extends z.ZodType> = {
  readonly team: TeamRoute
  readonly name: string
  readonly summary: string
  readonly answer: Answer
  readonly read: (read: Read) => Promise<z.input<Answer>>
}

const tooMany = () =>
  new Problem('invalid_parameter', 'Correct until: there are too many figures. Ask for fewer days.', {
    fields: { until: 'must be earlier' },
  })

/** Counts of an organisation ($1): in each part of a period, or in all of it, from one moment ($2) to another ($3). */
const readIn = ({ pool, organisations }: Deps, organisation_id: OrganisationId, period: Period): Read => {
  const zone = timeZoneOf(organisations, organisation_id)
  const starts = startsOf(period)
  const parts = starts.map((start) => partOf(period, start))
  const moments = (days: readonly string[]) => days.map((day) => startOfDayIn(zone, day))
  const read = async <Row extends object>(text: string, values: unknown[]) => {
    const { rows } = await pool.query<Row>(withDeadline({ text, values: [organisation_id, ...values] }, withinMs))
    if (rows.length > mostRows) throw tooMany()
    return rows
  }
  return {
    inEach: (counted) =>
      read(inEach(counted), [starts, moments(parts.map(({ from }) => from)), moments(parts.map(({ until }) => until))]),
    inAll: (text) => read(text, moments([period.from, period.until])),
  }
}

const figuresRoute = <Answer extends z.ZodType>(
  deps: Deps,
  { team, name, summary, answer, read }: Figures<Answer>,
): Route =>
  route(
    {
      ...team,
      method: 'get',
      address: `/admin/v1/organisations/:organisation_id/figures/${name}`,
      summary,
      path: z.object({ organisation_id: OrganisationId }),
      query: Period,
      example: { query: { from: '2026-01-01', until: '2026-12-31', every: 'month' } },
      answers: { 200: answer },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query }) => {
      refuseLong(query)
      return { status: 200, body: await read(readIn(deps, organisation_id, query)) }
    },
  )

/** Counts and sums by day, week or month. */
export const figureRoutes = (deps: Deps): readonly Route[] => [
  figuresRoute(deps, {
    team: impersonalRoute('leads'),
    name: 'leads',
    summary: 'Count the leads that came in, by the stage at which they are now and their source',
    answer: z.object({ data: z.array(LeadFigure) }),
    read: async ({ inEach }) => ({
      data: await inEach<z.input<typeof LeadFigure>>(`select stage, source, count(*)::int as count from lead_records
        where ${within('created_at', 'since', 'until')} group by stage, source`),
    }),
  }),
  figuresRoute(deps, {
    team: impersonalRoute('leads', 'underwriting', 'policies'),
    name: 'sales',
    summary: 'Count the applications that were started, quoted, accepted and bound',
    answer: z.object({
      data: z.array(SalesFigure),
      total: z
        .array(SalesTotal)
        .describe(
          'Of all days together: an application that was quoted in two weeks is one of each, and one of these.',
        ),
    }),
    read: async ({ inEach, inAll }) => {
      const [data, total] = await Promise.all([
        inEach<z.input<typeof SalesFigure>>(sold('since', 'until')),
        inAll<z.input<typeof SalesTotal>>(sold('$2::timestamptz', '$3::timestamptz')),
      ])
      return { data, total }
    },
  }),
  figuresRoute(deps, {
    team: impersonalRoute('policies', 'claims', 'finance'),
    name: 'premiums',
    summary: 'Add up the premiums that fell due, by what became of them',
    answer: z.object({ data: z.array(PremiumFigure) }),
    read: async ({ inEach }) => ({
      data: await inEach<
        z.input<typeof PremiumFigure>
      >(`select status, count(*)::int as count, sum(amount_pence)::float8 as amount_pence from premiums
        where ${within('created_at', 'since', 'until')} group by status`),
    }),
  }),
  figuresRoute(deps, {
    team: impersonalRoute('owner', 'operator'),
    name: 'deliveries',
    summary: 'Count the webhooks of the events that were recorded, by what became of them',
    answer: z.object({ data: z.array(DeliveryFigure) }),
    read: async ({ inEach }) => ({
      data: await inEach<z.input<typeof DeliveryFigure>>(`select state, count(*)::int as count from delivery
        where ${within('recorded_at', 'since', 'until')} group by state`),
    }),
  }),
]
