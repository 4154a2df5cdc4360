import { z } from 'zod'
import {
  CardCapture,
  ConnectedAccount,
  PaymentAccountId,
  PublishableKey,
  type PaymentMode,
} from '#domain/payment-accounts/events.ts'
import { paymentAccount, type PaymentAccountCommand } from '#domain/payment-accounts/payment-account.ts'
import { paymentSecretBinding } from '#domain/payment-accounts/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { sealSecrets, type AccountsDeps, type MayKeepSecrets } from '../writing/account-secrets.ts'
import { commandHandler } from '../writing/handle.ts'

/** An account, as an operator gives it. */
export const GivenPaymentAccount = z.strictObject({
  base_url: z.string().max(500).default('https://api.stripe.com').describe('Stripe itself, or a stand-in.'),
  publishable_key: PublishableKey.nullable().default(null).describe('For web pages: answered to them.'),
  secret_key: z
    .string()
    .regex(/^(sk|rk)_\w{1,250}$/, 'must be a secret key, sk_…, or a restricted one, rk_…')
    .describe('It is never shown.'),
  webhook_secret: z
    .string()
    .regex(/^whsec_\S{1,250}$/, 'must be the signing secret of a webhook endpoint, whsec_…')
    .nullable()
    .default(null)
    .describe('It is never shown. Without it news of the provider is not taken.'),
  stripe_account: ConnectedAccount.nullable()
    .default(null)
    .describe('With the keys of a platform, the connected account that it acts for.'),
  capture: CardCapture.default('automatic').describe('manual: cards are charged when the policy is set up.'),
})
type GivenPaymentAccount = MayKeepSecrets<z.output<typeof GivenPaymentAccount>, 'secret_key'>

/** An organisation has one account for each mode. */
export const paymentAccountIdOf = (organisation_id: OrganisationId, mode: PaymentMode): PaymentAccountId =>
  PaymentAccountId.parse(derivedId('payment_account', organisation_id, mode))

/** The key of the other mode: real money in a trial, or none where there should be. */
export const isKeyOfOtherMode = (key: string, mode: PaymentMode): boolean =>
  key.includes(mode === 'test' ? '_live_' : '_test_')

/** Shared by the set-up file and the operator's routes. */
export const makePaymentAccounts = ({ writer, keys, allowsHttp }: AccountsDeps) => {
  const handler = commandHandler(writer, paymentAccount)

  const commandFor = async (
    organisation_id: OrganisationId,
    mode: PaymentMode,
    { secret_key, webhook_secret, ...given }: GivenPaymentAccount,
  ): Promise<PaymentAccountCommand> => {
    const payment_account_id = paymentAccountIdOf(organisation_id, mode)
    const existing = await handler.load(payment_account_id)
    const bindingOf = (name: 'secret_key' | 'webhook_secret') =>
      paymentSecretBinding(organisation_id, payment_account_id, name)
    const { sealed_secret: sealed_secret_key, ...secrets } = sealSecrets(keys, {
      bindings: { secret: bindingOf('secret_key'), webhook_secret: bindingOf('webhook_secret') },
      given: { secret: secret_key, webhook_secret },
      held: existing && { secret: existing.sealed_secret_key, webhook_secret: existing.sealed_webhook_secret },
    })
    return {
      type: 'SetPaymentAccount',
      payment_account_id,
      organisation_id,
      mode,
      ...given,
      http_allowed: allowsHttp(given.base_url),
      sealed_secret_key,
      ...secrets,
    }
  }

  return { ...handler, commandFor }
}
