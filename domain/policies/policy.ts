import type { Decider } from '../decider.ts'
import { notFound } from '../rejection.ts'
import type { PolicyEvent } from './events.ts'
import { policyStreamEvents, type PolicyStreamEvent } from './record.ts'
import * as arrears from './arrears.ts'
import * as claims from '../claims/claims.ts'
import * as review from './review.ts'
import * as terms from './terms.ts'
import * as premiums from '../premiums/collect.ts'
import { settlePremium, type SettlePremium } from '../premiums/settle-premium.ts'
import { writeOffPremium, type WriteOffPremium } from '../premiums/write-off.ts'
import * as refunds from '../premiums/refunds.ts'
import { evolvePolicyState, type PolicyState } from './state.ts'
import { cancelPolicy, coolOff, type CancelPolicy, type CoolOff } from './cancel.ts'
import {
  activatePolicy,
  expirePolicy,
  recordPolicyUpdate,
  type ActivatePolicy,
  type ExpirePolicy,
  type RecordPolicyUpdate,
} from './life.ts'
import { indexPolicy, type IndexPolicy } from './indexation.ts'
import * as mandates from './mandate.ts'
import { setUpPolicy, type SetUpPolicy } from './set-up.ts'

type IssuedDocument = Omit<Extract<PolicyEvent, { type: 'PolicyDocumentIssued' }>, 'type'>

export type IssueDocuments = { readonly type: 'IssueDocuments'; readonly documents: readonly IssuedDocument[] }

export type PolicyCommand =
  | SetUpPolicy
  | IssueDocuments
  | ActivatePolicy
  | CancelPolicy
  | CoolOff
  | ExpirePolicy
  | mandates.RecordMandate
  | mandates.ChangeMandate
  | mandates.RecordMandateFailure
  | mandates.RequestMandate
  | RecordPolicyUpdate
  | premiums.CallPremium
  | premiums.RecordPremiumRequest
  | premiums.DelayPremium
  | SettlePremium
  | premiums.RetryPremium
  | WriteOffPremium
  | refunds.RefundPremium
  | refunds.DelayRefund
  | refunds.CloseRefund
  | refunds.RequestRefund
  | arrears.CheckArrears
  | arrears.SuspendPolicy
  | arrears.ReinstatePolicy
  | terms.AmendPolicy
  | terms.ReviewPolicy
  | review.CallReview
  | IndexPolicy
  | claims.OpenClaim
  | claims.DecideClaim

const decide = (command: PolicyCommand, state: PolicyState | undefined): readonly PolicyStreamEvent[] =>
  arrears.withConsequences(state, decided(command, state), 'now' in command ? command.now : (state?.updated_at ?? ''))

const decided = (command: PolicyCommand, state: PolicyState | undefined): readonly PolicyStreamEvent[] => {
  // The sale was decided once, on the application's stream: whoever comes second has nothing to add.
  if (command.type === 'SetUpPolicy') return state ? [] : setUpPolicy(command)
  if (command.type === 'RecordPolicyUpdate') return recordPolicyUpdate(command, state)
  if (!state) throw notFound('policy')
  switch (command.type) {
    case 'IssueDocuments':
      return issueDocuments(command, state)
    case 'ActivatePolicy':
      return activatePolicy(command, state)
    case 'CancelPolicy':
      return cancelPolicy(command, state)
    case 'CoolOff':
      return coolOff(command, state)
    case 'ExpirePolicy':
      return expirePolicy(command, state)
    case 'RecordMandate':
      return mandates.recordMandate(command, state)
    case 'ChangeMandate':
      return mandates.changeMandate(command, state)
    case 'RecordMandateFailure':
      return mandates.recordMandateFailure(command, state)
    case 'RequestMandate':
      return mandates.requestMandate(command, state)
    case 'CallPremium':
      return premiums.callPremium(command, state)
    case 'RecordPremiumRequest':
      return premiums.recordPremiumRequest(command, state)
    case 'DelayPremium':
      return premiums.delayPremium(command, state)
    case 'SettlePremium':
      return settlePremium(command, state)
    case 'RetryPremium':
      return premiums.retryPremium(command, state)
    case 'WriteOffPremium':
      return writeOffPremium(command, state)
    case 'RefundPremium':
      return refunds.refundPremium(command, state)
    case 'DelayRefund':
      return refunds.delayRefund(command, state)
    case 'RequestRefund':
      return refunds.requestRefund(command, state)
    case 'CloseRefund':
      return refunds.closeRefund(command, state)
    case 'CheckArrears':
      return arrears.checkArrears(command, state)
    case 'SuspendPolicy':
      return arrears.suspendPolicy(state)
    case 'ReinstatePolicy':
      return arrears.reinstatePolicy(command, state)
    case 'AmendPolicy':
      return terms.amendPolicy(command, state)
    case 'ReviewPolicy':
      return terms.reviewPolicy(command, state)
    case 'CallReview':
      return review.callReview(command, state)
    case 'IndexPolicy':
      return indexPolicy(command, state)
    case 'OpenClaim':
      return claims.openClaim(command, state)
    case 'DecideClaim':
      return claims.decideClaim(command, state)
  }
}

const issueDocuments = ({ documents }: IssueDocuments, policy: PolicyState): readonly PolicyEvent[] =>
  documents
    .filter(({ version_id }) => !policy.documents.some((issued) => issued.version_id === version_id))
    .map((document) => ({ type: 'PolicyDocumentIssued', ...document }))

export const policy: Decider<PolicyCommand, typeof policyStreamEvents, PolicyState | undefined> = {
  category: 'policy',
  events: policyStreamEvents,
  initialState: undefined,
  decide,
  evolve: evolvePolicyState,
}
