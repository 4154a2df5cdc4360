import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { OrganisationId } from '../values.ts'

export const PaymentAccountId = z.uuid().brand<'PaymentAccountId'>()
export type PaymentAccountId = z.infer<typeof PaymentAccountId>

/** Only `live` moves money. An application keeps the mode of its start. */
export const PaymentMode = z.enum(['test', 'live'])
export type PaymentMode = z.infer<typeof PaymentMode>

/** When a card is charged: at once, or when the policy is set up. */
export const CardCapture = z.enum(['automatic', 'manual'])
export type CardCapture = z.infer<typeof CardCapture>

export const PublishableKey = z.string().regex(/^pk_\w{1,250}$/, 'must be a publishable key, pk_…')
export const ConnectedAccount = z.string().regex(/^acct_\w{1,250}$/, 'must be a connected account, acct_…')

/** Stream `payment_account-<id>`, the id made from organisation and mode: an organisation has one account for each. */
export const paymentAccountEvents = {
  PaymentAccountSet: event({
    payment_account_id: PaymentAccountId,
    organisation_id: OrganisationId,
    mode: PaymentMode,
    base_url: z.string(),
    publishable_key: PublishableKey.nullable(),
    stripe_account: ConnectedAccount.nullable(),
    capture: CardCapture,
    sealed_secret_key: z.string().min(1),
    /** Null: notices of the provider are not taken. */
    sealed_webhook_secret: z.string().min(1).nullable(),
  }),
  PaymentAccountRemoved: event({ organisation_id: OrganisationId, mode: PaymentMode }),
}
export type PaymentAccountEvent = EventOf<typeof paymentAccountEvents>
