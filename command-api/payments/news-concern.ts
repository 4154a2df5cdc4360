import { z } from 'zod'
import { application } from '#domain/applications/application.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import type { ReceivePaymentNews } from '#domain/payment-news/payment-news.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import type { Premium } from '#domain/premiums/record.ts'
import { ApplicationId, QuoteId, type OrganisationId } from '#domain/values.ts'
import type { BankCalendar } from '#domain/working-days.ts'
import type { ProviderNews } from '#infra/stripe/news.ts'
import { commandHandler, type Writer } from '../handle.ts'
import type { Merchants } from './merchants.ts'
import type { SetUp } from '../policies/set-up.ts'

/** What is recorded of a piece of news: what it is about, as far as that is ours. */
export type Receipt = Omit<ReceivePaymentNews, 'type' | 'organisation_id' | 'provider_event_id'>

/** What the provider tells of, by the type of the news. */
export type ObjectOf<Type> = Extract<ProviderNews, { type: Type }>['data']['object']

export type Concern = { readonly state: ApplicationState; readonly quote_id: QuoteId }
export type PremiumConcern = { readonly state: PolicyState; readonly premium: Premium }

/** Finds what news is about. */
export const makeConcerns = (writer: Writer) => {
  const applications = commandHandler(writer, application)
  const policies = commandHandler(writer, policy)

  /** The application and the quote that something at the provider was made for; undefined when it is not ours. */
  const concernOf = async (
    organisation_id: OrganisationId,
    metadata: Readonly<Record<string, string>>,
  ): Promise<Concern | undefined> => {
    const id = ApplicationId.safeParse(metadata['application_id']).data
    const quote_id = QuoteId.safeParse(metadata['quote_id']).data
    if (id === undefined || quote_id === undefined || metadata['organisation_id'] !== organisation_id) return undefined
    const state = await applications.load(id)
    const isTheirs = state?.record.organisation_id === organisation_id
    return isTheirs && state.quotes.some(({ quote }) => quote.id === quote_id) ? { state, quote_id } : undefined
  }

  /** The policy and the premium that something at the provider was collected for; undefined when they are not ours. */
  const premiumConcernOf = async (
    organisation_id: OrganisationId,
    { policy_id, premium_id }: Receipt,
  ): Promise<PremiumConcern | undefined> => {
    const state = policy_id === null ? undefined : await policies.load(policy_id)
    const premium = state?.premiums.find((each) => each.premium_id === premium_id)
    return state?.organisation_id === organisation_id && premium ? { state, premium } : undefined
  }

  return { concernOf, premiumConcernOf }
}

export type Concerns = ReturnType<typeof makeConcerns>

/** What news of refunds and disputes is acted upon with. */
export type NewsParts = {
  readonly writer: Writer
  readonly merchants: Merchants
  readonly concerns: Concerns
  readonly setUp: SetUp
  readonly calendar: BankCalendar
}

export const nothing: Omit<Receipt, 'kind'> = {
  application_id: null,
  policy_id: null,
  premium_id: null,
  mandate_id: null,
  payment_intent_id: null,
  amount_pence: null,
  failure_code: null,
}

const uuidOf = (text: string | undefined): string | null => z.uuid().safeParse(text).data ?? null

/** The policy and the premium that something at the provider was made for. */
export const idsIn = (metadata: Readonly<Record<string, string>>) => ({
  policy_id: uuidOf(metadata['policy_id']),
  premium_id: uuidOf(metadata['premium_id']),
})
