import type { CardCapture, PaymentMode } from '#domain/payment-accounts/events.ts'
import { paymentAccountOf, paymentSecretBinding, type SealedPaymentAccount } from '#domain/payment-accounts/record.ts'
import type { PolicyRecord } from '#domain/policies/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { unseal } from '#infra/crypto/seal.ts'
import type { GuardedHttp } from '#infra/guarded-http.ts'
import { makeStripe, type Provider } from '#infra/stripe/provider.ts'

/** An organisation as the payment provider's merchant: its account there, ready for use. */
export type Merchant = {
  readonly provider: Provider
  readonly publishable_key: string | null
  readonly stripe_account: string | null
  readonly capture: CardCapture
}

/** The account for what an organisation sells in earnest or on trial; undefined when it has none for that. */
export type Merchants = (organisation_id: OrganisationId, test: boolean) => Merchant | undefined

/** The payment provider for a policy; undefined without an account. */
export const providerOf = (
  merchants: Merchants,
  { organisation_id, test }: Pick<PolicyRecord, 'organisation_id' | 'test'>,
): Provider | undefined => merchants(organisation_id, test)?.provider

type Deps = {
  readonly keys: Pick<Keys, 'sealing'>
  readonly paymentAccounts: ReadonlyMap<string, SealedPaymentAccount>
  readonly http: Pick<GuardedHttp, 'request'>
}

export const makeMerchants = ({ keys, paymentAccounts, http }: Deps): Merchants => {
  const providerOf = makeStripe(http)

  return (organisation_id, test) => {
    const account = paymentAccountOf(paymentAccounts, organisation_id, modeOf(test))
    if (!account) return undefined
    const { base_url, publishable_key, stripe_account, capture } = account
    const binding = paymentSecretBinding(organisation_id, account.id, 'secret_key')
    const secret_key = unseal(keys, account.sealed_secret_key, binding)
    return { provider: providerOf({ base_url, secret_key, stripe_account }), publishable_key, stripe_account, capture }
  }
}

export const modeOf = (test: boolean): PaymentMode => (test ? 'test' : 'live')
