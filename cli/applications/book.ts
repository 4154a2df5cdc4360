import type { Pool } from 'pg'
import { reprice, type Repriced } from '#domain/applications/reprice.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { NewerEvent } from '#domain/event.ts'
import type { QuoteEvent } from '#domain/quotes/events.ts'
import type { RateTable } from '#domain/rating/events.ts'
import type { ApplicationId, OrganisationId, QuoteId } from '#domain/values.ts'
import { isAboutErased, UnreadableEvent } from '#infra/crypto/erased.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { makeBeforeQuote } from '../../command-api/applications/before-quote.ts'
import { digest } from '../../command-api/applications/digest.ts'

/** The quotes of a product that were issued from one instant on, and before another. */
export type Book = {
  readonly organisation_id: OrganisationId
  readonly product_id: string
  readonly from: string
  readonly until: string
}

export type Draft = { readonly release: Release; readonly rate_tables: ReadonlyMap<string, RateTable> }

type Shown = Pick<Extract<QuoteEvent, { type: 'QuoteIssued' }>, 'premium_pence' | 'decision'>

/** A quote beside what it would be with the draft. */
export type Compared = {
  readonly quote_id: QuoteId
  readonly application_id: ApplicationId
  readonly issued_at: string
  readonly before: Shown
  /** `erased`: what it was priced on can be read no more; `unreadable`: it cannot be read, although nobody of it was erased. */
  readonly after:
    Repriced | { readonly outcome: 'erased' } | { readonly outcome: 'unreadable'; readonly because: string }
}

type Row = {
  readonly id: QuoteId
  readonly application_id: ApplicationId
  readonly created_at: string
  /** As it is shown. */
  readonly before: Shown
}

const quotesAtOnce = 200
/** So many applications are read from the log at the same time. */
const readsAtOnce = 10

export const countQuotes = async (pool: Pool, { organisation_id, product_id, from, until }: Book): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>(sql`
    select count(*)::integer as count from quotes
    where organisation_id = ${organisation_id} and product_id = ${product_id} and created_at >= ${from} and created_at < ${until}`)
  return rows[0]?.count ?? 0
}

const pageOf = async (pool: Pool, { organisation_id, product_id, from, until }: Book, last: Row | undefined) => {
  const { rows } = await pool.query<Row>(sql`
    select id, application_id, created_at::text as created_at, json_build_object(
      'premium_pence', document -> 'premium_pence', 'decision', document -> 'decision') as before from quotes
    where organisation_id = ${organisation_id} and product_id = ${product_id} and created_at < ${until}
      and (created_at, id) > (${last?.created_at ?? from}::timestamptz, ${last?.id ?? lowestId}::uuid)
    order by created_at, id limit ${quotesAtOnce}`)
  return rows
}

/** Before every id that there is. */
const lowestId = '00000000-0000-0000-0000-000000000000'

type Parts = { readonly pool: Pool; readonly eventLog: Pick<EventLog, 'read'>; readonly signal: AbortSignal }

/** Each quote of a book beside its price with a draft, in pages, in the order in which they were issued. */
export async function* compareBook(
  book: Book,
  draft: Draft,
  { pool, eventLog, signal }: Parts,
): AsyncGenerator<readonly Compared[]> {
  const compare = makeCompare(draft, eventLog)
  let last: Row | undefined
  do {
    signal.throwIfAborted()
    const rows = await pageOf(pool, book, last)
    const compared: Compared[] = []
    for (let first = 0; first < rows.length; first += readsAtOnce)
      compared.push(...(await Promise.all(rows.slice(first, first + readsAtOnce).map(compare))))
    yield compared
    last = rows.length < quotesAtOnce ? undefined : rows.at(-1)
  } while (last)
}

const makeCompare = (draft: Draft, eventLog: Pick<EventLog, 'read'>) => {
  const beforeQuote = makeBeforeQuote(eventLog)

  return async ({ id: quote_id, application_id, created_at, before }: Row): Promise<Compared> => {
    const compared = { quote_id, application_id, issued_at: new Date(created_at).toISOString(), before }
    try {
      const found = await beforeQuote(application_id, quote_id)
      if (!found)
        return {
          ...compared,
          after: { outcome: 'unreadable', because: 'It is not among the events of its application.' },
        }
      const { state, issued, isErased } = found
      if (isErased) return { ...compared, after: { outcome: 'erased' } }
      return { ...compared, after: reprice({ ...draft, digest }, state, issued) }
    } catch (error) {
      if (isAboutErased(error)) return { ...compared, after: { outcome: 'erased' } }
      if (!isUnreadable(error)) throw error
      return { ...compared, after: { outcome: 'unreadable', because: error.message } }
    }
  }
}

/** It would be the same at another time, and of no other quote. */
const isUnreadable = (error: unknown): error is Error => error instanceof UnreadableEvent || error instanceof NewerEvent
