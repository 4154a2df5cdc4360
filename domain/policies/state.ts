import { premiumEvents, type PremiumEvent } from '../premiums/events.ts'
import { evolvePremiums, type Premium } from '../premiums/record.ts'
import { evolvePolicy, type PolicyRecord, type PolicyStreamEvent } from './record.ts'

/** A policy as the command side knows it: what is shown, and every premium that was ever due. */
export type PolicyState = PolicyRecord & { readonly premiums: readonly Premium[] }

export const isPremiumEvent = (event: PolicyStreamEvent): event is PremiumEvent => event.type in premiumEvents

export const evolvePolicyState = (
  state: PolicyState | undefined,
  event: PolicyStreamEvent,
  recorded: { readonly occurred_at: string },
): PolicyState | undefined => {
  const record = evolvePolicy(state, event, recorded)
  const premiums = state?.premiums ?? []
  return record && { ...record, premiums: isPremiumEvent(event) ? evolvePremiums(premiums, event, recorded) : premiums }
}
