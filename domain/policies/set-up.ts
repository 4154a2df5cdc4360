import type { ApplicationRecord } from '../applications/record.ts'
import type { Release } from '../catalogue/events.ts'
import { cardPaymentOf, usableMandate, type CardPayment, type Payments } from '../payments/record.ts'
import type { QuoteBought } from '../quotes/events.ts'
import type { Quote } from '../quotes/record.ts'
import { detailsOf } from '../customers/record.ts'
import { noticeDays } from '../premiums/collection.ts'
import { daysAfter, firstOnDay, laterOf, monthsAfter, yearsAfter } from '../dates.ts'
import type { PremiumEvent, PremiumId } from '../premiums/events.ts'
import { startOfDayIn } from '../time-zone.ts'
import { workingDayFrom, type BankCalendar } from '../working-days.ts'
import type { CollectionRules } from '../policy-rules/events.ts'
import type { GivenAfterBind } from './events.ts'
import type { PolicyStreamEvent } from './record.ts'

/** A sale as the application's stream tells it, at the moment when it was decided. */
export type Sale = {
  readonly record: ApplicationRecord
  readonly quote: Quote
  readonly bought: QuoteBought
  readonly payments: Payments
}

export type SetUpPolicy = {
  readonly type: 'SetUpPolicy'
  readonly sale: Sale
  readonly release: Release
  readonly time_zone: string
  readonly collection_rules: CollectionRules
  readonly calendar: BankCalendar
  /** The id of a premium follows from the policy and its number. */
  readonly idOf: (number: number) => PremiumId
}

export const setUpPolicy = ({
  sale,
  release,
  time_zone,
  collection_rules,
  calendar,
  idOf,
}: SetUpPolicy): readonly PolicyStreamEvent[] => {
  const { record, quote, bought, payments } = sale
  const { customer, joint_customer } = record
  if (!customer) throw new Error(`Application ${record.id} was bound without a customer.`)
  const { start_date, collection_day, bought_on } = bought
  const components = quote.components.map((component) => ({
    ...component,
    expires_on: bought.expires_on.find(({ cover_index }) => cover_index === component.cover_index)?.expires_on ?? null,
  }))
  const card = cardPaymentOf(payments, quote.id)
  const { bank_details } = payments
  const mandate = usableMandate(payments)
  // A card pays for the first month: Direct Debit begins with the second.
  const due = record.direct_debit_first ? start_date : monthsAfter(start_date, 1)
  const collected_from = firstOnDay(laterOf(due, daysAfter(bought_on, noticeDays)), collection_day)
  const first_collection_on = workingDayFrom(calendar, collected_from)

  return [
    {
      type: 'PolicyBound',
      policy_id: bought.policy_id,
      policy_number: bought.policy_number,
      organisation_id: record.organisation_id,
      application_id: record.id,
      api_application_id: record.api_application_id,
      quote_id: quote.id,
      product_id: quote.product_id,
      product_release_id: quote.product_release_id,
      customer_id: customer.id,
      customer: detailsOf(customer),
      currency_code: quote.currency_code,
      premium_pence: quote.premium_pence,
      annual_premium_pence: quote.annual_premium_pence,
      cover_amount_pence: quote.cover_amount_pence,
      term_years: quote.term_years,
      components,
      start_date,
      end_date: lastOf(components.map(({ expires_on }) => expires_on)),
      cooling_off_ends_on: release.cooldown_days > 0 ? daysAfter(start_date, release.cooldown_days) : null,
      collection_day,
      first_collection_on,
      ...(first_collection_on !== collected_from && { collected_from }),
      mandate_id: mandate?.mandate_id ?? null,
      mandate_status: mandate?.status ?? 'pending',
      account_number_last4: mandate?.account_number_last4 ?? bank_details?.account_number_last4 ?? null,
      first_premium: card
        ? { method: 'card', status: card.status === 'authorised' ? 'authorised' : 'succeeded', paid_at: card.paid_at }
        : { method: 'direct_debit', status: 'pending', paid_at: null },
      card_payment_id: card?.payment_id ?? null,
      next_review_on: firstReview(components, start_date),
      next_indexation_on: components.some(({ indexation_method }) => isIndexed(indexation_method))
        ? yearsAfter(start_date, 1)
        : null,
      given_after_bind: [...givenAfterBind(release)],
      test: bought.test,
      time_zone,
      collection_rules,
      provider_mandate: mandate && {
        provider_customer_id: mandate.provider_customer_id,
        provider_payment_method_id: mandate.provider_payment_method_id,
        provider_mandate_id: mandate.provider_mandate_id,
      },
    },
    ...(joint_customer
      ? [
          {
            type: 'PolicyPartnerRecorded',
            customer_id: joint_customer.id,
            partner: detailsOf(joint_customer),
          } as const,
        ]
      : []),
    ...(card
      ? paidByCard({ card, idOf, due_on: bought_on, covers_from: start_date, first_collection_on, time_zone })
      : []),
  ]
}

type ByCard = Pick<SetUpPolicy, 'idOf' | 'time_zone'> & {
  readonly card: CardPayment
  readonly due_on: string
  readonly covers_from: string
  readonly first_collection_on: string
}

/** The first premium was paid before the sale; one that is only authorised is collected when the card is charged. */
const paidByCard = (given: ByCard): readonly PremiumEvent[] => {
  const { card, idOf, due_on, covers_from, first_collection_on, time_zone } = given
  const premium = { premium_id: idOf(1), number: 1, amount_pence: card.amount_pence, due_on }
  const due: PremiumEvent = {
    type: 'PremiumDue',
    ...premium,
    covers_from,
    method: 'card',
    next_due_on: first_collection_on,
    next_due_at: startOfDayIn(time_zone, first_collection_on),
  }
  if (card.status !== 'succeeded' || card.paid_at === null) return [due]
  const { payment_intent_id, paid_at: collected_at } = card
  return [due, { type: 'PremiumCollected', ...premium, attempt: 1, method: 'card', payment_intent_id, collected_at }]
}

/** Null when one has no end. */
const lastOf = (dates: readonly (string | null)[]): string | null =>
  dates.reduce<string | null>(
    (last, date) => (last === null || date === null ? null : laterOf(last, date)),
    dates[0] ?? null,
  )

const isIndexed = (method: Quote['components'][number]['indexation_method']): boolean =>
  method === 'rpi' || method === 'fixed_percent'

const firstReview = (components: Quote['components'], start_date: string): string | null => {
  const periods = components.flatMap(({ premium_basis, review_period_years }) =>
    premium_basis === 'reviewable' && review_period_years !== null ? [review_period_years] : [],
  )
  return periods.length === 0 ? null : yearsAfter(start_date, Math.min(...periods))
}

const givenAfterBind = ({ checkout, cooldown_days }: Release): readonly GivenAfterBind[] => {
  const documents = checkout.key_documents
    .filter(({ given }) => given === 'after_bind')
    .map(({ document_id, version_id }) => ({ document_id, version_id }))
  const given: GivenAfterBind[] = []
  if (documents.length > 0) given.push({ step: 'key_documents_after_bind', documents, cancellation_days: null })
  if (checkout.cancellation?.given === 'after_bind')
    given.push({ step: 'cancellation_rights_after_bind', documents: [], cancellation_days: cooldown_days })
  return given
}
