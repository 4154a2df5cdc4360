import { z } from 'zod'
import {
  CardCapture,
  ConnectedAccount,
  PaymentAccountId,
  PublishableKey,
  type PaymentMode,
} from '#domain/payment-accounts/events.ts'
import { paymentAccount, type PaymentAccountCommand } from '#domain/payment-accounts/payment-account.ts'
import { paymentSecretPlace, type SealedPaymentAccount } from '#domain/payment-accounts/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { holdsSecret, seal } from '#infra/crypto/seal.ts'
import { derivedId } from '#infra/ids.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'

export type PaymentAccountsDeps = {
  readonly writer: Writer
  readonly keys: Pick<Keys, 'sealing'>
  /** Whether the operator's configuration permits plain http to an address. */
  readonly allowsHttp: (address: string) => boolean
}

/** What an operator says of an account. */
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
/** Without a secret for news at all, that in force stays. */
type GivenPaymentAccount = Omit<z.output<typeof GivenPaymentAccount>, 'webhook_secret'> & {
  readonly webhook_secret?: string | null | undefined
}

/** An organisation has one account for each mode. */
export const paymentAccountIdOf = (organisation_id: OrganisationId, mode: PaymentMode): PaymentAccountId =>
  PaymentAccountId.parse(derivedId('payment_account', organisation_id, mode))

/** The key of the other mode: real money in a trial, or none where there should be. */
export const isKeyOfOtherMode = (key: string, mode: PaymentMode): boolean =>
  key.includes(mode === 'test' ? '_live_' : '_test_')

/** What the set-up file and the operator's routes do alike. */
export const makePaymentAccounts = ({ writer, keys, allowsHttp }: PaymentAccountsDeps) => {
  const handler = commandHandler(writer, paymentAccount)

  const holds = (
    existing: SealedPaymentAccount,
    name: 'secret_key' | 'webhook_secret',
    given: string | null | undefined,
  ) => {
    if (given === undefined) return true
    const sealed = name === 'secret_key' ? existing.sealed_secret_key : existing.sealed_webhook_secret
    if (sealed === null || given === null) return sealed === given
    return holdsSecret(keys, sealed, paymentSecretPlace(existing.organisation_id, existing.id, name), given)
  }

  const commandFor = async (
    organisation_id: OrganisationId,
    mode: PaymentMode,
    { secret_key, webhook_secret, ...given }: GivenPaymentAccount,
  ): Promise<PaymentAccountCommand> => {
    const payment_account_id = paymentAccountIdOf(organisation_id, mode)
    const existing = await handler.load(payment_account_id)
    const sealed = (name: 'secret_key' | 'webhook_secret', secret: string) =>
      seal(keys, secret, paymentSecretPlace(organisation_id, payment_account_id, name))
    return {
      type: 'SetPaymentAccount',
      payment_account_id,
      organisation_id,
      mode,
      ...given,
      http_allowed: allowsHttp(given.base_url),
      sealed_secret_key: sealed('secret_key', secret_key),
      sealed_webhook_secret:
        webhook_secret === undefined
          ? (existing?.sealed_webhook_secret ?? null)
          : webhook_secret && sealed('webhook_secret', webhook_secret),
      are_same_secrets:
        existing !== undefined &&
        holds(existing, 'secret_key', secret_key) &&
        holds(existing, 'webhook_secret', webhook_secret),
    }
  }

  return { ...handler, commandFor }
}
