import { z } from 'zod'
import { recordsFold } from '../records-fold.ts'
import { OrganisationId } from '../values.ts'
import { Provider, ProviderAccountId, providerAccountEvents, type ProviderAccountEvent } from './events.ts'

/** An account with an outside party, as the operator sees it: its secret is never shown. */
export const ProviderAccount = z
  .object({
    id: ProviderAccountId,
    organisation_id: OrganisationId,
    provider: Provider,
    base_url: z.string(),
    account: z.string().nullable(),
    takes_news: z.boolean().describe('Whether it has a secret that news of the provider is signed with.'),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'ProviderAccount' })
export type ProviderAccount = z.infer<typeof ProviderAccount>

/** The account with its sealed secret, as processes that call the provider keep it. */
export type SealedAccount = Omit<ProviderAccount, 'takes_news'> & {
  readonly sealed_secret: string
  readonly sealed_webhook_secret: string | null
}

export const evolveProviderAccount = (
  event: ProviderAccountEvent,
  { occurred_at }: { readonly occurred_at: string },
): SealedAccount | undefined => {
  if (event.type === 'ProviderAccountRemoved') return undefined
  const { type: _type, provider_account_id: id, ...account } = event
  return { id, ...account, updated_at: occurred_at }
}

/** The binding under which an account's secret is sealed: under another it cannot be opened. */
export const accountSecretBinding = (
  organisationId: string,
  accountId: string,
  name: 'secret' | 'webhook_secret' = 'secret',
): readonly string[] => [organisationId, `provider_account-${accountId}`, name]

const keyOf = (organisation_id: string, provider: Provider) => `${organisation_id} ${provider}`

/** The accounts of all organisations, as a process keeps them in memory. */
export type ProviderAccounts = Map<string, SealedAccount>

export const accountOf = (
  accounts: ReadonlyMap<string, SealedAccount>,
  organisation_id: OrganisationId,
  provider: Provider,
): SealedAccount | undefined => accounts.get(keyOf(organisation_id, provider))

/** The organisation's account with a provider, with its secret in clear; undefined when it has none. */
export type OpenAccount = (
  organisation_id: OrganisationId,
  provider: Provider,
) => (Pick<SealedAccount, 'base_url' | 'account'> & { readonly secret: string }) | undefined

export const accountOpener =
  (
    accounts: ReadonlyMap<string, SealedAccount>,
    unseal: (sealed: string, binding: readonly string[]) => string,
  ): OpenAccount =>
  (organisation_id, provider) => {
    const found = accountOf(accounts, organisation_id, provider)
    if (!found) return undefined
    const { id, base_url, account, sealed_secret } = found
    return { base_url, account, secret: unseal(sealed_secret, accountSecretBinding(organisation_id, id)) }
  }

/** Applies events to the accounts, in place. */
export const providerAccountsFold = recordsFold({
  name: 'provider accounts',
  version: 2,
  categories: ['provider_account'],
  events: providerAccountEvents,
  evolve: (_former, event, metadata) => evolveProviderAccount(event, metadata),
  keyOf: ({ organisation_id, provider }) => keyOf(organisation_id, provider),
})
