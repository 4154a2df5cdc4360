import { createHash } from 'node:crypto'
import type { ApplicationRecord } from '#domain/applications/record.ts'
import type { Release } from '#domain/catalogue/events.ts'
import type { Sale } from '#domain/checkout/record.ts'
import type { Quote } from '#domain/quotes/record.ts'
import type { OrganisationId, QuoteId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

type Row = { readonly quote: Quote; readonly application: ApplicationRecord; readonly release: Release | null }

/** The sale of a quote, with the steps that the customer has confirmed. */
export const findSale = async (db: Database, organisation_id: OrganisationId, id: QuoteId): Promise<Sale> => {
  const { rows } = await db.query<Row>({
    name: 'sale-of-quote',
    ...sql`
      select quotes.document as quote, applications.document as application, releases.document as release
      from quotes
      join applications
        on applications.organisation_id = quotes.organisation_id and applications.id = quotes.application_id
      left join releases
        on releases.organisation_id = applications.organisation_id and releases.id = applications.release_id
      where quotes.organisation_id = ${organisation_id} and quotes.id = ${id}`,
  })
  const row = rows[0]
  if (!row) throw notFound('quote')
  const { quote, application, release } = row
  if (!release) throw new Problem('unavailable', 'The product of this quote is not read yet. Try again.')
  return { release, quote, confirmed: application.confirmed }
}
