import type { SetUp } from '../policies/set-up.ts'
import { makeFollowCard } from '../payments/follow-card.ts'
import { makeSubjects } from './subjects.ts'
import { makeOnPremium } from './premiums.ts'
import type { PaymentDeps } from '../payments/payments.ts'

/** The parts that act upon the provider's events about payments. */
export const makeEventParts = (deps: PaymentDeps & { readonly setUp: SetUp }) => {
  const { writer, merchants } = deps
  const subjects = makeSubjects(writer)
  return { writer, merchants, ...subjects, onPremium: makeOnPremium(deps), followCard: makeFollowCard(deps).follow }
}
export type EventParts = ReturnType<typeof makeEventParts>
