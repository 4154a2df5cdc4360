import { z } from 'zod'
import { PaymentMode } from '#domain/payment-accounts/events.ts'
import { PaymentAccount, paymentAccountOf, type SealedPaymentAccount } from '#domain/payment-accounts/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import { teamContext, impersonalRoute } from '../operator.ts'
import { mayWait } from '../waiting.ts'
import type { AccountsDeps } from '../writing/account-secrets.ts'
import { GivenPaymentAccount, isKeyOfOtherMode, makePaymentAccounts, paymentAccountIdOf } from './accounts.ts'

type Deps = AccountsDeps & {
  readonly paymentAccounts: ReadonlyMap<string, SealedPaymentAccount>
}

const address = '/admin/v1/organisations/:organisation_id/payment_accounts'
const ListPath = z.object({ organisation_id: OrganisationId })
const AccountPath = ListPath.extend({ mode: PaymentMode })

const shown = (account: SealedPaymentAccount): PaymentAccount =>
  PaymentAccount.parse({ ...account, takes_news: account.sealed_webhook_secret !== null })

const refuseKeysOfOtherMode = (given: z.output<typeof GivenPaymentAccount>, mode: PaymentMode): void => {
  for (const name of ['secret_key', 'publishable_key'] as const) {
    const reason = `is not a key of the mode ${mode}`
    if (isKeyOfOtherMode(given[name] ?? '', mode))
      throw new Problem('validation_failed', `Correct ${name}: it ${reason}.`, { fields: { [name]: reason } })
  }
}

/** The operator's routes for the accounts of an organisation with the payment provider. */
export const paymentAccountRoutes = ({ paymentAccounts, ...deps }: Deps): Route[] => {
  const { handle, commandFor } = makePaymentAccounts(deps)

  return [
    route(
      {
        ...impersonalRoute('owner'),
        method: 'get',
        address,
        summary: 'List the accounts of an organisation with the payment provider, without their secrets',
        path: ListPath,
        answers: { 200: z.object({ data: z.array(PaymentAccount) }) },
      },
      async ({ path: { organisation_id } }) => {
        const data = PaymentMode.options.flatMap((mode) => {
          const account = paymentAccountOf(paymentAccounts, organisation_id, mode)
          return account ? [shown(account)] : []
        })
        return { status: 200, body: { data } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'put',
        address: `${address}/:mode`,
        summary: 'Set the test or live account with the payment provider; it replaces the former one',
        path: AccountPath,
        body: GivenPaymentAccount,
        answers: { 200: z.object({ data: PaymentAccount }), ...mayWait },
      },
      async ({ path: { organisation_id, mode }, body, ...facts }) => {
        refuseKeysOfOtherMode(body, mode)
        const command = await commandFor(organisation_id, mode, body)
        const id = paymentAccountIdOf(organisation_id, mode)
        const { state } = await handle(id, command, teamContext(organisation_id, facts))
        if (!state) throw notFound('payment account')
        return { status: 200, body: { data: shown(state) } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'delete',
        address: `${address}/:mode`,
        summary: 'Remove an account with the payment provider; removing it again is fine',
        path: AccountPath,
        answers: { 200: z.object({ data: z.object({ removed: z.boolean() }) }), ...mayWait },
      },
      async ({ path: { organisation_id, mode }, ...facts }) => {
        const id = paymentAccountIdOf(organisation_id, mode)
        const { events } = await handle(id, { type: 'RemovePaymentAccount' }, teamContext(organisation_id, facts))
        return { status: 200, body: { data: { removed: events.length > 0 } } }
      },
    ),
  ]
}
