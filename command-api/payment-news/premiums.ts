import { policy } from '#domain/policies/policy.ts'
import type { OrganisationId } from '#domain/values.ts'
import { commandHandler, type Context } from '../writing/handle.ts'
import { makeCheckMandate } from '../payments/check-mandate.ts'
import type { Receipt } from './subjects.ts'
import { makePayments, type PaymentDeps } from '../payments/payments.ts'
import { doneOr, known } from '../payments/provider-answers.ts'

/** News of what was collected for a premium, by the metadata of its payment: it is looked at, whatever the news says. */
export const makeOnPremium = (deps: PaymentDeps) => {
  const { load } = commandHandler(deps.writer, policy)
  const payments = makePayments(deps)
  const checkMandate = makeCheckMandate(deps)

  return async (
    organisation_id: OrganisationId,
    receipt: Receipt,
    metadata: Readonly<Record<string, string>>,
    context: Context,
  ): Promise<Receipt> => {
    const { kind, policy_id, premium_id, payment_intent_id } = receipt
    if (policy_id === null || payment_intent_id === null || kind === 'payment_authorised') return receipt
    const attempt = Number(metadata['attempt'])
    const state = await load(policy_id)
    const premium = state?.premiums.find((each) => each.premium_id === premium_id)
    if (state?.organisation_id !== organisation_id || !premium) return receipt
    // Whoever works at the provider by hand may have written down what was never asked for.
    if (!Number.isSafeInteger(attempt) || attempt < 1 || attempt > premium.attempts) return receipt
    const followed = await payments.follow(state, premium, { attempt, payment_intent_id }, context)
    const after = doneOr('unavailable', known(followed))
    // Its mandate may have ended, and the news of that be lost. News that comes again looks again, too.
    if (after && kind === 'payment_failed') await checkMandate(after, context)
    return { ...receipt, application_id: state.application_id }
  }
}
