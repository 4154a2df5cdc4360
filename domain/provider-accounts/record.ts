import { z } from 'zod'
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
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'ProviderAccount' })
export type ProviderAccount = z.infer<typeof ProviderAccount>

/** The account with its sealed secret, as processes that call the provider keep it. */
export type SealedAccount = ProviderAccount & { readonly sealed_secret: string }

export const evolveProviderAccount = (
  event: ProviderAccountEvent,
  { occurred_at }: { readonly occurred_at: string },
): SealedAccount | undefined => {
  switch (event.type) {
    case 'ProviderAccountSet': {
      const { provider_account_id: id, organisation_id, provider, base_url, account, sealed_secret } = event
      return { id, organisation_id, provider, base_url, account, sealed_secret, updated_at: occurred_at }
    }
    case 'ProviderAccountRemoved':
      return undefined
  }
}

/** What the secret of an account is sealed for: put elsewhere, it cannot be opened. */
export const accountSecretPlace = (organisationId: string, accountId: string): readonly string[] => [
  organisationId,
  `provider_account-${accountId}`,
  'secret',
]

const keyOf = (organisation_id: string, provider: Provider) => `${organisation_id} ${provider}`

/** The accounts of all organisations, as a process keeps them in memory. */
export type ProviderAccounts = Map<string, SealedAccount>

export const accountOf = (
  accounts: ReadonlyMap<string, SealedAccount>,
  organisation_id: OrganisationId,
  provider: Provider,
): SealedAccount | undefined => accounts.get(keyOf(organisation_id, provider))

/** How events change the accounts, in place. */
export const providerAccountsFold = {
  name: 'provider accounts',
  version: 1,
  categories: ['provider_account'],
  events: providerAccountEvents,
  apply: (
    accounts: ProviderAccounts,
    event: ProviderAccountEvent,
    { metadata }: { readonly metadata: { readonly occurred_at: string } },
  ): void => {
    const account = evolveProviderAccount(event, metadata)
    const key = keyOf(event.organisation_id, event.provider)
    if (account) accounts.set(key, account)
    else accounts.delete(key)
  },
}
