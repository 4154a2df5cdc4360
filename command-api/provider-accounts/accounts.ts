import { z } from 'zod'
import { Provider, ProviderAccountId } from '#domain/provider-accounts/events.ts'
import { providerAccount, type ProviderAccountCommand } from '#domain/provider-accounts/provider-account.ts'
import { accountSecretBinding } from '#domain/provider-accounts/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { sealSecrets, type AccountsDeps, type MayKeepSecrets } from '../writing/account-secrets.ts'
import { commandHandler } from '../writing/handle.ts'

/** An account, as an operator gives it. */
export const GivenAccount = z.strictObject({
  base_url: z.string().max(500).optional().describe('Left out: the address of the provider itself.'),
  account: z
    .string()
    .min(1)
    .max(200)
    .nullable()
    .default(null)
    .describe('Where the provider has one: for Twilio its SID.'),
  secret: z.string().min(1).max(500).describe('The key or token; it is never shown.'),
  webhook_secret: z
    .string()
    .min(16)
    .max(500)
    .nullable()
    .default(null)
    .describe('Of message_gateway and smtp: what their news is signed with; never shown. Without it none is taken.'),
})
type GivenAccount = MayKeepSecrets<z.output<typeof GivenAccount>, 'secret'>

const addresses: Readonly<Record<Provider, string | undefined>> = {
  twilio_lookup: 'https://lookups.twilio.com',
  ideal_postcodes: 'https://api.ideal-postcodes.co.uk',
  os_places: 'https://api.os.uk',
  market_panel: undefined,
  tpsclear: 'https://api.tpsclear.co.uk',
  lead_reader: 'https://api.openai.com/v1',
  outreach_writer: 'https://api.openai.com/v1',
  message_gateway: undefined,
  smtp: undefined,
}

/** An organisation has one account with each provider. */
export const providerAccountIdOf = (organisation_id: OrganisationId, provider: Provider): ProviderAccountId =>
  ProviderAccountId.parse(derivedId('provider_account', organisation_id, provider))

/** Shared by the set-up file and the operator's routes. */
export const makeAccounts = ({ writer, keys, allowsHttp }: AccountsDeps) => {
  const handler = commandHandler(writer, providerAccount)

  const commandFor = async (
    organisation_id: OrganisationId,
    provider: Provider,
    { base_url, account, secret, webhook_secret }: GivenAccount,
  ): Promise<ProviderAccountCommand> => {
    const provider_account_id = providerAccountIdOf(organisation_id, provider)
    const address = base_url ?? addresses[provider] ?? ''
    const existing = await handler.load(provider_account_id)
    const bindingOf = (name: 'secret' | 'webhook_secret') =>
      accountSecretBinding(organisation_id, provider_account_id, name)
    return {
      type: 'SetProviderAccount',
      provider_account_id,
      organisation_id,
      provider,
      base_url: address,
      http_allowed: allowsHttp(address),
      account,
      ...sealSecrets(keys, {
        bindings: { secret: bindingOf('secret'), webhook_secret: bindingOf('webhook_secret') },
        given: { secret, webhook_secret },
        held: existing && { secret: existing.sealed_secret, webhook_secret: existing.sealed_webhook_secret },
      }),
    }
  }

  return { ...handler, commandFor }
}
