import type { Decider } from '../decider.ts'
import { keptSecret, type Keeps } from '../kept-secrets.ts'
import { Rejection } from '../rejection.ts'
import type { OrganisationId } from '../values.ts'
import { providerAccountEvents, type Provider, type ProviderAccountEvent, type ProviderAccountId } from './events.ts'
import { evolveProviderAccount, type SealedAccount } from './record.ts'
import { notEncrypted } from '../web-address.ts'

export type ProviderAccountCommand =
  | {
      readonly type: 'SetProviderAccount'
      readonly provider_account_id: ProviderAccountId
      readonly organisation_id: OrganisationId
      readonly provider: Provider
      readonly base_url: string
      /** True where the operator's configuration permits plain http to this host. */
      readonly http_allowed: boolean
      readonly account: string | null
      readonly sealed_secret: string
      readonly sealed_webhook_secret: string | null
      /** These are the secrets that are held, sealed again. */
      readonly are_same_secrets: boolean
      readonly keeps?: Keeps
    }
  | { readonly type: 'RemoveProviderAccount' }

const decide = (
  command: ProviderAccountCommand,
  existing: SealedAccount | undefined,
): readonly ProviderAccountEvent[] => {
  if (command.type === 'RemoveProviderAccount')
    return existing
      ? [
          {
            type: 'ProviderAccountRemoved',
            organisation_id: existing.organisation_id,
            provider: existing.provider,
          },
        ]
      : []

  const { http_allowed, are_same_secrets, keeps, type: _type, ...account } = command
  if (account.provider === 'smtp') refuseMailServer(account.base_url)
  else refuseAddress(account.base_url, http_allowed)
  if (account.sealed_webhook_secret !== null && !tellers.includes(account.provider)) refuseWebhookSecret()
  const goesWhereItWent = existing?.base_url === account.base_url && existing.account === account.account
  if (goesWhereItWent && are_same_secrets) return []
  // A secret that was replaced meanwhile stays, but goes nowhere else.
  const held = goesWhereItWent ? existing.sealed_secret : undefined
  return [
    {
      type: 'ProviderAccountSet',
      ...account,
      sealed_secret: keptSecret(keeps?.secret, account.sealed_secret, held),
      sealed_webhook_secret: keptSecret(
        keeps?.webhook_secret,
        account.sealed_webhook_secret,
        existing?.sealed_webhook_secret,
      ),
    },
  ]
}

/** Those that tell of something by themselves: see docs/message-gateway.md. */
const tellers: readonly Provider[] = ['message_gateway', 'smtp']

const refuseWebhookSecret = () => {
  const reason = `is only for ${tellers.join(' and ')}`
  throw new Rejection('validation_failed', `A webhook secret ${reason}: leave it out.`, { webhook_secret: reason })
}

const refuseAddress = (base_url: string, http_allowed: boolean): void => {
  const url = URL.parse(base_url)
  const reason = !url
    ? 'must be a whole address, such as https://example.com'
    : url.protocol !== 'https:' && !(url.protocol === 'http:' && http_allowed)
      ? notEncrypted
      : url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== ''
        ? 'must hold no user name, password, query or fragment'
        : base_url.endsWith('/')
          ? 'must not end with a slash'
          : undefined
  if (reason) throw new Rejection('validation_failed', `The base address ${reason}.`, { base_url: reason })
}

/** On smtp:// the connection is encrypted by STARTTLS before anything is sent. */
const refuseMailServer = (base_url: string): void => {
  const isMail = /^smtps?:\/\/[^\s/@:?#]+(:\d{1,5})?$/.test(base_url) && URL.canParse(base_url)
  const reason = 'must be the address of a mail server, such as smtps://mail.example.com:465'
  if (!isMail) throw new Rejection('validation_failed', `The base address ${reason}.`, { base_url: reason })
}

export const providerAccount: Decider<ProviderAccountCommand, typeof providerAccountEvents, SealedAccount | undefined> =
  {
    category: 'provider_account',
    events: providerAccountEvents,
    initialState: undefined,
    decide,
    evolve: (_former, event, recorded) => evolveProviderAccount(event, recorded),
  }
