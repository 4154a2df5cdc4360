import { SentInstant, type OrganisationId } from '#domain/values.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { beginning, pageOf, pageParameters } from './page.ts'

/** The parameters of every list that `newestFirst` reads. */
export const listParameters = {
  since: SentInstant.optional().describe('From this moment on.'),
  until: SentInstant.optional().describe('Before this moment.'),
  ...pageParameters,
}

type List = {
  readonly table:
    | 'applications'
    | 'claims'
    | 'market_searches'
    | 'payment_news'
    | 'payments'
    | 'policies'
    | 'premiums'
    | 'quotes'
    | 'rate_tables'
    | 'releases'
    | 'set_up_changes'
  /** The column that the list is in the order of. */
  readonly time:
    'changed_at' | 'created_at' | 'opened_at' | 'published_at' | 'received_at' | 'requested_at' | 'updated_at'
  /** Columns that the document does not hold. */
  readonly besides?: readonly string[]
  readonly organisation_id: OrganisationId
  /** By column; what is undefined is not asked for. */
  readonly filters: Readonly<Record<string, string | undefined>>
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

type Row<Document, Besides> = Besides & { readonly id: string; readonly at: Date; readonly document: Document }

/**
 * A page of an organisation's documents, the newest first. A condition that is not asked for is left out, so that the right
 * index is used.
 */
export const newestFirst = async <Document, Besides = unknown>(
  db: Database,
  { table, time, besides = [], organisation_id, filters, since, until, limit, cursor }: List,
): Promise<{ readonly page: readonly Row<Document, Besides>[]; readonly next_cursor: string | null }> => {
  const { at, id } = beginning(cursor, until)
  const conditions = [
    ...Object.entries(filters).map(([column, value]) => [`${column} =`, value] as const),
    [`${time} >=`, since] as const,
  ].filter(([, value]) => value !== undefined)
  const asked = conditions.map(([condition], index) => `and ${condition} $${index + 5}`).join(' ')
  const { rows } = await db.query<Row<Document, Besides>>({
    text: `select ${['id', `${time} as at`, 'document', ...besides].join(', ')} from ${table}
      where organisation_id = $1 and (${time}, id) < ($2, $3) ${asked}
      order by ${time} desc, id desc limit $4`,
    values: [organisation_id, at, id, limit + 1, ...conditions.map(([, value]) => value)],
  })
  return pageOf(rows, limit, (row) => row)
}
