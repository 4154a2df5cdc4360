import { z } from 'zod'
import { Ingest, renderIngest, type IngestRecord } from '#domain/ingests/record.ts'
import { IngestId, type ApiApplicationId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { FindOwner } from '#infra/http/subject.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { requireDocument } from '../find-document.ts'
import type { FindReceived } from './find-received.ts'

/** An ingest belongs to the API application that sent it. */
export const ownerOfIngest =
  (db: Database, findReceived: FindReceived): FindOwner =>
  async (organisation_id, id) => {
    const ingest = IngestId.safeParse(id)
    if (!ingest.success) return undefined
    return findReceived(organisation_id, ingest.data, async () => {
      const { rows } = await db.query<{ api_application_id: ApiApplicationId }>({
        name: 'owner-of-ingest',
        ...sql`select api_application_id from ingests where organisation_id = ${organisation_id} and id = ${id}`,
      })
      return rows[0]
    })
  }

type Deps = { readonly db: Database }

export const ingestRoutes = ({ db }: Deps): Route[] => [
  route(
    {
      method: 'get',
      address: '/api/v1/crm/ingests/:id',
      tag: 'Leads',
      summary: 'Read what became of a lead that this application sent',
      access: {
        kind: 'application',
        scopes: [
          ['read', 'crm'],
          ['write', 'crm'],
        ],
        serverOnly: true,
        subject: { type: 'ingest', parameter: 'id', visibleTo: 'sender' },
      },
      path: z.object({ id: IngestId }),
      answers: { 200: z.object({ data: Ingest }) },
    },
    async ({ path: { id }, caller: { organisation_id } }) => {
      const ingest = await requireDocument<IngestRecord>(db, 'ingests', organisation_id, id)
      return { status: 200, body: { data: renderIngest(ingest) } }
    },
  ),
]
