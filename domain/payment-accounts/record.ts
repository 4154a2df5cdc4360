import { z } from 'zod'
import { recordsFold } from '../records-fold.ts'
import { OrganisationId } from '../values.ts'
import {
  CardCapture,
  ConnectedAccount,
  PaymentAccountId,
  PaymentMode,
  PublishableKey,
  paymentAccountEvents,
  type PaymentAccountEvent,
} from './events.ts'

/** An account with the payment provider, as the operator sees it: its secrets are never shown. */
export const PaymentAccount = z
  .object({
    id: PaymentAccountId,
    organisation_id: OrganisationId,
    mode: PaymentMode,
    base_url: z.string(),
    publishable_key: PublishableKey.nullable(),
    stripe_account: ConnectedAccount.nullable(),
    capture: CardCapture,
    takes_news: z.boolean().describe('Whether a webhook secret is set.'),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'PaymentAccount' })
export type PaymentAccount = z.infer<typeof PaymentAccount>

/** The account with its sealed secrets, as processes that call the provider keep it. */
export type SealedPaymentAccount = Omit<PaymentAccount, 'takes_news'> & {
  readonly sealed_secret_key: string
  readonly sealed_webhook_secret: string | null
}

export const evolvePaymentAccount = (
  event: PaymentAccountEvent,
  { occurred_at: updated_at }: { readonly occurred_at: string },
): SealedPaymentAccount | undefined => {
  if (event.type === 'PaymentAccountRemoved') return undefined
  const { type: _type, payment_account_id: id, ...account } = event
  return { ...account, id, updated_at }
}

/** The binding under which an account's secret is sealed: under another it cannot be opened. */
export const paymentSecretBinding = (
  organisationId: string,
  accountId: string,
  name: 'secret_key' | 'webhook_secret',
): readonly string[] => [organisationId, `payment_account-${accountId}`, name]

/** The accounts of all organisations, by organisation and mode. */
export type PaymentAccounts = Map<string, SealedPaymentAccount>

const keyOf = (organisation_id: string, mode: PaymentMode) => `${organisation_id} ${mode}`

export const paymentAccountOf = (
  accounts: ReadonlyMap<string, SealedPaymentAccount>,
  organisation_id: string,
  mode: PaymentMode,
): SealedPaymentAccount | undefined => accounts.get(keyOf(organisation_id, mode))

/** Applies events to the accounts, in place. */
export const paymentAccountsFold = recordsFold({
  name: 'payment accounts',
  version: 1,
  categories: ['payment_account'],
  events: paymentAccountEvents,
  evolve: (_former, event, metadata) => evolvePaymentAccount(event, metadata),
  keyOf: ({ organisation_id, mode }) => keyOf(organisation_id, mode),
})
