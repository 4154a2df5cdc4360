import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'
import type { OrganisationId, PolicyId } from '../values.ts'
import { policyNumberEvents, type PolicyNumberEvent } from './events.ts'

/** The digit that makes the Luhn sum of all digits a multiple of ten, by which a mistyped number is known. */
export const luhnDigit = (digits: string): string => {
  const sum = Array.from(digits, Number)
    .toReversed()
    .reduce((total, digit, index) => {
      const doubled = digit * (index % 2 === 0 ? 2 : 1)
      return total + (doubled > 9 ? doubled - 9 : doubled)
    }, 0)
  return String((10 - (sum % 10)) % 10)
}

/** `NLT-012345674`: the prefix, eight digits and the check digit. */
export const policyNumberOf = (prefix: string, digits: string): string => `${prefix}-${digits}${luhnDigit(digits)}`

export type ClaimPolicyNumber = {
  readonly type: 'ClaimPolicyNumber'
  readonly organisation_id: OrganisationId
  readonly policy_number: string
  readonly policy_id: PolicyId
}

type Claimed = { readonly policy_id: PolicyId }

/** Stream `policy_number-<id of organisation and digits>`: whoever writes to it first has the number, for ever. */
export const policyNumber: Decider<ClaimPolicyNumber, typeof policyNumberEvents, Claimed | undefined> = {
  category: 'policy_number',
  events: policyNumberEvents,
  initialState: undefined,
  decide: ({ type: _type, ...claim }, claimed): readonly PolicyNumberEvent[] => {
    if (!claimed) return [{ type: 'PolicyNumberClaimed', ...claim }]
    if (claimed.policy_id === claim.policy_id) return []
    throw new Rejection('conflict', 'This policy number is taken.')
  },
  evolve: (_claimed, { policy_id }) => ({ policy_id }),
}
