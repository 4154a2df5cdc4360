import type { ApplicationState } from '#domain/applications/state.ts'
import type { CardPayment } from '#domain/payments/record.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import type { Premium } from '#domain/premiums/record.ts'
import { commandHandler, type Context } from '../handle.ts'
import type { SetUp } from '../policies/set-up.ts'
import { doneOr, known } from './provider-answers.ts'
import { makePayments, type PaymentDeps } from './payments.ts'

type Deps = PaymentDeps & { readonly setUp: SetUp }

/** Looks at a payment of which there is news, whatever it says, and settles what it pays for. */
export const makeFollow = ({ setUp, ...deps }: Deps) => {
  const payments = makePayments(deps)
  const policies = commandHandler(deps.writer, policy)

  /** What was collected for a premium by an attempt. */
  const followPremium = async (
    state: PolicyState,
    premium: Premium,
    told: { readonly attempt: number; readonly payment_intent_id: string },
    context: Context,
  ): Promise<PolicyState | undefined> => {
    const followed = await payments.follow(state, premium, told, context)
    return doneOr('unavailable', known(followed))
  }

  /** The card payment that a policy was sold for: it pays the first premium. Undefined while it was not sold. */
  const followSold = async (
    { record }: ApplicationState,
    { policy_id, quote_id, payment_intent_id }: Pick<CardPayment, 'policy_id' | 'quote_id' | 'payment_intent_id'>,
    context: Context,
  ): Promise<PolicyState | undefined> => {
    if (policy_id === null) return undefined
    // The sale may be so new that its policy is not set up yet.
    if (!(await policies.load(policy_id))) await setUp(record.id, quote_id, context)
    const state = await policies.load(policy_id)
    const premium = state?.premiums.find(({ number }) => number === 1)
    return state && premium && followPremium(state, premium, { attempt: 1, payment_intent_id }, context)
  }

  return { followPremium, followSold }
}
