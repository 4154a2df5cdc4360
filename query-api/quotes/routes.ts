import { z } from 'zod'
import { beforeYouBuy, BeforeYouBuy } from '#domain/checkout/record.ts'
import { Quote } from '#domain/quotes/record.ts'
import { ApplicationId, QuoteId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { accessTo, readOrWrite, route, type Route } from '#infra/http/route.ts'
import type { FindOwner } from '#infra/http/subject.ts'
import { requireDocument } from '../find-document.ts'
import { findSale, sha256 } from './sale.ts'

/** A quote belongs to its application. */
export const ownerOfQuote =
  (db: Database): FindOwner =>
  async (organisation_id, id) => {
    const { rows } = await db.query<{ application_id: ApplicationId }>({
      name: 'owner-of-quote',
      ...sql`select application_id from quotes where organisation_id = ${organisation_id} and id = ${id}`,
    })
    return rows[0]
  }

/** An application that is quoted again and again must not hold up the requests of others. */
const mostQuotes = 50

type Deps = {
  readonly db: Database
  /** The address of our own documents. */
  readonly baseUrl: string
}

export const quoteRoutes = ({ db, baseUrl }: Deps): Route[] => {
  return [
    route(
      {
        method: 'get',
        address: '/api/v1/quotes/:id',
        tag: 'Quotes',
        summary: 'Read a quote',
        access: accessTo('quote', readOrWrite),
        path: z.object({ id: QuoteId }),
        answers: { 200: z.object({ data: Quote }) },
      },
      async ({ path, caller }) => ({
        status: 200,
        body: { data: await requireDocument<Quote>(db, 'quotes', caller.organisation_id, path.id) },
      }),
    ),
    route(
      {
        method: 'get',
        address: '/api/v1/quotes/:id/before_you_buy',
        tag: 'Checkout',
        summary: 'Read what the customer must see before buying: only what is still owed',
        access: accessTo('quote', readOrWrite),
        path: z.object({ id: QuoteId }),
        answers: { 200: z.object({ data: BeforeYouBuy }) },
      },
      async ({ path, caller }) => {
        const sale = await findSale(db, caller.organisation_id, path.id)
        const shown = beforeYouBuy(sale, sha256, baseUrl)
        return { status: 200, body: { data: shown } }
      },
    ),
    route(
      {
        method: 'get',
        address: '/api/v1/applications/:id/quotes',
        tag: 'Quotes',
        summary: `List the newest ${mostQuotes} quotes of an application, newest first`,
        access: accessTo('application', readOrWrite),
        path: z.object({ id: ApplicationId }),
        answers: { 200: z.object({ data: z.array(Quote) }) },
      },
      async ({ path, caller }) => {
        const { rows } = await db.query<{ document: Quote | null }>({
          name: 'quotes-of-application',
          ...sql`
            select newest.document
            from applications left join lateral (
              select document, revision from quotes
              where quotes.organisation_id = applications.organisation_id and quotes.application_id = applications.id
              order by revision desc limit ${mostQuotes}) as newest on true
            where applications.organisation_id = ${caller.organisation_id} and applications.id = ${path.id}
            order by newest.revision desc`,
        })
        if (rows.length === 0) throw notFound('application')
        const issued = rows.map(({ document }) => document).filter((document) => document !== null)
        return { status: 200, body: { data: issued } }
      },
    ),
  ]
}
