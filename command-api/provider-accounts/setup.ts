import { z } from 'zod'
import { Provider } from '#domain/provider-accounts/events.ts'
import { isLeftOut, keptWhereLeftOut } from '../setup-file/kept.ts'
import { reportRefusal, type SetupContext, type SetupSection, type SetupStep } from '../setup-file/section.ts'
import type { AccountsDeps } from '../writing/account-secrets.ts'
import { GivenAccount, makeAccounts, providerAccountIdOf } from './accounts.ts'

/** An account of a set-up file. */
const DeclaredAccount = GivenAccount.extend({ provider: Provider })
type DeclaredAccount = z.output<typeof DeclaredAccount>

/** The accounts of an organisation with outside parties. A declared secret that is not the one in force replaces it. */
export const providerAccountsSection = (deps: AccountsDeps): SetupSection<DeclaredAccount> => {
  const { handle, load, preview, commandFor } = makeAccounts(deps)

  const planOne = async (
    { provider, ...declared }: DeclaredAccount,
    written: unknown,
    { organisation_id, context }: SetupContext,
  ): Promise<SetupStep> => {
    const id = providerAccountIdOf(organisation_id, provider)
    const existing = await load(id)
    const given = keptWhereLeftOut(declared, existing, written, ['base_url', 'account'])
    const webhook_secret = existing && isLeftOut(written, 'webhook_secret') ? undefined : given.webhook_secret
    const command = await commandFor(organisation_id, provider, { ...given, webhook_secret })
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
        return reportRefusal(setup, [index, 'base_url'], () =>
          planOne(each, setup.declared('provider_accounts')[index], setup),
        )
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
  }
}
