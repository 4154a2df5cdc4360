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

const mostDays = 366
const mostRows = 10_000
const withinMs = 5_000

const Period = z.object({
  from: CalendarDate.describe('The first day.'),
  until: CalendarDate.describe(`The day after the last, at most ${mostDays} after the first.`),
  every: z.enum(['day', 'week', 'month']).default('week').describe('Weeks begin on Mondays.'),
})
type Period = z.output<typeof Period>

const starts_on = CalendarDate.describe('The first day of the day, week or month, by the clocks of the organisation.')
const count = z.int()

const LeadFigure = z.object({ starts_on, stage: z.string(), source: z.string(), count }).meta({ id: 'LeadFigure' })
const SalesFigure = z
  .object({
    starts_on,
    step: z.enum(['started', 'quoted', 'accepted', 'bound']),
    count: count.describe('Applications: each once, however often it was quoted.'),
  })
  .meta({ id: 'SalesFigure' })
const PremiumFigure = z
  .object({ starts_on, status: PremiumStatus, count, amount_pence: z.int() })
  .meta({ id: 'PremiumFigure' })
const DeliveryFigure = z.object({ starts_on, state: DeliveryState, count }).meta({ id: 'DeliveryFigure' })

const within = (column: string): string => `organisation_id = $1 and ${column} >= $2 and ${column} < $3`
const begins = (column: string): string => `date_trunc($4, ${column} at time zone $5)::date::text as starts_on`

/** The step of a sale that an event is, by the kind under which it is recorded. */
const steps = `case kind when 'ApplicationStarted' then 'started' when 'QuoteIssued' then 'quoted'
  when 'QuoteAccepted' then 'accepted' else 'bound' end`

const refuseLong = ({ from, until }: Period): void => {
  const days = (Date.parse(until) - Date.parse(from)) / 86_400_000
  if (days > 0 && days <= mostDays) return
  throw new Problem('invalid_parameter', `Correct until: it must be 1 to ${mostDays} days after from.`, {
    fields: { until: `must be 1 to ${mostDays} days after from` },
  })
}

type Deps = { readonly pool: Database; readonly organisations: Directory['organisations'] }

type Figures<Item extends z.ZodType> = {
  readonly team: TeamRoute
  readonly name: string
  readonly summary: string
  readonly item: Item
  /** Of an organisation ($1), from one moment to another ($2, $3), by a unit ($4) in a time zone ($5). */
  readonly text: string
}

const figuresRoute = <Item extends z.ZodType>(
  { pool, organisations }: Deps,
  { team, name, summary, item, text }: Figures<Item>,
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
      answers: { 200: z.object({ data: z.array(item) }) },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query }) => {
      refuseLong(query)
      const zone = timeZoneOf(organisations, organisation_id)
      const [from, until] = [startOfDayIn(zone, query.from), startOfDayIn(zone, query.until)]
      const values = [organisation_id, from, until, query.every, zone]
      const statement = { text: `${text} order by starts_on limit ${mostRows + 1}`, values }
      const { rows } = await pool.query(withDeadline(statement, withinMs))
      if (rows.length > mostRows)
        throw new Problem('invalid_parameter', 'Correct until: there are too many figures. Ask for fewer days.', {
          fields: { until: 'must be earlier' },
        })
      return { status: 200, body: { data: rows as z.input<Item>[] } }
    },
  )

/** Counts and sums by day, week or month. */
export const figureRoutes = (deps: Deps): readonly Route[] => [
  figuresRoute(deps, {
    team: impersonalRoute('leads'),
    name: 'leads',
    summary: 'Count the leads that came in, by the stage at which they are now and their source',
    item: LeadFigure,
    text: `select ${begins('created_at')}, stage, source, count(*)::int as count from lead_records
      where ${within('created_at')} group by 1, stage, source`,
  }),
  figuresRoute(deps, {
    team: impersonalRoute('leads', 'underwriting', 'policies'),
    name: 'sales',
    summary: 'Count the applications that were started, quoted, accepted and bound',
    item: SalesFigure,
    text: `select ${begins('recorded_at')}, ${steps} as step, count(distinct stream)::int as count from recorded_events
      where ${within('recorded_at')}
        and kind in ('ApplicationStarted', 'QuoteIssued', 'QuoteAccepted', 'ApplicationBound') group by 1, 2`,
  }),
  figuresRoute(deps, {
    team: impersonalRoute('policies', 'claims', 'finance'),
    name: 'premiums',
    summary: 'Add up the premiums that fell due, by what became of them',
    item: PremiumFigure,
    text: `select ${begins('created_at')}, status, count(*)::int as count, sum(amount_pence)::float8 as amount_pence
      from premiums where ${within('created_at')} group by 1, status`,
  }),
  figuresRoute(deps, {
    team: impersonalRoute('owner', 'operator'),
    name: 'deliveries',
    summary: 'Count the webhooks of the events that were recorded, by what became of them',
    item: DeliveryFigure,
    text: `select ${begins('recorded_at')}, state, count(*)::int as count from delivery
      where ${within('recorded_at')} group by 1, state`,
  }),
]
