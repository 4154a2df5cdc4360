import { applicationStreamEvents, evolveRecord, type ApplicationRecord } from '#domain/applications/record.ts'
import { fromStored, type RecordedEvent } from '#domain/event.ts'
import { paymentEvents, type PaymentEvent } from '#domain/payments/events.ts'
import { evolvePayments, noPayments, type Payments } from '#domain/payments/record.ts'
import type { PolicyRecord } from '#domain/policies/record.ts'
import type { PolicyRules } from '#domain/policy-rules/events.ts'
import { policy } from '#domain/policies/policy.ts'
import type { Sale } from '#domain/policies/set-up.ts'
import { quoteEvents, type QuoteBought, type QuoteEvent } from '#domain/quotes/events.ts'
import { evolveQuote, type Quote } from '#domain/quotes/record.ts'
import type { ApplicationId, OrganisationId, QuoteId } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import { premiumIds } from './ids.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'

type Deps = {
  readonly writer: Writer
  readonly catalogue: Pick<Catalogue, 'release'>
  readonly organisations: ReadonlyMap<string, { readonly time_zone: string }>
  readonly rulesOf: (organisation_id: OrganisationId) => PolicyRules
  readonly calendar: BankCalendar
}

/** Sets up the policy that a quote was bought for; undefined while it was not bought. Whoever comes second changes nothing. */
export type SetUp = (
  application_id: ApplicationId,
  quote_id: QuoteId,
  context: Context,
) => Promise<PolicyRecord | undefined>

export const makeSetUp = ({ writer, catalogue, organisations, rulesOf, calendar }: Deps): SetUp => {
  const { handle } = commandHandler(writer, policy)

  return async (application_id, quote_id, context) => {
    const found = await readSale(writer, application_id, quote_id)
    if (!found) return undefined
    const { sale, occurred_at } = found
    const { organisation_id, product_id, release_id } = sale.record
    const release = await catalogue.release(organisation_id, product_id, release_id)
    if (!release) throw new Error(`Release ${release_id} of product ${product_id} does not exist.`)
    const time_zone = organisations.get(organisation_id)?.time_zone
    if (time_zone === undefined) throw new Error(`Organisation ${organisation_id} is not known here.`)
    const { collection_rules } = rulesOf(organisation_id)
    const idOf = premiumIds(sale.bought.policy_id)
    const command = { type: 'SetUpPolicy', sale, release, time_zone, collection_rules, calendar, idOf } as const
    return (await handle(sale.bought.policy_id, command, { ...context, now: occurred_at })).state
  }
}

const pageSize = 500

type SaleSoFar = {
  readonly record: ApplicationRecord | undefined
  readonly quote: Quote | undefined
  readonly payments: Payments
}

/** The sale of a quote as its application's stream tells it, at the moment of the sale. */
const readSale = async (
  { log }: Pick<Writer, 'log'>,
  application_id: ApplicationId,
  quote_id: QuoteId,
): Promise<{ readonly sale: Sale; readonly occurred_at: string } | undefined> => {
  let sale: SaleSoFar = { record: undefined, quote: undefined, payments: noPayments }
  for (let from = 0; ; from += pageSize) {
    const page = await log.read(`application-${application_id}`, { from, limit: pageSize })
    for (const recorded of page) {
      const bought = boughtBy(recorded, quote_id)
      sale = saleAfter(sale, recorded, quote_id)
      const { record, quote, payments } = sale
      if (bought && record && quote)
        return { sale: { record, quote, bought, payments }, occurred_at: recorded.metadata.occurred_at }
    }
    if (page.length < pageSize) return undefined
  }
}

const boughtBy = (recorded: RecordedEvent, quote_id: QuoteId): QuoteBought | undefined => {
  if (recorded.type !== 'QuoteBought') return undefined
  const event = fromStored({ QuoteBought: quoteEvents.QuoteBought }, recorded)
  return event.quote_id === quote_id ? event : undefined
}

const saleAfter = ({ record, quote, payments }: SaleSoFar, recorded: RecordedEvent, quote_id: QuoteId): SaleSoFar => {
  const event = fromStored(applicationStreamEvents, recorded)
  const { metadata } = recorded
  const isOfQuote = event.type in quoteEvents && 'quote_id' in event && event.quote_id === quote_id
  return {
    record: evolveRecord(record, event, metadata),
    // By their types these are events of the quote, and of what is paid.
    quote: isOfQuote ? evolveQuote(quote, event as QuoteEvent, metadata) : quote,
    payments: event.type in paymentEvents ? evolvePayments(payments, event as PaymentEvent, metadata) : payments,
  }
}
