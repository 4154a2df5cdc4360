import { z } from 'zod'
import { Release } from '#domain/catalogue/events.ts'
import { RateTable } from '#domain/rating/events.ts'
import { OrganisationId, ProductId, ReleaseId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { impersonalRoute, route, type Route } from '#infra/http/route.ts'
import { inDigits, pageSize } from '#infra/http/whole-number.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { newestFirstRoute } from '../newest-first.ts'

const published_at = z.iso.datetime()

const PublishedRelease = Release.extend({ published_at }).meta({ id: 'PublishedRelease' })

const PublishedRateTable = RateTable.extend({
  cells: RateTable.shape.cells.describe('By the values of the dimensions, in their order: `34|25|n`.'),
  published_at,
}).meta({ id: 'PublishedRateTable' })

const RateTableVersion = RateTable.omit({ cells: true })
  .extend({ cell_count: z.int(), published_at })
  .meta({ id: 'RateTableVersion' })

type Deps = { readonly pool: Database; readonly db: Database }

type Published<Document> = { readonly at: Date; readonly document: Document }

const shown = <Document>({ document, at }: Published<Document>) => ({
  ...document,
  published_at: at.toISOString(),
})

/** Published releases and rate tables, as they were: those that quotes name. */
export const catalogueHistoryRoutes = ({ pool, db }: Deps): Route[] => [
  newestFirstRoute(pool, {
    team: impersonalRoute('owner', 'underwriting'),
    address: '/admin/v1/releases',
    summary: 'List the releases of an organisation’s products, newest first, with all that they say',
    table: 'releases',
    time: 'published_at',
    filters: { product_id: ProductId },
    // A release can have a hundred kilobytes.
    limit: pageSize({ most: 50, byDefault: 10 }),
    item: PublishedRelease,
    show: shown<Release>,
  }),
  route(
    {
      ...impersonalRoute('owner', 'underwriting'),
      method: 'get',
      address: '/admin/v1/releases/:id',
      summary: 'Show a release: the product_release_id of a quote',
      path: z.object({ id: ReleaseId }),
      query: z.object({ organisation_id: OrganisationId }),
      answers: { 200: z.object({ data: PublishedRelease }) },
    },
    async ({ path: { id }, query: { organisation_id } }) => {
      const { rows } = await db.query<Published<Release>>(sql`
        select document, published_at as at from releases where organisation_id = ${organisation_id} and id = ${id}`)
      if (!rows[0]) throw notFound('release')
      return { status: 200, body: { data: shown(rows[0]) } }
    },
  ),
  newestFirstRoute(pool, {
    team: impersonalRoute('owner', 'underwriting'),
    address: '/admin/v1/rate_tables',
    summary: 'List the versions of an organisation’s rate tables, newest first, without their cells',
    table: 'rate_tables',
    time: 'published_at',
    filters: { key: z.string() },
    item: RateTableVersion,
    show: shown<Omit<z.output<typeof RateTableVersion>, 'published_at'>>,
  }),
  route(
    {
      ...impersonalRoute('owner', 'underwriting'),
      method: 'get',
      address: '/admin/v1/rate_tables/:key/versions/:version',
      summary: 'Show a version of a rate table with its cells: one of the rate_tables of a quote',
      path: z.object({
        key: z.string(),
        version: inDigits(
          z
            .int()
            .positive()
            .max(2 ** 31 - 1),
        ),
      }),
      query: z.object({ organisation_id: OrganisationId }),
      answers: { 200: z.object({ data: PublishedRateTable }) },
    },
    async ({ path: { key, version }, query: { organisation_id } }) => {
      const { rows } = await db.query<Published<Omit<RateTable, 'cells'>> & Pick<RateTable, 'cells'>>(sql`
        select document, cells, published_at as at from rate_tables
        where organisation_id = ${organisation_id} and key = ${key} and version = ${version}`)
      if (!rows[0]) throw notFound('version of this rate table')
      const { document, cells, at } = rows[0]
      const data = PublishedRateTable.parse({ ...document, cells, published_at: at.toISOString() })
      return { status: 200, body: { data } }
    },
  ),
]
