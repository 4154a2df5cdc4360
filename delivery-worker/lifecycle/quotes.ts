import type { Quote } from '#domain/quotes/record.ts'
import type { ExcludedCover, QuoteComponent } from '#domain/rating/events.ts'
import { lifecycle } from '#domain/workflows/events.ts'
import { subjectKind } from '../capability.ts'
import { peopleShown, pick, readDocuments } from '../sending/snapshot.ts'
import { applicationSnapshot, readApplications } from './applications.ts'

const { events: sent, names } = lifecycle.quote

type Facts = {
  readonly product_id: string
  readonly premium_pence: number
  readonly expires_at: string
  readonly replaced_by: string | null
}

export const quotes = subjectKind<typeof sent, Facts>({
  type: 'quote',
  categories: ['application'],
  events: sent,
  readModels: ['applications', 'quotes'],
  idOf: ({ quote_id }) => quote_id,
  remember: (facts, event) => {
    if (event.type === 'QuoteIssued') {
      const { product_id, premium_pence, expires_at } = event
      return { product_id, premium_pence, expires_at, replaced_by: null }
    }
    return facts && event.type === 'QuoteReplaced' ? { ...facts, replaced_by: event.replaced_by } : facts
  },
  people: peopleShown,
  happening: ({ type, quote_id }, { premium_pence, expires_at, replaced_by }) => ({
    type: names[type],
    payload: { quote_id, premium_pence, expires_at, replaced_by },
  }),
  readSnapshots: async (pool, subjects) => {
    const quoteOf = await readDocuments<Quote>(pool, 'quotes', subjects)
    const itsApplications = subjects.flatMap(({ organisation_id, id }) => {
      const application_id = quoteOf(id)?.application_id
      return application_id === undefined ? [] : [{ organisation_id, id: application_id }]
    })
    const applicationOf = await readApplications(pool, itsApplications)
    return (id) => {
      const quote = quoteOf(id)
      const application = quote && applicationOf(quote.application_id)
      if (!application) return undefined
      return { quote: shown(quote), ...applicationSnapshot(application) }
    }
  },
})

const shown = (quote: Quote) => ({
  ...pick(quote, fields),
  components: quote.components.map((component) => pick(component, componentFields)),
  excluded_covers: quote.excluded_covers.map((cover) => pick(cover, excludedCoverFields)),
})

/** Fields that give an answer away are not named: the label of a loading, the name of a rate table, why a cover was declined. */
const fields: readonly (keyof Quote)[] = [
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

/** The fields sent of a part of the cover, by a quote and by the policy that it becomes. */
export const componentFields: readonly (keyof QuoteComponent)[] = [
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
