import { z } from 'zod'
import { application } from '#domain/applications/application.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import type { ReceivePaymentNews } from '#domain/payment-news/payment-news.ts'
import type { CardPayment } from '#domain/payments/record.ts'
import { ApplicationId, QuoteId, type OrganisationId } from '#domain/values.ts'
import type { ProviderEvent } from '#infra/stripe/provider-events.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'

/** The record of a provider's event: its subject, as far as that is ours. */
export type Receipt = Omit<ReceivePaymentNews, 'type' | 'organisation_id' | 'provider_event_id'>

/** The provider's object in an event, by the type of the event. */
export type ObjectOf<Type> = Extract<ProviderEvent, { type: Type }>['data']['object']

type Metadata = Readonly<Record<string, string>>
type Subject = { readonly state: ApplicationState; readonly quote_id: QuoteId }
export type CardSubject = { readonly state: ApplicationState; readonly card: CardPayment }

/** Finds what news is about. */
export const makeSubjects = (writer: Writer) => {
  const applications = commandHandler(writer, application)

  /** The application and the quote that something at the provider was made for; undefined when it is not ours. */
  const subjectOf = async (organisation_id: OrganisationId, metadata: Metadata): Promise<Subject | undefined> => {
    const id = ApplicationId.safeParse(metadata['application_id']).data
    const quote_id = QuoteId.safeParse(metadata['quote_id']).data
    if (id === undefined || quote_id === undefined || metadata['organisation_id'] !== organisation_id) return undefined
    const state = await applications.load(id)
    const isTheirs = state?.record.organisation_id === organisation_id
    return isTheirs && state.quotes.some(({ quote }) => quote.id === quote_id) ? { state, quote_id } : undefined
  }

  /** The card payment that news names; undefined when it is not ours. */
  const cardOf = async (
    organisation_id: OrganisationId,
    payment_intent_id: string | null,
    metadata: Metadata,
  ): Promise<CardSubject | undefined> => {
    const state = (await subjectOf(organisation_id, metadata))?.state
    const card = state?.payments.cards.find((each) => each.payment_intent_id === payment_intent_id)
    return state && card && { state, card }
  }

  return { subjectOf, cardOf }
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
export const idsIn = (metadata: Metadata) => ({
  policy_id: uuidOf(metadata['policy_id']),
  premium_id: uuidOf(metadata['premium_id']),
})
