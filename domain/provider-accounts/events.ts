import { z } from 'zod'
import { event, type EventOf } from '../event.ts'
import { OrganisationId } from '../values.ts'

export const ProviderAccountId = z.uuid().brand<'ProviderAccountId'>()
export type ProviderAccountId = z.infer<typeof ProviderAccountId>

/** The outside parties that an organisation has accounts with. Of two for the same purpose the earlier is asked first. */
export const Provider = z.enum([
  'twilio_lookup',
  'ideal_postcodes',
  'os_places',
  'market_panel',
  'tpsclear',
  'lead_reader',
  'outreach_writer',
  'message_gateway',
  'smtp',
])
export type Provider = z.infer<typeof Provider>

/** Stream `provider_account-<id>`, the id made from organisation and provider: an organisation has one account with each. */
export const providerAccountEvents = {
  ProviderAccountSet: event(
    {
      provider_account_id: ProviderAccountId,
      organisation_id: OrganisationId,
      provider: Provider,
      base_url: z.string(),
      /** The name of the account, where the provider has one beside the secret. */
      account: z.string().nullable(),
      sealed_secret: z.string().min(1),
      /** Null: notices of the provider are not taken. */
      sealed_webhook_secret: z.string().min(1).nullable(),
    },
    { upcasts: [(v1) => ({ ...v1, sealed_webhook_secret: null })] },
  ),
  ProviderAccountRemoved: event({ organisation_id: OrganisationId, provider: Provider }),
}
export type ProviderAccountEvent = EventOf<typeof providerAccountEvents>
