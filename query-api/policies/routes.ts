import { z } from 'zod'
import { Policy, policyStreamEvents, PolicyStatus, renderPolicy, type PolicyRecord } from '#domain/policies/record.ts'
import { CustomerId, OrganisationId, PolicyId, ProductId, type ApplicationId } from '#domain/values.ts'
import type { SealedFiles } from '#infra/crypto/sealed-files.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { notFound } from '#infra/http/problem.ts'
import { accessTo, FileBody, readOrWrite, route, type Route } from '#infra/http/route.ts'
import type { FindOwner } from '#infra/http/subject.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { listParameters, newestFirst } from '../newest-first.ts'
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

const Filters = z.object({
  organisation_id: OrganisationId,
  status: PolicyStatus.optional(),
  customer_id: CustomerId.optional(),
  product_id: ProductId.optional(),
  policy_number: z.string().optional(),
  ...listParameters,
})

const DocumentPath = z.object({ id: PolicyId, version_id: z.uuid().toLowerCase() })

type Deps = {
  readonly pool: Database
  readonly db: Database
  readonly eventLog: Pick<EventLog, 'read'>
  readonly files: Pick<SealedFiles, 'open'>
  /** Where our own documents are served. */
  readonly baseUrl: string
}

const access = accessTo('policy', readOrWrite)

const operator = { tag: 'Operator', access: { kind: 'operator' } } as const

const policyKind = { category: 'policy', events: policyStreamEvents }

export const policyRoutes = ({ pool, db, eventLog, files, baseUrl }: Deps): Route[] => {
  const find = async (organisation_id: OrganisationId, id: PolicyId): Promise<PolicyRecord> => {
    const { rows } = await db.query<{ document: PolicyRecord }>({
      name: 'policy-by-id',
      ...sql`select document from policies where organisation_id = ${organisation_id} and id = ${id}`,
    })
    if (!rows[0]) throw notFound('policy')
    return rows[0].document
  }

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

    route(
      {
        ...operator,
        method: 'get',
        address: '/admin/v1/policies',
        summary: 'List an organisation’s policies, newest first',
        query: Filters,
        answers: { 200: z.object({ data: z.array(Policy), next_cursor: z.string().nullable() }) },
      },
      async ({ query: { status, customer_id, product_id, policy_number, ...asked } }) => {
        const { page, next_cursor } = await newestFirst<PolicyRecord>(pool, {
          ...asked,
          table: 'policies',
          time: 'created_at',
          filters: { status, customer_id, product_id, policy_number },
        })
        return { status: 200, body: { data: page.map(({ document }) => renderPolicy(document, baseUrl)), next_cursor } }
      },
    ),

    route(
      {
        ...operator,
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
        ...operator,
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
        ...operator,
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
