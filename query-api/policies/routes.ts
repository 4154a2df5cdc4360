import { z } from 'zod'
import { Policy, policyStreamEvents, PolicyStatus, renderPolicy, type PolicyRecord } from '#domain/policies/record.ts'
import { CustomerId, OrganisationId, PolicyId, ProductId, type ApplicationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import type { SealedFiles } from '#infra/crypto/sealed-files.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { accessTo, FileBody, teamRoute, readOrWrite, route, type Route } from '#infra/http/route.ts'
import type { FindOwner } from '#infra/http/subject.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { requireDocument } from '../find-document.ts'
import { newestFirstRoute, type ListedRow } from '../newest-first.ts'
import { readTimeline, Timeline, timelineParameters } from '../timeline.ts'

/** A policy belongs to its application. */
export const ownerOfPolicy =
  (db: Database): FindOwner =>
  async (organisation_id, id) => {
    const { rows } = await db.query<{ application_id: ApplicationId }>({
      name: 'owner-of-policy',
      ...sql`select application_id from policies where organisation_id = ${organisation_id} and id = ${id}`,
    })
    return rows[0]
  }

const DocumentPath = z.object({ id: PolicyId, version_id: z.uuid().toLowerCase() })

type Deps = {
  readonly pool: Database
  readonly db: Database
  readonly eventLog: Pick<EventLog, 'read'>
  readonly files: Pick<SealedFiles, 'open'>
  /** The address of our own documents. */
  readonly baseUrl: string
}

const access = accessTo('policy', readOrWrite)

const policyKind = { category: 'policy', events: policyStreamEvents }

export const policyRoutes = ({ pool, db, eventLog, files, baseUrl }: Deps): Route[] => {
  const find = async (organisation_id: OrganisationId, id: PolicyId): Promise<PolicyRecord> =>
    requireDocument<PolicyRecord>(db, 'policies', organisation_id, id)

  const read = async (organisation_id: OrganisationId, { id, version_id }: z.infer<typeof DocumentPath>) => {
    const { documents, policy_number } = await find(organisation_id, id)
    const document = documents.find((each) => each.version_id === version_id)
    const file = document && (await files.open(organisation_id, version_id))
    if (!file) throw notFound('document')
    const headers = {
      'Content-Type': file.media_type,
      'Content-Disposition': `inline; filename="${policy_number}-${document.kind}.pdf"`,
    }
    return { status: 200 as const, body: file.content, headers }
  }

  return [
    route(
      {
        method: 'get',
        address: '/api/v1/policies/:id',
        tag: 'Policies',
        summary: 'Read a policy',
        access,
        path: z.object({ id: PolicyId }),
        answers: { 200: z.object({ data: Policy }) },
      },
      async ({ path, caller }) => ({
        status: 200,
        body: { data: renderPolicy(await find(caller.organisation_id, path.id), baseUrl) },
      }),
    ),

    route(
      {
        method: 'get',
        address: '/api/v1/policies/:id/documents/:version_id',
        tag: 'Policies',
        summary: 'Read a document of a policy, as PDF',
        access,
        path: DocumentPath,
        answers: { 200: FileBody },
        fileTypes: ['application/pdf'],
      },
      async ({ path, caller }) => read(caller.organisation_id, path),
    ),

    newestFirstRoute(pool, {
      team: teamRoute('policies', 'claims', 'finance'),
      address: '/admin/v1/policies',
      summary: 'List an organisation’s policies, newest first',
      table: 'policies',
      time: 'created_at',
      filters: {
        status: PolicyStatus,
        customer_id: CustomerId,
        product_id: ProductId,
        policy_number: z.string(),
      },
      item: Policy,
      show: ({ document }: ListedRow<PolicyRecord>) => renderPolicy(document, baseUrl),
    }),

    route(
      {
        ...teamRoute('policies', 'claims', 'finance'),
        method: 'get',
        address: '/admin/v1/policies/:id/record',
        summary: 'Show a policy',
        path: z.object({ id: PolicyId }),
        query: z.object({ organisation_id: OrganisationId }),
        answers: { 200: z.object({ data: Policy }) },
      },
      async ({ path, query }) => ({
        status: 200,
        body: { data: renderPolicy(await find(query.organisation_id, path.id), baseUrl) },
      }),
    ),

    route(
      {
        ...teamRoute('policies', 'claims'),
        method: 'get',
        address: '/admin/v1/policies/:id/files/:version_id',
        summary: 'Read a document that was issued with a policy, as PDF',
        path: DocumentPath,
        query: z.object({ organisation_id: OrganisationId }),
        answers: { 200: FileBody },
        fileTypes: ['application/pdf'],
      },
      async ({ path, query }) => read(query.organisation_id, path),
    ),

    route(
      {
        ...teamRoute('policies', 'claims', 'finance'),
        method: 'get',
        address: '/admin/v1/policies/:id/timeline',
        summary: 'List what happened to a policy, oldest first',
        path: z.object({ id: PolicyId }),
        query: timelineParameters,
        answers: { 200: Timeline },
      },
      async ({ path, query }) => ({ status: 200, body: await readTimeline(eventLog, policyKind, path.id, query) }),
    ),
  ]
}
