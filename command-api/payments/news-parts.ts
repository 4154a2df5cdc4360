import type { SetUp } from '../policies/set-up.ts'
import { makeFollowSold } from './follow-sold.ts'
import { makeConcerns } from './news-concern.ts'
import { makeOnPremium } from './news-premiums.ts'
import type { PaymentDeps } from './payments.ts'

/** What news of payments is acted upon with. */
export const makeNewsParts = (deps: PaymentDeps & { readonly setUp: SetUp }) => {
  const { writer, merchants } = deps
  const concerns = makeConcerns(writer)
  return { writer, merchants, ...concerns, onPremium: makeOnPremium(deps), followSold: makeFollowSold(deps) }
}
export type NewsParts = ReturnType<typeof makeNewsParts>
