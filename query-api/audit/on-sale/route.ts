import { z } from 'zod'
import type { Directory } from '#domain/access/record.ts'
import { changesOf } from '#domain/changes.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { daysAfter } from '#domain/dates.ts'
import { notFound } from '#domain/rejection.ts'
import { startOfDayIn } from '#domain/time-zone.ts'
import { CalendarDate, OrganisationId, ProductId, ReleaseId, SentInstant } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { auditRoute, route, type Route } from '#infra/http/route.ts'
import { isKnownAt } from '../as-of/moment.ts'
import { momentOf, momentParameters, momentShown, ShownMoment } from '../lists/moment.ts'
import { makeTurns } from '../turns.ts'
import { Done, makeDoneBy, type Doer } from './done.ts'
import { RateTableChange, rateTableChanges } from './rate-table-changes.ts'
import { salesOf, wasDuring, type Sale, type Span } from './sales.ts'

const mostChanges = 500

const ReleaseOnSale = z
  .object({
    release_id: ReleaseId,
    number: z.int(),
    name: z.string(),
    on_sale_from: z.iso.datetime(),
    on_sale_until: z.iso
      .datetime()
      .nullable()
      .describe('null: as far as is known at that moment, it is still on sale.'),
    published: Done,
    begun: Done.describe('What put it on sale: that it was published, or that the product came into production.'),
    ended: Done.nullable().describe('What ended that: another release, or that the product left production.'),
    before: z
      .object({ release_id: ReleaseId, number: z.int() })
      .nullable()
      .describe('The release that was on sale before it. null: none was.'),
    changes: z
      .array(
        z.object({
          path: z.string().describe('Where in the release: `policy_fee_pence`, `covers[0].age_at_entry_max`.'),
          before: z.unknown().describe('null: nothing.'),
          after: z.unknown().describe('null: nothing.'),
        }),
      )
      .describe('What differs from the release that was on sale before it: the first 500 values.'),
    changes_count: z.int(),
    rate_tables: z.array(RateTableChange).describe('The rate tables of which another version is used.'),
  })
  .meta({ id: 'ReleaseOnSale' })
type ReleaseOnSale = z.input<typeof ReleaseOnSale>

type Deps = {
  readonly eventLog: Pick<EventLog, 'read' | 'head'>
  readonly applications: Directory['applications']
  readonly organisations: Directory['organisations']
}

/** So many products are looked at together. */
const atOnce = 2

/** Which release of a product was on sale, by whose acts, and what came with it. */
export const auditOnSaleRoute = (deps: Deps): Route => {
  const inTurn = makeTurns(atOnce)
  return route(
    {
      ...auditRoute,
      method: 'get',
      address: '/audit/v1/organisations/:organisation_id/products/:product_id/on_sale',
      summary:
        'Show which release of a product was on sale then: who published and approved it, and what changed with it',
      path: z.object({ organisation_id: OrganisationId, product_id: ProductId }),
      query: z.object({
        at: z
          .union([CalendarDate, SentInstant])
          .optional()
          .describe('A moment, or a day where the organisation is: then all that were on sale on it. Default: now.'),
        ...momentParameters,
      }),
      answers: { 200: ShownMoment.extend({ data: z.array(ReleaseOnSale).describe('The earliest first.') }) },
      errors: ['invalid_parameter'],
    },
    async ({ path, query: { at, ...asked }, now }) => {
      const body = await inTurn(path.organisation_id, async () => {
        const moment = await momentOf(deps.eventLog, asked)
        const sales = await salesOf(deps.eventLog, path, isKnownAt(moment))
        if (!sales) throw notFound('product')
        const span = spanOf(at ?? now, deps.organisations.get(path.organisation_id)?.time_zone ?? 'UTC')
        const doneBy = makeDoneBy(deps)
        const data: ReleaseOnSale[] = []
        for (const sale of sales.filter(wasDuring(span)))
          data.push(await shownSale(deps, sale, releaseBefore(sales, sale), doneBy))
        return { data, ...momentShown(moment) }
      })
      return { status: 200, body }
    },
  )
}

/** A day, or a moment: the millisecond of it. */
const spanOf = (at: string, timeZone: string): Span =>
  CalendarDate.safeParse(at).success
    ? { from: startOfDayIn(timeZone, at), until: startOfDayIn(timeZone, daysAfter(at, 1)) }
    : { from: at, until: new Date(Date.parse(at) + 1).toISOString() }

const releaseBefore = (sales: readonly Sale[], { release, begun }: Sale): Release | undefined =>
  sales.findLast((sale) => sale.begun.revision < begun.revision && sale.release.id !== release.id)?.release

const contentOf = ({ id: _id, number: _number, rate_tables: _tables, ...content }: Release) => content

const shownSale = async (
  { eventLog }: Deps,
  { release, published, begun, ended }: Sale,
  before: Release | undefined,
  doneBy: Doer,
): Promise<ReleaseOnSale> => {
  const changes = before ? changesOf(contentOf(before), contentOf(release)) : []
  return {
    release_id: release.id,
    number: release.number,
    name: release.name,
    on_sale_from: begun.metadata.occurred_at,
    on_sale_until: ended?.metadata.occurred_at ?? null,
    published: await doneBy(published),
    begun: await doneBy(begun),
    ended: ended ? await doneBy(ended) : null,
    before: before ? { release_id: before.id, number: before.number } : null,
    changes: changes
      .slice(0, mostChanges)
      .map(({ path, before: was = null, after: is = null }) => ({ path, before: was, after: is })),
    changes_count: changes.length,
    rate_tables: before ? await rateTableChanges(eventLog, before, release, doneBy) : [],
  }
}
