import { z } from 'zod'
import { ComplaintCause, ComplaintId } from '#domain/complaints/events.ts'
import { Complaint, ComplaintState } from '#domain/complaints/record.ts'
import { CustomerId, OrganisationId, PolicyId } from '#domain/values.ts'
import { route, teamRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { requireDocument } from '../find-document.ts'
import { newestFirstRoute } from '../newest-first.ts'

type Deps = { readonly pool: Database; readonly db: Database }

const team = teamRoute('policies', 'claims')
const address = '/admin/v1/organisations/:organisation_id/complaints'

/** Complaints, their clocks, and what became of each, for the team. */
export const complaintReads = ({ pool, db }: Deps): readonly Route[] => [
  newestFirstRoute(pool, {
    team,
    address,
    summary: 'List an organisation’s complaints, the one that was opened last first',
    table: 'complaints',
    time: 'opened_at',
    filters: {
      state: ComplaintState,
      cause: ComplaintCause,
      policy_id: PolicyId,
      contact_id: CustomerId,
      overdue: z.enum(['true', 'false']),
    },
    item: Complaint,
  }),
  route(
    {
      ...team,
      method: 'get',
      address: `${address}/:id`,
      summary: 'Show a complaint',
      path: z.object({ organisation_id: OrganisationId, id: ComplaintId }),
      answers: { 200: z.object({ data: Complaint }) },
    },
    async ({ path: { organisation_id, id } }) => ({
      status: 200,
      body: { data: await requireDocument<Complaint>(db, 'complaints', organisation_id, id) },
    }),
  ),
]
