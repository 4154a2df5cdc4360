import type { Pool } from 'pg'
import { renderApplication, type Application, type ApplicationRecord } from '#domain/applications/record.ts'
import { quoteAt, type Quote } from '#domain/quotes/record.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { Message } from './plan.ts'
import type { ExcludedCover, QuoteComponent } from '#domain/rating/events.ts'

/** What the read models hold of the subject of a delivery. */
export type Snapshot = { readonly application?: ApplicationRecord; readonly quote?: Quote }

type Subject = { readonly organisation_id: string; readonly application_id: string; readonly quote_id: string | null }

type Read = { readonly id: string; readonly document: unknown }

/** The subjects as they are now, by the id of each. */
export const readSnapshots = async <Of extends Subject>(
  pool: Pool,
  subjects: readonly Of[],
): Promise<(subject: Of) => Snapshot> => {
  const quotes = subjects.filter(({ quote_id }) => quote_id !== null)
  const organisations = (of: readonly Subject[]) => of.map(({ organisation_id }) => organisation_id)
  const [applicationRows, quoteRows] = await Promise.all([
    pool.query<Read>(sql`
      select id, document from applications
      join unnest(${organisations(subjects)}::uuid[], ${subjects.map(({ application_id }) => application_id)}::uuid[])
        as wanted (organisation_id, id) using (organisation_id, id)`),
    quotes.length === 0
      ? { rows: [] }
      : pool.query<Read>(sql`
          select id, document from quotes
          join unnest(${organisations(quotes)}::uuid[], ${quotes.map(({ quote_id }) => quote_id)}::uuid[])
            as wanted (organisation_id, id) using (organisation_id, id)`),
  ])
  // What the projections of these capabilities have written.
  const applicationById = new Map(applicationRows.rows.map(({ id, document }) => [id, document as ApplicationRecord]))
  const quoteById = new Map(quoteRows.rows.map(({ id, document }) => [id, document as Quote]))

  return ({ application_id, quote_id }) => {
    const application = applicationById.get(application_id)
    const quote = quote_id === null ? undefined : quoteById.get(quote_id)
    return { ...(application && { application }), ...(quote && { quote }) }
  }
}

/**
 * What is sent is named field by field. Answers, and whatever gives one away (the label of a loading, the name of a rate
 * table, why a cover was declined), must not leave by a field that is added one day. Nor must the share token.
 */
const applicationFields: readonly (keyof Omit<Application, 'share_token'>)[] = [
  'id',
  'display_id',
  'status',
  'idempotency_key',
  'product_id',
  'journey_id',
  'customer',
  'joint_customer',
  'cover_amount_pence',
  'term_years',
  'policy_id',
  'abandoned_reason',
  'inline_bacs_mandate',
  'direct_debit_first',
  'stripe_test_mode',
  'marketing_answered',
  'created_at',
  'updated_at',
]

const quoteFields: readonly (keyof Quote)[] = [
  'id',
  'display_id',
  'application_id',
  'product_id',
  'journey_id',
  'product_release_id',
  'status',
  'decision',
  'currency_code',
  'premium_pence',
  'premium_frequency',
  'annual_premium_pence',
  'total_premium_pence',
  'policy_fee_pence',
  'cover_amount_pence',
  'term_years',
  'joint',
  'members',
  'start_date',
  'journey_loading',
  'created_at',
  'expires_at',
  'accepted_at',
  'bought_at',
  'rejected_at',
  'replaced_by',
  'policy_id',
]

const componentFields: readonly (keyof QuoteComponent)[] = [
  'cover_id',
  'cover_index',
  'cover_type',
  'title',
  'pricing_basis',
  'benefit_basis',
  'cover_amount_pence',
  'monthly_benefit_pence',
  'term_years',
  'expires_on',
  'premium_pence',
  'premium_basis',
  'review_period_years',
  'indexation_method',
  'ci_payout_basis',
  'members',
  'member_premium_pence',
  'minimum_premium_applied',
]

const excludedCoverFields: readonly (keyof ExcludedCover)[] = ['cover_id', 'cover_type', 'reason']

/** The body of a webhook, with the snapshot that goes with its kind; undefined when its subject is not there. */
export const bodyOf = (message: Message, { application, quote }: Snapshot, now: Date): string | undefined => {
  if (!application) return undefined
  const shown = {
    application: pick(renderApplication(application, null), applicationFields),
    customer: application.customer,
  }
  if (message.aggregate.type !== 'quote') return JSON.stringify({ ...message, ...shown })
  return quote && JSON.stringify({ ...message, quote: quoteShown(quoteAt(quote, now.toISOString())), ...shown })
}

const quoteShown = (quote: Quote) => ({
  ...pick(quote, quoteFields),
  components: quote.components.map((component) => pick(component, componentFields)),
  excluded_covers: quote.excluded_covers.map((cover) => pick(cover, excludedCoverFields)),
})

const pick = <Thing extends object>(thing: Thing, fields: readonly (keyof Thing)[]): Partial<Thing> =>
  Object.fromEntries(fields.map((field) => [field, thing[field]])) as Partial<Thing> // fields of the thing itself
