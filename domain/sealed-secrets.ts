import type { ProposalSecrets } from './approvals/record.ts'
import type { Integrations } from './custom-integrations/record.ts'
import type { SigningSecrets } from './integrations/record.ts'
import type { PaymentAccounts } from './payment-accounts/record.ts'
import type { ProviderAccounts } from './provider-accounts/record.ts'
import type { SignInProviders } from './sign-in/record.ts'

/** A secret that lies in an event, sealed under a master key, and still is in use. */
export type SealedSecret = { readonly sealed: string; readonly organisation_id: string; readonly of: string }

type Known = {
  readonly providerAccounts: ProviderAccounts
  readonly paymentAccounts: PaymentAccounts
  readonly integrations: Integrations
  readonly signInProviders: SignInProviders
  readonly proposalSecrets: ProposalSecrets
  readonly signingSecrets: ReadonlyMap<string, SigningSecrets>
}

/** Every secret of accounts and connections that is in use at an instant of real time. */
export const sealedSecretsOf = (
  { providerAccounts, paymentAccounts, integrations, signInProviders, proposalSecrets, signingSecrets }: Known,
  realNow: string,
): readonly SealedSecret[] => [
  ...[...providerAccounts.values()].map(({ organisation_id, provider, sealed_secret: sealed }) => ({
    organisation_id,
    of: `provider account ${provider}`,
    sealed,
  })),
  ...[...signInProviders.values()].map(({ organisation_id, name, sealed_secret: sealed }) => ({
    organisation_id: organisation_id ?? 'the installation',
    of: `sign-in provider ${name}`,
    sealed,
  })),
  ...[...paymentAccounts.values()].flatMap(({ organisation_id, mode, sealed_secret_key, sealed_webhook_secret }) =>
    [sealed_secret_key, sealed_webhook_secret]
      .filter((sealed) => sealed !== null)
      .map((sealed) => ({ organisation_id, of: `payment account ${mode}`, sealed })),
  ),
  ...[...proposalSecrets.values()].flatMap(({ id, organisation_id, sealed }) =>
    sealed.map((each) => ({ organisation_id, of: `proposal ${id}`, sealed: each })),
  ),
  ...[...integrations.connections.values()].flatMap(({ organisation_id, name, sealed_secrets }) =>
    Object.values(sealed_secrets).map((sealed) => ({ organisation_id, of: `integration connection ${name}`, sealed })),
  ),
  ...[...signingSecrets.values()].flatMap(({ organisation_id, name, sealed, former }) =>
    [sealed, ...former.filter(({ until }) => until > realNow).map((each) => each.sealed)].map((each) => ({
      organisation_id,
      of: `endpoint connection ${name}`,
      sealed: each,
    })),
  ),
]
