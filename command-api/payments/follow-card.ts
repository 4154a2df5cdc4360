import type { ApplicationState } from '#domain/applications/state.ts'
import { heldPence } from '#domain/payments/payment.ts'
import type { CardPayment } from '#domain/payments/record.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { commandHandler, type Context } from '../writing/handle.ts'
import type { SetUp } from '../policies/set-up.ts'
import { makePayments, type PaymentDeps } from './payments.ts'
import { doneOr, known } from './provider-answers.ts'
import { makeSettleCard } from './settle-card.ts'

/**
 * Looks at a card payment, and settles it. Where a policy was sold for it, that settles the first premium, which it pays, and
 * answers the policy; otherwise undefined.
 */
export const makeFollowCard = ({ setUp, ...deps }: PaymentDeps & { readonly setUp: SetUp }) => {
  const payments = makePayments(deps)
  const settleCard = makeSettleCard(deps.writer)
  const { load } = commandHandler(deps.writer, policy)

  const followSold = async (
    { record }: ApplicationState,
    { policy_id, quote_id, payment_intent_id }: CardPayment,
    context: Context,
  ): Promise<PolicyState | undefined> => {
    if (policy_id === null) return undefined
    // The sale may be so new that its policy is not set up yet.
    if (!(await load(policy_id))) await setUp(record.id, quote_id, context)
    const state = await load(policy_id)
    const premium = state?.premiums.find(({ number }) => number === 1)
    if (!state || !premium) return undefined
    return doneOr(
      'unavailable',
      known(await payments.follow(state, premium, { attempt: 1, payment_intent_id }, context)),
    )
  }

  /** Settles it by what is known of it already. */
  const settle = async (payment_id: CardPayment['payment_id'], context: Context): Promise<PolicyState | undefined> => {
    const settled = await settleCard(payment_id, context)
    // Once it is its premium's, whoever made it so has settled that.
    return settled?.payment.premium_id === null ? followSold(settled.state, settled.card, context) : undefined
  }

  /** A former version records a return with the application alone: its payment would hold it for ever. */
  const lookAfterReturn = async (payment_id: CardPayment['payment_id'], context: Context): Promise<void> => {
    const settled = await settleCard(payment_id, context)
    if (!settled || settled.payment.status !== 'captured' || heldPence(settled.payment) <= 0) return
    if (settled.card.status === 'returned' && settled.card.closed_as === null)
      await follow(settled.state, settled.card, context)
  }

  const follow = async (
    state: ApplicationState,
    card: CardPayment,
    context: Context,
  ): Promise<PolicyState | undefined> => {
    if (card.policy_id === null) {
      await payments.followUnsold(state.record, card, context)
      return settle(card.payment_id, context)
    }
    const sold = await followSold(state, card, context)
    await settleCard(card.payment_id, context)
    return sold
  }

  return { follow, settle, lookAfterReturn }
}
