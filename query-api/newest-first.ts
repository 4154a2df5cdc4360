import { z } from 'zod'
import { OrganisationId, SentInstant } from '#domain/values.ts'
import { route, type TeamRoute, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { beginning, pageOf, pageParameters } from './page.ts'

/** The parameters of every list that `newestFirst` reads. */
export const listParameters = {
  since: SentInstant.optional().describe('From this moment on.'),
  until: SentInstant.optional().describe('Before this moment.'),
  ...pageParameters,
}

/** Where the documents of a list are. */
type Listed = {
  readonly table:
    | 'applications'
    | 'claims'
    | 'complaints'
    | 'customers'
    | 'key_documents'
    | 'lead_records'
    | 'legal_holds'
    | 'market_searches'
    | 'memberships'
    | 'message_news'
    | 'outreach_costs'
    | 'outreach_members'
    | 'outreach_messages'
    | 'outreach_streams'
    | 'payment_news'
    | 'payments'
    | 'policies'
    | 'premiums'
    | 'proposals'
    | 'quotes'
    | 'rate_tables'
    | 'record_erasures'
    | 'releases'
    | 'set_up_changes'
  /** The column that the list is in the order of. */
  readonly time: `${string}_at`
  /** The column that tells those of one time apart, by default `id`. */
  readonly key?: 'contact_id' | 'id' | 'version_id'
  /** Columns that the document does not hold. */
  readonly besides?: readonly string[]
}

type Asked = {
  readonly organisation_id: OrganisationId
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

type Filters = Readonly<Record<string, unknown>>

export type ListedRow<Document, Besides = unknown> = Besides & {
  readonly id: string
  readonly at: Date
  readonly document: Document
}

/**
 * A page of an organisation's documents, the newest first. Filters are by column: a condition that is not asked for is left
 * out, so that the right index is used.
 */
export const newestFirst = async <Document, Besides = unknown>(
  db: Database,
  { table, time, key = 'id', besides = [] }: Listed,
  { organisation_id, since, until, limit, cursor }: Asked,
  filters: Filters = {},
): Promise<{ readonly page: readonly ListedRow<Document, Besides>[]; readonly next_cursor: string | null }> => {
  const { at, id } = beginning(cursor, until)
  const conditions = [
    ...Object.entries(filters).map(([column, value]) => [`${column} =`, value] as const),
    [`${time} >=`, since] as const,
  ].filter(([, value]) => value !== undefined)
  const asked = conditions.map(([condition], index) => `and ${condition} $${index + 5}`).join(' ')
  const { rows } = await db.query<ListedRow<Document, Besides>>({
    text: `select ${[`${key} as id`, `${time} as at`, 'document', ...besides].join(', ')} from ${table}
      where organisation_id = $1 and (${time}, ${key}) < ($2, $3) ${asked}
      order by ${time} desc, ${key} desc limit $4`,
    values: [organisation_id, at, id, limit + 1, ...conditions.map(([, value]) => value)],
  })
  return pageOf(rows, limit, (row) => row)
}

type ListSpec<Item extends z.ZodType, Document, Besides> = Listed & {
  /** Those who may read it. */
  readonly team: TeamRoute
  readonly address: string
  readonly summary: string
  /** Each is a column and, where it is asked for, a parameter. */
  readonly filters?: Readonly<Record<string, z.ZodType<string | undefined>>>
  readonly limit?: typeof pageParameters.limit
  readonly item: Item
  /** The item that is shown for a row; by default the document. */
  readonly show?: (row: ListedRow<Document, Besides>) => z.input<Item>
}

/** Where nothing else is said of a list, its documents are what is shown. */
const documentOf = <Item extends z.ZodType>({ document }: { readonly document: unknown }) => document as z.input<Item>

const optional = (value: z.ZodType<string | undefined>) => (value instanceof z.ZodOptional ? value : value.optional())

/** A list of an organisation's documents for the team, the newest first. */
export const newestFirstRoute = <Item extends z.ZodType, Document = z.input<Item>, Besides = unknown>(
  pool: Database,
  {
    team,
    address,
    summary,
    filters = {},
    limit = pageParameters.limit,
    item,
    show = documentOf<Item>,
    ...listed
  }: ListSpec<Item, Document, Besides>,
): Route => {
  const inPath = address.includes('/:organisation_id/')
  const organisation = { organisation_id: OrganisationId }
  const filtering = Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, optional(value)]))
  return route(
    {
      ...team,
      method: 'get',
      address,
      summary,
      ...(inPath && { path: z.object(organisation) }),
      query: z.object(
        inPath
          ? { ...listParameters, limit, ...filtering }
          : { ...organisation, ...filtering, ...listParameters, limit },
      ),
      answers: { 200: z.object({ data: z.array(item), next_cursor: z.string().nullable() }) },
    },
    async ({ path, query }) => {
      const values: Filters = { ...query, ...path }
      const wanted = Object.fromEntries(Object.keys(filters).map((column) => [column, values[column]]))
      // As the schemas above have made it.
      const { page, next_cursor } = await newestFirst<Document, Besides>(pool, listed, values as Asked, wanted)
      return { status: 200, body: { data: page.map(show), next_cursor } }
    },
  )
}
