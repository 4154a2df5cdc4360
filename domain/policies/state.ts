import { claimEvents, type ClaimEvent } from '../claims/events.ts'
import { evolveClaims, type Claim } from '../claims/record.ts'
import { premiumEvents, type PremiumEvent } from '../premiums/events.ts'
import { evolvePremiums, type Premium } from '../premiums/record.ts'
import { evolvePolicy, type PolicyRecord, type PolicyStreamEvent } from './record.ts'

/** A policy as the command side knows it: what is shown, and every premium and claim that there was. */
export type PolicyState = PolicyRecord & {
  readonly premiums: readonly Premium[]
  readonly claims: readonly Claim[]
}

export const isPremiumEvent = (event: PolicyStreamEvent): event is PremiumEvent => event.type in premiumEvents

export const isClaimEvent = (event: PolicyStreamEvent): event is ClaimEvent => event.type in claimEvents

export const evolvePolicyState = (
  state: PolicyState | undefined,
  event: PolicyStreamEvent,
  recorded: { readonly occurred_at: string },
): PolicyState | undefined => {
  const record = evolvePolicy(state, event, recorded)
  const premiums = state?.premiums ?? []
  const claims = state?.claims ?? []
  return (
    record && {
      ...record,
      premiums: isPremiumEvent(event) ? evolvePremiums(premiums, event, recorded) : premiums,
      claims: isClaimEvent(event) ? evolveClaims(claims, event, recorded) : claims,
    }
  )
}
