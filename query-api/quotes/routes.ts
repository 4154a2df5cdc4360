import { z } from 'zod'
import { Quote, quoteAt } from '#domain/quotes/record.ts'
import { ApplicationId, QuoteId } from '#domain/values.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { notFound } from '#infra/http/problem.ts'
import { readOrWrite, route, type Caller, type Route } from '#infra/http/route.ts'
import { isShareTokenOf } from '#infra/crypto/share-token.ts'

const headers = { 'X-Share-Token': 'The application’s share token; browser applications must send it.' }
const access = { kind: 'application', scopes: readOrWrite, serverOnly: false } as const

type Deps = { readonly db: Database; readonly keys: Keys }

export const quoteRoutes = ({ db, keys }: Deps): Route[] => {
  /** A browser application sees an application only with its share token. */
  const maySee = ({ kind }: Caller, id: ApplicationId, shareToken: string | undefined) =>
    kind === 'server' || isShareTokenOf(keys, id, shareToken)

  return [
    route(
      {
        method: 'get',
        address: '/api/v1/quotes/:id',
        tag: 'Quotes',
        summary: 'Read a quote',
        access,
        headers,
        path: z.object({ id: QuoteId }),
        answers: { 200: z.object({ data: Quote }) },
      },
      async ({ path, caller, header, now }) => {
        const { rows } = await db.query<{ document: Quote }>({
          name: 'quote-by-id',
          ...sql`select document from quotes where organisation_id = ${caller.organisation_id} and id = ${path.id}`,
        })
        const quote = rows[0]?.document
        if (!quote || !maySee(caller, quote.application_id, header('x-share-token'))) throw notFound('quote')
        return { status: 200, body: { data: quoteAt(quote, now) } }
      },
    ),
    route(
      {
        method: 'get',
        address: '/api/v1/applications/:id/quotes',
        tag: 'Quotes',
        summary: 'List the quotes of an application, newest first',
        access,
        headers,
        path: z.object({ id: ApplicationId }),
        answers: { 200: z.object({ data: z.array(Quote) }) },
      },
      async ({ path, caller, header, now }) => {
        if (!maySee(caller, path.id, header('x-share-token'))) throw notFound('application')
        const { rows } = await db.query<{ document: Quote | null }>({
          name: 'quotes-of-application',
          ...sql`
            select quotes.document
            from applications left join quotes
              on quotes.organisation_id = applications.organisation_id and quotes.application_id = applications.id
            where applications.organisation_id = ${caller.organisation_id} and applications.id = ${path.id}
            order by quotes.created_at desc, quotes.id desc`,
        })
        if (rows.length === 0) throw notFound('application')
        const issued = rows.map(({ document }) => document).filter((document) => document !== null)
        return { status: 200, body: { data: issued.map((quote) => quoteAt(quote, now)) } }
      },
    ),
  ]
}
