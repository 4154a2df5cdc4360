import type { Provider } from '#domain/provider-accounts/events.ts'
import { accountOf, accountSecretPlace, type SealedAccount } from '#domain/provider-accounts/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { OpenedAccount } from '#infra/ask-json.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { unseal } from '#infra/crypto/seal.ts'

/** The organisation's account with a provider, ready for use; undefined when it has none. */
export type OpenAccount = (organisation_id: OrganisationId, provider: Provider) => OpenedAccount | undefined

export const accountOpener =
  (accounts: ReadonlyMap<string, SealedAccount>, keys: Pick<Keys, 'sealing'>): OpenAccount =>
  (organisation_id, provider) => {
    const found = accountOf(accounts, organisation_id, provider)
    if (!found) return undefined
    const secret = unseal(keys, found.sealed_secret, accountSecretPlace(organisation_id, found.id))
    return { base_url: found.base_url, account: found.account, secret }
  }
