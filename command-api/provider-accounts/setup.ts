import type { z } from 'zod'
import { Provider } from '#domain/provider-accounts/events.ts'
import { accountOf, type ProviderAccounts, type SealedAccount } from '#domain/provider-accounts/record.ts'
import { isLeftOut, keptWhereLeftOut } from '../setup-file/kept.ts'
import { givenSecret, missing, orMissing, isSameDestination, reportMissing } from '../setup-file/missing-secret.ts'
import {
  inOrderOf,
  reportRefusal,
  type SetupContext,
  type SetupSection,
  type SetupStep,
  type Whole,
} from '../setup-file/section.ts'
import type { AccountsDeps } from '../writing/account-secrets.ts'
import { GivenAccount, makeAccounts, providerAccountIdOf } from './accounts.ts'

/** An account of a set-up file. */
const DeclaredAccount = GivenAccount.extend({
  provider: Provider,
  secret: orMissing(GivenAccount.shape.secret),
  webhook_secret: orMissing(GivenAccount.shape.webhook_secret.unwrap()).default(null),
})
type DeclaredAccount = z.output<typeof DeclaredAccount>

type Deps = AccountsDeps & { readonly accounts: Readonly<ProviderAccounts> }

/** The accounts of an organisation with outside parties. A declared secret that is not the one in force replaces it. */
export const providerAccountsSection = ({ accounts, ...deps }: Deps): SetupSection<DeclaredAccount> => {
  const { handle, load, preview, commandFor } = makeAccounts(deps)

  const planOne = async (
    { provider, ...declared }: DeclaredAccount,
    index: number,
    setup: SetupContext,
  ): Promise<SetupStep | undefined> => {
    const { organisation_id, context } = setup
    const id = providerAccountIdOf(organisation_id, provider)
    const existing = await load(id)
    const written = setup.declared('provider_accounts')[index]
    const given = keptWhereLeftOut(declared, existing, written, ['base_url', 'account'])
    const isHeld = {
      secret: isSameDestination(existing, given, ['base_url', 'account']),
      webhook_secret: typeof existing?.sealed_webhook_secret === 'string',
    }
    if (reportMissing(setup, [index], declared, isHeld)) return undefined
    const secret = givenSecret(given.secret)
    const webhook_secret =
      existing && isLeftOut(written, 'webhook_secret') ? undefined : givenSecret(given.webhook_secret)
    const command = await commandFor(organisation_id, provider, { ...given, secret, webhook_secret })
    const [set] = await preview(id, command)
    const details =
      set?.type === 'ProviderAccountSet' ? [`base_url: ${set.base_url}, account: ${set.account ?? 'none'}`] : []
    return {
      what: `provider account ${provider}`,
      change: set ? (existing ? 'change' : 'create') : 'none',
      details,
      apply: async () => {
        await handle(id, command, context)
      },
    }
  }

  return {
    key: 'provider_accounts',
    schema: DeclaredAccount,
    plan: async (declared, setup) => {
      const plans = declared.map(async (each, index) => {
        const earlier = declared.findIndex(({ provider }) => provider === each.provider)
        if (earlier !== index) {
          setup.report([index, 'provider'], `is that of provider_accounts[${earlier}]`)
          return undefined
        }
        return reportRefusal(setup, [index, 'base_url'], () => planOne(each, index, setup))
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
    exported: async ({ organisation_id }) => {
      const held = Provider.options.flatMap((provider) => accountOf(accounts, organisation_id, provider) ?? [])
      return inOrderOf(held.map(writtenAs), ({ provider }) => provider)
    },
  }
}

const writtenAs = ({ provider, base_url, account, sealed_webhook_secret }: SealedAccount): WrittenAccount => {
  const named = (field: string) => missing('provider_accounts', provider, field)
  return {
    provider,
    base_url,
    account,
    secret: named('secret'),
    webhook_secret: sealed_webhook_secret === null ? null : named('webhook_secret'),
  }
}
type WrittenAccount = Whole<z.input<typeof DeclaredAccount>>
