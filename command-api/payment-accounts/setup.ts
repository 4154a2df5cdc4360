import type { z } from 'zod'
import { PaymentMode } from '#domain/payment-accounts/events.ts'
import { isLeftOut, keptWhereLeftOut } from '../setup-file/kept.ts'
import { reportRefusal, type SetupContext, type SetupSection, type SetupStep } from '../setup-file/section.ts'
import type { AccountsDeps } from '../writing/account-secrets.ts'
import { GivenPaymentAccount, isKeyOfOtherMode, makePaymentAccounts, paymentAccountIdOf } from './accounts.ts'

/** An account of a set-up file. */
const DeclaredPaymentAccount = GivenPaymentAccount.extend({ mode: PaymentMode })
type DeclaredPaymentAccount = z.output<typeof DeclaredPaymentAccount>

/** The accounts of an organisation with the payment provider. A declared secret that is not the one in force replaces it. */
export const paymentAccountsSection = (deps: AccountsDeps): SetupSection<DeclaredPaymentAccount> => {
  const { handle, load, preview, commandFor, waits } = makePaymentAccounts(deps)

  const planOne = async (
    { mode, ...declared }: DeclaredPaymentAccount,
    written: unknown,
    { organisation_id, context }: SetupContext,
  ): Promise<SetupStep> => {
    const id = paymentAccountIdOf(organisation_id, mode)
    const existing = await load(id)
    const names = ['base_url', 'publishable_key', 'stripe_account', 'capture'] as const
    const given = keptWhereLeftOut(declared, existing, written, names)
    const webhook_secret = existing && isLeftOut(written, 'webhook_secret') ? undefined : given.webhook_secret
    const command = await commandFor(organisation_id, mode, { ...given, webhook_secret })
    const isChanged = (await preview(id, command)).length > 0
    const { base_url, stripe_account, capture } = given
    return {
      what: `payment account ${mode}`,
      change: isChanged ? (existing ? 'change' : 'create') : 'none',
      details: isChanged
        ? [`base_url: ${base_url}, stripe_account: ${stripe_account ?? 'none'}, capture: ${capture}`]
        : [],
      waits: await waits(id, command, context),
      apply: async () => {
        await handle(id, command, context)
      },
    }
  }

  return {
    key: 'payment_accounts',
    schema: DeclaredPaymentAccount,
    plan: async (declared, setup) => {
      const plans = declared.map(async (each, index) => {
        const earlier = declared.findIndex(({ mode }) => mode === each.mode)
        if (earlier !== index) {
          setup.report([index, 'mode'], `is that of payment_accounts[${earlier}]`)
          return undefined
        }
        for (const name of ['secret_key', 'publishable_key'] as const)
          if (isKeyOfOtherMode(each[name] ?? '', each.mode))
            setup.report([index, name], `is not a key of the mode ${each.mode}`)
        return reportRefusal(setup, [index, 'base_url'], () =>
          planOne(each, setup.declared('payment_accounts')[index], setup),
        )
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
  }
}
