import { z } from 'zod'
import { Provider, ProviderAccountId } from '#domain/provider-accounts/events.ts'
import { providerAccount, type ProviderAccountCommand } from '#domain/provider-accounts/provider-account.ts'
import { accountSecretPlace, type SealedAccount } from '#domain/provider-accounts/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { holdsSecret, seal } from '#infra/crypto/seal.ts'
import { derivedId } from '#infra/ids.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'

export type ProviderAccountsDeps = {
  readonly writer: Writer
  readonly keys: Pick<Keys, 'sealing'>
  /** Whether the operator's configuration permits plain http to an address. */
  readonly allowsHttp: (address: string) => boolean
}

/** What an operator says of an account. */
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
/** Without a secret for news at all, that in force stays. */
type GivenAccount = Omit<z.output<typeof GivenAccount>, 'webhook_secret'> & {
  readonly webhook_secret?: string | null | undefined
}

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

/** What the set-up file and the operator's routes do alike. */
export const makeAccounts = ({ writer, keys, allowsHttp }: ProviderAccountsDeps) => {
  const handler = commandHandler(writer, providerAccount)

  const holds = (
    existing: SealedAccount,
    name: 'secret' | 'webhook_secret',
    given: string | null | undefined,
  ): boolean => {
    if (given === undefined) return true
    const sealed = name === 'secret' ? existing.sealed_secret : existing.sealed_webhook_secret
    if (sealed === null || given === null) return sealed === given
    return holdsSecret(keys, sealed, accountSecretPlace(existing.organisation_id, existing.id, name), given)
  }

  const commandFor = async (
    organisation_id: OrganisationId,
    provider: Provider,
    { base_url, account, secret, webhook_secret }: GivenAccount,
  ): Promise<ProviderAccountCommand> => {
    const provider_account_id = providerAccountIdOf(organisation_id, provider)
    const address = base_url ?? addresses[provider] ?? ''
    const sealed = (name: 'secret' | 'webhook_secret', given: string) =>
      seal(keys, given, accountSecretPlace(organisation_id, provider_account_id, name))
    const existing = await handler.load(provider_account_id)
    return {
      type: 'SetProviderAccount',
      provider_account_id,
      organisation_id,
      provider,
      base_url: address,
      http_allowed: allowsHttp(address),
      account,
      sealed_secret: sealed('secret', secret),
      sealed_webhook_secret:
        webhook_secret === undefined
          ? (existing?.sealed_webhook_secret ?? null)
          : webhook_secret && sealed('webhook_secret', webhook_secret),
      are_same_secrets:
        existing !== undefined &&
        holds(existing, 'secret', secret) &&
        holds(existing, 'webhook_secret', webhook_secret),
    }
  }

  return { ...handler, commandFor }
}
