import { z } from 'zod'
import { KeyDocument } from '#domain/checkout/events.ts'
import { OrganisationId, ProductId, ReleaseId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { FileBody, impersonalRoute, route, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { newestFirst } from '../newest-first.ts'
import { pageParameters } from '../page.ts'

const Version = z
  .object({
    document_id: z.uuid(),
    version_id: z.uuid(),
    product_id: ProductId,
    release_id: ReleaseId.describe('The latest release that gives it.'),
    kind: z.string(),
    name: z.string(),
    given: KeyDocument.shape.given,
    url: z.string().nullable().describe('null: a file that this service serves.'),
    file: KeyDocument.shape.file,
    published_at: z.iso.datetime(),
  })
  .meta({ id: 'KeyDocumentVersion' })

const besides = ['product_id', 'release_id'] as const
type Besides = { readonly product_id: ProductId; readonly release_id: ReleaseId }

const list = { table: 'key_documents', time: 'published_at', key: 'version_id', besides } as const

type Deps = { readonly pool: Database; readonly db: Database }

/** The documents about a product for customers, version by version. */
export const keyDocumentRoutes = ({ pool, db }: Deps): Route[] => [
  route(
    {
      method: 'get',
      address: '/api/v1/key_documents/:version_id',
      tag: 'Products',
      summary: 'Read a version of a document about a product, where it is a file of ours; it never changes',
      access: { kind: 'public' },
      path: z.object({ version_id: z.uuid() }),
      answers: { 200: FileBody },
      fileTypes: ['application/pdf', 'text/plain', 'text/markdown'],
    },
    async ({ path: { version_id } }) => {
      const { rows } = await db.query<{ media_type: string; content: Buffer }>({
        name: 'key-document-file',
        ...sql`
          select document_file.media_type, document_file.content
          from key_documents join document_file
            on document_file.organisation_id = key_documents.organisation_id
            and document_file.sha256 = key_documents.document -> 'file' ->> 'sha256'
          where key_documents.version_id = ${version_id}`,
      })
      const file = rows[0]
      if (!file) throw notFound('document')
      const headers = { 'Content-Type': file.media_type, 'Cache-Control': 'public, max-age=31536000, immutable' }
      return { status: 200, body: file.content, headers }
    },
  ),

  route(
    {
      ...impersonalRoute('owner', 'underwriting', 'policies'),
      method: 'get',
      address: '/admin/v1/key_documents',
      summary: 'List the versions of the documents about an organisation’s products, newest first',
      query: z.object({ organisation_id: OrganisationId, ...pageParameters }),
      answers: { 200: z.object({ data: z.array(Version), next_cursor: z.string().nullable() }) },
    },
    async ({ query }) => {
      const { page, next_cursor } = await newestFirst<KeyDocument, Besides>(pool, list, query)
      const data = page.map(({ document, at, product_id, release_id }) => ({
        ...document,
        product_id,
        release_id,
        published_at: at.toISOString(),
      }))
      return { status: 200, body: { data, next_cursor } }
    },
  ),
]
