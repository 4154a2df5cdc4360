import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { MandateId } from '../payments/events.ts'
import { ApplicationId, OrganisationId, Pence, ProviderId, ProviderWord } from '../values.ts'

export const NewsKind = z.enum([
  'payment_succeeded',
  'payment_authorised',
  'payment_failed',
  'payment_refunded',
  'refund_failed',
  'payment_disputed',
  'payment_reinstated',
  'mandate_updated',
])
export type NewsKind = z.infer<typeof NewsKind>

/** Stream `payment_news-<id>`, the id made from organisation and the provider's event, so that each is recorded once. */
export const paymentNewsEvents = {
  /** A notice of the provider that was acted upon. */
  PaymentNewsReceived: event({
    organisation_id: OrganisationId,
    provider_event_id: ProviderId,
    kind: NewsKind,
    /** Our records that it is about, where known. */
    application_id: ApplicationId.nullable(),
    policy_id: z.uuid().nullable(),
    premium_id: z.uuid().nullable(),
    mandate_id: MandateId.nullable(),
    payment_intent_id: ProviderId.nullable(),
    amount_pence: Pence.nullable(),
    failure_code: ProviderWord.nullable(),
  }),
}
export type PaymentNewsEvent = EventOf<typeof paymentNewsEvents>
