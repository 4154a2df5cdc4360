import type { z } from 'zod'
import { application } from '#domain/applications/application.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import type { BankAccountCheck } from '#domain/bank-account.ts'
import { idOf } from '#domain/event.ts'
import { usableMandate, type Mandate } from '#domain/payments/record.ts'
import { needsMandate } from '#domain/policies/mandate.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyRecord } from '#domain/policies/record.ts'
import { isTooEarly } from '#domain/retry.ts'
import type { Provider } from '#infra/stripe/provider.ts'
import { isTestAccount } from '#infra/stripe/test-accounts.ts'
import { mandateIdOf } from '../applications/mandate-routes.ts'
import { forPayer, payerOf } from '../applications/payer.ts'
import { readBankDetails, type DirectDebitInput } from '../direct-debit-input.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import type { Timer } from '../reactions/timers.ts'
import type { Merchants } from './merchants.ts'

type Deps = { readonly writer: Writer; readonly merchants: Merchants }

/** These say that the bank account will not do; everything else may be put right, and is tried again. */
const finalRefusals: readonly string[] = ['bank_account_unusable', 'bank_account_unverified', 'bank_account_restricted']

/**
 * Makes the mandate of a policy from the bank details that were sent, however often it takes. The mandate belongs to the
 * application, where it is recorded first; the provider makes one for the same key, whoever asks.
 */
export const setUpMandates = ({ writer, merchants }: Deps): Timer => {
  const applications = commandHandler(writer, application)
  const policies = commandHandler(writer, policy)

  return {
    kind: 'policy_mandate',
    fire: async ({ stream }, context) => {
      const found = await policies.load(idOf(stream))
      if (!found || !needsMandate(found) || isTooEarly(found.mandate_retry_at, context.now)) return
      const state = await applications.load(found.application_id)
      if (!state) throw new Error(`Application ${found.application_id} of policy ${found.id} does not exist.`)
      const merchant = merchants(found.organisation_id, state.record.stripe_test_mode)
      // It may have been made before the policy has heard of it.
      const made =
        usableMandate(state.payments) ??
        (merchant ? await make(merchant.provider, found, state, context) : delayed('no_account'))
      if ('failure_code' in made) {
        const { mandate_requests } = found
        const failed = { type: 'RecordMandateFailure', ...made, mandate_requests, now: context.now } as const
        await policies.handle(found.id, failed, context)
        return
      }
      const { mandate_id, account_number_last4, status } = made
      const { provider_customer_id, provider_payment_method_id, provider_mandate_id } = made
      const provider = { provider_customer_id, provider_payment_method_id, provider_mandate_id }
      await policies.handle(
        found.id,
        { type: 'RecordMandate', mandate_id, ...provider, account_number_last4, status },
        context,
      )
    },
  }

  async function make(
    provider: Provider,
    { id, organisation_id, mandate_requests }: PolicyRecord,
    state: ApplicationState,
    context: Context,
  ): Promise<Mandate | Failure> {
    const { record, payments, sale } = state
    if (!payments.bank_details || !sale) return { failure_code: 'no_bank_details', is_final: true }
    const { bank_details } = payments.bank_details
    const payer = payerOf(state)
    const address = bank_details.address_line1 === null ? payer.address : addressOf(bank_details)
    const metadata = { policy_id: id, application_id: record.id, organisation_id }
    const set = await forPayer(provider, payer, async (provider_customer_id) => {
      const given = { provider_customer_id, bank_details, payer: { ...payer, address }, metadata }
      // For the same name the provider would give the one again that has ended, or refuse it again.
      const name = mandate_requests === 0 ? `policy:${id}:mandate` : `policy:${id}:mandate:${mandate_requests}`
      const outcome = await provider.setUpMandate(name, given)
      return outcome.outcome === 'done' ? { ...outcome, value: { set_up: outcome.value } } : outcome
    })
    if (set.outcome === 'unanswered') return delayed('unanswered')
    if (set.outcome === 'refused') return { failure_code: set.code, is_final: finalRefusals.includes(set.code) }
    const { set_up, provider_customer_id } = set.value
    if (!set_up) return delayed('not_set_up')
    const { mandate, last4, provider_payment_method_id } = set_up
    const mandate_id = mandateIdOf(organisation_id, mandate?.id ?? provider_payment_method_id)
    const created = await applications.handle(
      record.id,
      {
        type: 'CreateMandate',
        quote_id: sale.quote_id,
        mandate_id,
        session_id: null,
        provider_mandate_id: mandate?.id ?? null,
        provider_customer_id,
        provider_payment_method_id,
        account_number_last4: last4 ?? payments.bank_details.account_number_last4,
        made_from: bank_details,
        answer: mandate ?? { network_status: 'pending', active: true },
      },
      context,
    )
    const made = created.state?.payments.mandate
    return made?.mandate_id === mandate_id ? made : delayed('bank_details_replaced')
  }
}

type Failure = { readonly failure_code: string; readonly is_final: boolean }

const delayed = (failure_code: string): Failure => ({ failure_code, is_final: false })

type BankDetails = NonNullable<ApplicationState['payments']['bank_details']>['bank_details']

const addressOf = ({ address_line1, address_line2, address_city, address_postal_code }: BankDetails) => ({
  line1: address_line1,
  line2: address_line2,
  city: address_city,
  postal_code: address_postal_code,
  country: 'GB',
})

export type ReplaceBankDetails = (
  policy: PolicyRecord,
  sent: z.output<typeof DirectDebitInput>,
  context: Context,
) => Promise<string>

/** Takes bank details for a policy that has no mandate; says when these were first sent. Throws `direct_debit_invalid`. */
export const makeReplaceBankDetails = ({
  writer,
  checkBankAccount,
}: {
  readonly writer: Writer
  readonly checkBankAccount: BankAccountCheck
}): ReplaceBankDetails => {
  const { handle, load } = commandHandler(writer, application)

  return async ({ application_id }, sent, context) => {
    const isInTest = (await load(application_id))?.record.stripe_test_mode === true
    const check: BankAccountCheck = (account) => checkBankAccount(account) || (isInTest && isTestAccount(account))
    const bank_details = readBankDetails(sent, check)
    const { state } = await handle(application_id, { type: 'ReplaceBankDetails', bank_details }, context)
    const saved = state?.payments.bank_details
    if (!saved) throw new Error(`No bank details of application ${application_id} are held.`)
    return saved.saved_at
  }
}
