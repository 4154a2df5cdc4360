import { z } from 'zod'
import {
  applicationStreamEvents,
  ApplicationStatus,
  TeamApplication,
  type ApplicationRecord,
} from '#domain/applications/record.ts'
import { ApiApplicationId, ApplicationId, OrganisationId, ProductId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { teamRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { requireDocument } from '../find-document.ts'
import { newestFirstRoute, type ListedRow } from '../newest-first.ts'
import { readTimeline, Timeline, timelineParameters } from '../timeline.ts'

type Deps = { readonly pool: Database; readonly db: Database; readonly eventLog: Pick<EventLog, 'read'> }

const applicationKind = { category: 'application', events: applicationStreamEvents }

/** Applications as the team sees them: with the reasons of what was decided, and the early details. */
export const teamApplicationRoutes = ({ pool, db, eventLog }: Deps): Route[] => [
  newestFirstRoute(pool, {
    team: teamRoute('leads', 'underwriting', 'policies'),
    address: '/admin/v1/team_applications',
    summary: 'List the applications of an organisation, the latest change first; since and until are about changes',
    table: 'applications',
    time: 'updated_at',
    filters: {
      status: ApplicationStatus,
      product_id: ProductId,
      api_application_id: ApiApplicationId.optional().describe('The client_id of the API application that started it.'),
      reference: z
        .string()
        .regex(/^[\da-f]{8}$/, 'must be the last eight digits of its id, in small letters')
        .optional()
        .describe('The last eight digits of its id, which a customer is told; few have the same.'),
    },
    item: TeamApplication,
    show: ({ document }: ListedRow<ApplicationRecord>) => document,
  }),
  route(
    {
      ...teamRoute('leads', 'underwriting', 'policies'),
      method: 'get',
      address: '/admin/v1/team_applications/:id',
      summary: 'Show an application with what was decided about it and why',
      path: z.object({ id: ApplicationId }),
      query: z.object({ organisation_id: OrganisationId }),
      answers: { 200: z.object({ data: TeamApplication }) },
    },
    async ({ path: { id }, query: { organisation_id } }) => ({
      status: 200,
      body: { data: await requireDocument<ApplicationRecord>(db, 'applications', organisation_id, id) },
    }),
  ),
  route(
    {
      ...teamRoute('leads', 'underwriting', 'policies'),
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
