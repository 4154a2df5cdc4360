import { z } from 'zod'
import { Provider } from '#domain/provider-accounts/events.ts'
import { accountOf, ProviderAccount, type SealedAccount } from '#domain/provider-accounts/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { route, type Route } from '#infra/http/route.ts'
import { teamContext, impersonalRoute } from '../operator.ts'
import type { AccountsDeps } from '../writing/account-secrets.ts'
import { GivenAccount, makeAccounts, providerAccountIdOf } from './accounts.ts'

type Deps = AccountsDeps & {
  readonly accounts: ReadonlyMap<string, SealedAccount>
}

const address = '/admin/v1/organisations/:organisation_id/provider_accounts'
const ListPath = z.object({ organisation_id: OrganisationId })
const AccountPath = ListPath.extend({ provider: Provider })

const shown = (account: SealedAccount): ProviderAccount =>
  ProviderAccount.parse({ ...account, takes_news: account.sealed_webhook_secret !== null })

/** The operator's routes for the accounts of an organisation with outside parties. */
export const providerAccountRoutes = ({ accounts, ...deps }: Deps): Route[] => {
  const { handle, commandFor } = makeAccounts(deps)

  return [
    route(
      {
        ...impersonalRoute('owner'),
        method: 'get',
        address,
        summary: 'List the accounts of an organisation with outside parties, without their secrets',
        path: ListPath,
        answers: { 200: z.object({ data: z.array(ProviderAccount) }) },
      },
      async ({ path: { organisation_id } }) => {
        const data = Provider.options.flatMap((provider) => {
          const account = accountOf(accounts, organisation_id, provider)
          return account ? [shown(account)] : []
        })
        return { status: 200, body: { data } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'put',
        address: `${address}/:provider`,
        summary: 'Set the account with a provider; it replaces the former one',
        path: AccountPath,
        body: GivenAccount,
        answers: { 200: z.object({ data: ProviderAccount }) },
      },
      async ({ path: { organisation_id, provider }, body, ...facts }) => {
        const command = await commandFor(organisation_id, provider, body)
        const id = providerAccountIdOf(organisation_id, provider)
        const { state } = await handle(id, command, teamContext(organisation_id, facts))
        if (!state) throw notFound('provider account')
        return { status: 200, body: { data: shown(state) } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'delete',
        address: `${address}/:provider`,
        summary: 'Remove the account with a provider; removing it again is fine',
        path: AccountPath,
        answers: { 200: z.object({ data: z.object({ removed: z.boolean() }) }) },
      },
      async ({ path: { organisation_id, provider }, ...facts }) => {
        const id = providerAccountIdOf(organisation_id, provider)
        const { events } = await handle(id, { type: 'RemoveProviderAccount' }, teamContext(organisation_id, facts))
        return { status: 200, body: { data: { removed: events.length > 0 } } }
      },
    ),
  ]
}
