import { application } from '#domain/applications/application.ts'
import type { BindQuote } from '#domain/applications/bind.ts'
import type { ApplicationStreamEvent } from '#domain/applications/record.ts'
import { MandateId } from '#domain/payments/events.ts'
import { defaultCollectionRules } from '#domain/policy-rules/events.ts'
import { setUpPolicy, type SetUpPolicy } from '#domain/policies/set-up.ts'
import { PremiumId } from '#domain/premiums/events.ts'
import { ApiApplicationId, PolicyId } from '#domain/values.ts'
import { answered, covered, customerSaved, started } from '../applications/builders.ts'
import { bindableAt, checkoutRelease, confirm, sha256 } from '../checkout/builders.ts'
import { after, firstId, journeyWith, now, quote } from '../quotes/builders.ts'
import { tables } from '../rating/request.ts'
import { stateOf } from '../scenario.ts'
import { anna, bankDetailsSaved } from './builders.ts'
import { cardPaid } from '../premiums/paid-by-card.ts'
import { everyDay } from './calendars.ts'

const release = checkoutRelease()
export const collection_days = release.checkout.collection_days

type Changes = {
  /** What of the command is otherwise than a sale says. */
  readonly otherwise?: (command: SetUpPolicy) => SetUpPolicy
  readonly collection_day?: number | null
  readonly paid?: readonly ApplicationStreamEvent[]
  readonly direct_debit_first?: boolean
  readonly indexation_method?: 'none' | 'rpi' | 'fixed_percent' | 'decreasing'
  readonly review_period_years?: number | null
}

/** The policy that follows from a sale on 1 June 2026, whose cover starts on the 2nd. */
export const setUp = (changes: Changes = {}) => {
  const { collection_day = null, paid = [], direct_debit_first = true, otherwise = (command) => command } = changes
  const given = after(
    after(
      [
        started({ inline_bacs_mandate: false, direct_debit_first }),
        customerSaved(anna),
        answered({ smoker: false }),
        covered({ cover_amount_pence: 25_000_000, term_years: 25 }),
      ],
      quote({ release, digest: sha256 }),
    ),
    confirm(),
  )
  const command: BindQuote = {
    type: 'BindQuote',
    quote_id: firstId,
    release,
    journey: journeyWith('smoker'),
    rate_tables: tables,
    ...bindableAt(),
    today: '2026-06-01',
    asked: { start_date: null, collection_day },
    caller: ApiApplicationId.parse('d0000000-0000-4000-8000-000000000001'),
    idempotency_key: null,
    policy_id: PolicyId.parse('b0000000-0000-4000-8000-000000000001'),
    policy_number: 'POL-123456782',
    is_sandbox: false,
  }
  const state = stateOf(application, after([...given, bankDetailsSaved(firstId), ...paid], command), now)
  const sold = state?.quotes.at(-1)
  if (!state?.sale || !sold || !('components' in sold.quote)) throw new Error('The quote was not bought.')
  const { indexation_method = 'none', review_period_years = null } = changes
  const components = sold.quote.components.map((component) => ({
    ...component,
    indexation_method,
    review_period_years,
    premium_basis: review_period_years === null ? ('guaranteed' as const) : ('reviewable' as const),
  }))
  const told: SetUpPolicy = {
    type: 'SetUpPolicy',
    calendar: everyDay,
    sale: { record: state.record, quote: { ...sold.quote, components }, bought: state.sale, payments: state.payments },
    release,
    time_zone: 'Europe/London',
    collection_rules: defaultCollectionRules,
    idOf: (number) => PremiumId.parse(`b1000000-0000-5000-8000-00000000000${number}`),
  }
  const events = setUpPolicy(otherwise(told))
  const [bound, ...others] = events
  if (bound?.type !== 'PolicyBound') throw new Error('The policy was not bound.')
  return { bound, others }
}

export const byCard = cardPaid({ quote_id: firstId, amount_pence: 1250, paid_at: now })
export const mandate_id = MandateId.parse('f1000000-0000-4000-8000-000000000001')
export const mandated: ApplicationStreamEvent = {
  type: 'MandateCreated',
  quote_id: firstId,
  mandate_id,
  session_id: 'cs_1',
  provider_mandate_id: 'mandate_1',
  provider_customer_id: 'cus_1',
  provider_payment_method_id: 'pm_1',
  account_number_last4: '2345',
  product_id: null,
}
