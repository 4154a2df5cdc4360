import type { claimEvents } from '#domain/claims/events.ts'
import type { memberReferenceEvents, membershipEvents, programmeEvents } from '#domain/loyalty/events.ts'
import type { policyEvents, policyNumberEvents } from '#domain/policies/events.ts'
import type { premiumEvents } from '#domain/premiums/events.ts'
import { day, words, type Sentences } from './sentence.ts'

export const policySentences: Sentences<typeof policyEvents & typeof policyNumberEvents> = {
  PolicyNumberClaimed: ({ policy_number }) => `The number ${policy_number} was given to the policy.`,
  PolicyBound: ({ policy_number, premium_pence, start_date }, money) =>
    `The policy ${policy_number} was set up from ${start_date}, for ${money(premium_pence)} a month.`,
  PolicyPartnerRecorded: () => 'The second person of the policy was recorded.',
  PolicyDocumentIssued: ({ kind }) => `A document was issued: ${words(kind)}.`,
  PolicyMandateRecorded: ({ status }) => `A Direct Debit mandate was recorded (${words(status)}).`,
  PolicyMandateChanged: ({ status }) => `The Direct Debit mandate is ${words(status)} now.`,
  PolicyMandateDelayed: ({ attempt, failure_code }) =>
    `Attempt ${attempt} to make the Direct Debit mandate failed: ${failure_code}.`,
  PolicyMandateRefused: ({ failure_code }) => `The Direct Debit mandate was refused: ${failure_code}.`,
  PolicyMandateRequested: () => 'The Direct Debit mandate was asked for again.',
  PolicyActivated: ({ start_date }) => `Cover began on ${start_date}.`,
  PolicyAmended: ({ premium_pence }, money) =>
    `The policy was amended: the premium is ${money(premium_pence)} a month now.`,
  PolicyCoverEnded: ({ cover_indexes, premium_pence }, money) =>
    `${cover_indexes.length} of the covers ended: the premium is ${money(premium_pence)} a month now.`,
  PolicyIndexed: ({ index_on, premium_pence }, money) =>
    `Cover and premium were indexed on ${index_on}: ${money(premium_pence)} a month.`,
  PolicyIndexationDelayed: ({ index_on }) => `The indexation of ${index_on} waits for the figure of the year.`,
  PolicyReviewDue: ({ review_on, reason }) => `The review of ${review_on} is for the team: ${words(reason)}.`,
  PolicyReviewed: ({ premium_pence }, money) => `The premium was reviewed: ${money(premium_pence)} a month.`,
  PolicyReviewPriced: ({ review_on }) => `The price at the review of ${review_on} was worked out.`,
  PolicyEndedByClaim: ({ ended_on }) => `A claim ended the policy on ${ended_on}.`,
  PolicySuspended: ({ reason }) => `The policy was suspended: ${words(reason)}.`,
  PolicyReinstated: ({ from }) => `The policy was reinstated: it had been ${from}.`,
  PolicyLapsed: ({ lapsed_on, overdue_pence }, money) =>
    `The policy lapsed on ${lapsed_on} with ${money(overdue_pence)} overdue.`,
  ArrearsChanged: ({ overdue_pence }, money) =>
    overdue_pence === 0 ? 'Nothing is overdue any more.' : `${money(overdue_pence)} are overdue.`,
  PolicyCancelled: ({ effective_on, reason, refund_pence }, money) =>
    `The policy was cancelled from ${effective_on}: ${words(reason)}; ${money(refund_pence)} are refunded.`,
  PolicyExpired: ({ end_date }) => `The policy came to its end on ${end_date}.`,
  PolicyUpdated: ({ update_type }) => `Another system updated the policy: ${update_type}.`,
}

export const premiumSentences: Sentences<typeof premiumEvents> = {
  PremiumDue: ({ amount_pence, due_on }, money) => `A premium of ${money(amount_pence)} fell due on ${due_on}.`,
  PremiumRequested: ({ attempt, amount_pence }, money) =>
    `Attempt ${attempt} to collect ${money(amount_pence)} was begun.`,
  PremiumDelayed: ({ attempt, failure_code }) => `Attempt ${attempt} could not be begun: ${failure_code}.`,
  PremiumCollected: ({ amount_pence }, money) => `${money(amount_pence)} were collected.`,
  PremiumFailed: ({ failure_code }) => `The premium was not paid: ${failure_code}.`,
  PremiumRetried: ({ attempt }) => `The premium is collected again, as attempt ${attempt}.`,
  PremiumReinstated: () => 'The premium counts as paid again.',
  PremiumTakenBack: ({ disputed_on }) => `The payer’s bank took the premium back on ${disputed_on}.`,
  PremiumPaymentsChanged: () => 'Which payments stand for the premium was changed.',
  PremiumWrittenOff: ({ amount_pence, reason }, money) => `${money(amount_pence)} were written off: ${words(reason)}.`,
  PremiumRefundOwed: ({ refund_pence, reason }, money) =>
    `A refund of ${money(refund_pence)} is owed: ${words(reason)}.`,
  PremiumRefundReduced: ({ refund_pence }, money) => `The refund was reduced to ${money(refund_pence)}.`,
  PremiumRefunded: ({ refund_pence }, money) => `${money(refund_pence)} were refunded.`,
  PremiumRefundDelayed: ({ attempt, failure_code }) => `Attempt ${attempt} to refund failed: ${failure_code}.`,
  PremiumRefundFailed: ({ refund_pence, failure_code }, money) =>
    `The refund of ${money(refund_pence)} failed: ${failure_code}.`,
  PremiumRefundRequested: () => 'The refund was asked for again.',
  PremiumRefundPaidOtherwise: ({ refund_pence, paid_on }, money) =>
    `${money(refund_pence)} were refunded in another way on ${paid_on}.`,
  PremiumRefundWaived: ({ refund_pence, why }, money) =>
    `The refund of ${money(refund_pence)} is not made: ${words(why)}.`,
}

export const claimSentences: Sentences<typeof claimEvents> = {
  ClaimOpened: ({ amount_pence, happened_on }, money) =>
    `A claim of ${money(amount_pence)} was opened for what happened on ${happened_on}.`,
  ClaimEvidenceRequested: () => 'Evidence for the claim was asked for.',
  ClaimApproved: ({ amount_pence }, money) => `The claim was approved: ${money(amount_pence)}.`,
  ClaimDeclined: () => 'The claim was declined.',
  ClaimPaid: ({ amount_pence, paid_on }, money) => `${money(amount_pence)} were paid for the claim on ${paid_on}.`,
  ClaimClosed: () => 'The claim was closed.',
  ClaimReopened: () => 'The claim was opened again.',
}

export const loyaltySentences: Sentences<
  typeof programmeEvents & typeof membershipEvents & typeof memberReferenceEvents
> = {
  ProgrammeCreated: ({ slug }) => `The loyalty programme ${slug} was created.`,
  ProgrammeChanged: () => 'The loyalty programme was changed.',
  MembershipEnrolled: ({ policy_number }) => `The holder of policy ${policy_number} was enrolled.`,
  MemberReferenceRecorded: () => 'The partner’s reference of the member was recorded.',
  MembershipConfirmed: ({ confirmed_on }) => `The membership was confirmed on ${confirmed_on}.`,
  MembershipSuspended: () => 'The membership was suspended.',
  MembershipReinstated: () => 'The membership was reinstated.',
  MembershipCancelled: () => 'The membership was cancelled.',
  PointsAwarded: ({ points }) => `${points} points were awarded.`,
  PointsAdjusted: ({ points }) => `The points were adjusted by ${points}.`,
  TierAsserted: ({ tier_key }) => `The tier is ${tier_key}.`,
  CycleStarted: ({ cycle_over_at }) => `A new cycle began, until ${day(cycle_over_at)}.`,
  MemberReferenceClaimed: () => 'The reference was given to the membership.',
}
