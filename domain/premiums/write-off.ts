import { Rejection } from '../rejection.ts'
import type { PolicyState } from '../policies/state.ts'
import type { PremiumId, WriteOffReason } from './events.ts'
import type { Premium } from './record.ts'
import { about, noteOf, premiumOf } from './premium-of.ts'
import { isOwed } from './refund-record.ts'
import { waived } from './refunds.ts'
import type { Decision } from './sums.ts'

/** The operator's act; or sent when a policy has ended, and the provider was never asked for a premium that is due. */
export type WriteOffPremium = {
  readonly type: 'WriteOffPremium'
  readonly premium_id: PremiumId
  readonly reason: WriteOffReason
  readonly note?: string
}

type WhyWrittenOff = Pick<WriteOffPremium, 'reason' | 'note'>

export const writtenOff = (premium: Premium, { reason, ...said }: WhyWrittenOff = { reason: 'policy_ended' }) =>
  ({ type: 'PremiumWrittenOff', ...about(premium), attempt: premium.attempt, reason, ...noteOf(said) }) as const

/** A premium given up, such as one that the payer's bank took back, has no refund to be made either. */
const giveUp = (policy: PolicyState, premium: Premium, why?: WhyWrittenOff): Decision => [
  writtenOff(premium, why),
  ...premium.refunds.filter(isOwed).map((refund) => waived(policy, premium, refund)),
]

export const writeOffPremium = (command: WriteOffPremium, policy: PolicyState): Decision => {
  const { premium_id, reason } = command
  const premium = premiumOf(policy, premium_id)
  const { status } = premium
  if (status === 'written_off') return []
  // Whoever has looked whether the provider was asked may have been overtaken by an answer, or a dispute that was won.
  if (reason === 'policy_ended') return status === 'due' || status === 'failed' ? giveUp(policy, premium, command) : []
  if (status === 'collected') throw new Rejection('conflict', 'This premium was collected. Refund it instead.')
  if (status !== 'failed' && !cannotBeAsked(premium)) throw underWay()
  return giveUp(policy, premium, command)
}

/** Nobody can ask the provider, or be told by it: waiting may have no end. What comes all the same is recorded then. */
const cannotBeAsked = ({ failure_code, delays }: Premium): boolean =>
  delays > 0 &&
  failure_code !== null &&
  ['mandate_pending', 'no_account', 'account_unusable', 'resource_missing'].includes(failure_code)

const underWay = () => new Rejection('conflict', 'This premium is being collected. Wait until the banks have answered.')

/**
 * Writes off open premiums once a policy has ended. One that may be with the provider already is waited for; a card is given
 * back by its application.
 */
export const writeOffOpen = (policy: PolicyState): Decision =>
  policy.premiums
    .filter(
      ({ status, method, attempt }) => status === 'failed' || (status === 'due' && method === 'card' && attempt === 1),
    )
    .flatMap((each) => giveUp(policy, each))
