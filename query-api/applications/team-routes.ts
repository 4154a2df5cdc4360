import { z } from 'zod'
import {
  applicationStreamEvents,
  ApplicationStatus,
  TeamApplication,
  type ApplicationRecord,
} from '#domain/applications/record.ts'
import { ApiApplicationId, ApplicationId, OrganisationId, ProductId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { notFound } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { listParameters, newestFirst } from '../newest-first.ts'
import { readTimeline, Timeline, timelineParameters } from '../timeline.ts'

const operator = { tag: 'Operator', access: { kind: 'operator' } } as const

type Deps = { readonly pool: Database; readonly db: Database; readonly eventLog: Pick<EventLog, 'read'> }

const applicationKind = { category: 'application', events: applicationStreamEvents }

/** Applications as the team sees them: with the reasons of what was decided, and the early details. */
export const teamApplicationRoutes = ({ pool, db, eventLog }: Deps): Route[] => [
  route(
    {
      ...operator,
      method: 'get',
      address: '/admin/v1/team_applications',
      summary: 'List the applications of an organisation, the latest change first; since and until are about changes',
      query: z.object({
        organisation_id: OrganisationId,
        status: ApplicationStatus.optional(),
        product_id: ProductId.optional(),
        api_application_id: ApiApplicationId.optional().describe(
          'The client_id of the API application that started it.',
        ),
        ...listParameters,
      }),
      answers: { 200: z.object({ data: z.array(TeamApplication), next_cursor: z.string().nullable() }) },
    },
    async ({ query: { status, product_id, api_application_id, ...asked } }) => {
      const { page, next_cursor } = await newestFirst<ApplicationRecord>(pool, {
        ...asked,
        table: 'applications',
        time: 'updated_at',
        filters: { status, product_id, api_application_id },
      })
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
      const { rows } = await db.query<{ readonly document: ApplicationRecord }>(sql`
        select document from applications where organisation_id = ${organisation_id} and id = ${id}`)
      if (!rows[0]) throw notFound('application')
      return { status: 200, body: { data: rows[0].document } }
    },
  ),
  route(
    {
      ...operator,
      method: 'get',
      address: '/admin/v1/team_applications/:id/timeline',
      summary: 'List what happened to an application, its quotes and payments, oldest first',
      path: z.object({ id: ApplicationId }),
      query: timelineParameters,
      answers: { 200: Timeline },
    },
    async ({ path, query }) => ({
      status: 200,
      body: await readTimeline(eventLog, applicationKind, path.id, query),
    }),
  ),
]
