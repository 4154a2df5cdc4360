import type { z } from 'zod'
import { PaymentMode } from '#domain/payment-accounts/events.ts'
import { paymentAccountOf, type PaymentAccounts, type SealedPaymentAccount } from '#domain/payment-accounts/record.ts'
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
import { GivenPaymentAccount, isKeyOfOtherMode, makePaymentAccounts, paymentAccountIdOf } from './accounts.ts'

/** An account of a set-up file. */
const DeclaredPaymentAccount = GivenPaymentAccount.extend({
  mode: PaymentMode,
  secret_key: orMissing(GivenPaymentAccount.shape.secret_key),
  webhook_secret: orMissing(GivenPaymentAccount.shape.webhook_secret.unwrap()).default(null),
})
type DeclaredPaymentAccount = z.output<typeof DeclaredPaymentAccount>

type Deps = AccountsDeps & { readonly paymentAccounts: Readonly<PaymentAccounts> }

/** The accounts of an organisation with the payment provider. A declared secret that is not the one in force replaces it. */
export const paymentAccountsSection = ({ paymentAccounts, ...deps }: Deps): SetupSection<DeclaredPaymentAccount> => {
  const { handle, load, preview, commandFor, waits } = makePaymentAccounts(deps)

  const planOne = async (
    { mode, ...declared }: DeclaredPaymentAccount,
    index: number,
    setup: SetupContext,
  ): Promise<SetupStep | undefined> => {
    const { organisation_id, context } = setup
    const id = paymentAccountIdOf(organisation_id, mode)
    const existing = await load(id)
    const written = setup.declared('payment_accounts')[index]
    const names = ['base_url', 'publishable_key', 'stripe_account', 'capture'] as const
    const given = keptWhereLeftOut(declared, existing, written, names)
    const isHeld = {
      secret_key: isSameDestination(existing, given, ['base_url', 'stripe_account']),
      webhook_secret: typeof existing?.sealed_webhook_secret === 'string',
    }
    if (reportMissing(setup, [index], declared, isHeld)) return undefined
    const secret_key = givenSecret(given.secret_key)
    const webhook_secret =
      existing && isLeftOut(written, 'webhook_secret') ? undefined : givenSecret(given.webhook_secret)
    const command = await commandFor(organisation_id, mode, { ...given, secret_key, webhook_secret })
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
          if (isKeyOfOtherMode(givenSecret(each[name]) ?? '', each.mode))
            setup.report([index, name], `is not a key of the mode ${each.mode}`)
        return reportRefusal(setup, [index, 'base_url'], () => planOne(each, index, setup))
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
    exported: async ({ organisation_id }) => {
      const held = PaymentMode.options.flatMap((mode) => paymentAccountOf(paymentAccounts, organisation_id, mode) ?? [])
      return inOrderOf(held.map(writtenAs), ({ mode }) => mode)
    },
  }
}

const writtenAs = (account: SealedPaymentAccount): WrittenPaymentAccount => {
  const { mode, base_url, publishable_key, stripe_account, capture, sealed_webhook_secret } = account
  const named = (field: string) => missing('payment_accounts', mode, field)
  return {
    mode,
    base_url,
    publishable_key,
    secret_key: named('secret_key'),
    webhook_secret: sealed_webhook_secret === null ? null : named('webhook_secret'),
    stripe_account,
    capture,
  }
}
type WrittenPaymentAccount = Whole<z.input<typeof DeclaredPaymentAccount>>
