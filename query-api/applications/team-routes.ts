import { z } from 'zod'
import { ApplicationStatus, TeamApplication, type ApplicationRecord } from '#domain/applications/record.ts'
import { ApplicationId, OrganisationId } from '#domain/values.ts'
import { notFound } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { pageOf, pageParameters, placeOf } from '../page.ts'

const operator = { tag: 'Operator', access: { kind: 'operator' } } as const

type Row = { readonly id: string; readonly updated_at: Date; readonly document: ApplicationRecord }

type Deps = { readonly pool: Database; readonly db: Database }

/** Applications as the team sees them: with the reasons of what was decided, and the early details. */
export const teamApplicationRoutes = ({ pool, db }: Deps): Route[] => [
  route(
    {
      ...operator,
      method: 'get',
      address: '/admin/v1/team_applications',
      summary: 'List the applications of an organisation in a status, the latest change first',
      query: z.object({ organisation_id: OrganisationId, status: ApplicationStatus, ...pageParameters }),
      answers: { 200: z.object({ data: z.array(TeamApplication), next_cursor: z.string().nullable() }) },
    },
    async ({ query: { organisation_id, status, limit, cursor } }) => {
      const { at, id } = cursor === undefined ? { at: 'infinity', id: highestId } : placeOf(cursor)
      const { rows } = await pool.query<Row>(sql`
        select id, updated_at, document from applications
        where organisation_id = ${organisation_id} and status = ${status} and (updated_at, id) < (${at}, ${id})
        order by updated_at desc, id desc limit ${limit + 1}`)
      const { page, next_cursor } = pageOf(rows, limit, (row) => ({ at: row.updated_at, id: row.id }))
      return { status: 200, body: { data: page.map(({ document }) => document), next_cursor } }
    },
  ),
  route(
    {
      ...operator,
      method: 'get',
      address: '/admin/v1/team_applications/:id',
      summary: 'Show an application with what was decided about it and why',
      path: z.object({ id: ApplicationId }),
      query: z.object({ organisation_id: OrganisationId }),
      answers: { 200: z.object({ data: TeamApplication }) },
    },
    async ({ path: { id }, query: { organisation_id } }) => {
      const { rows } = await db.query<Row>(sql`
        select document from applications where organisation_id = ${organisation_id} and id = ${id}`)
      if (!rows[0]) throw notFound('application')
      return { status: 200, body: { data: rows[0].document } }
    },
  ),
]

const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
