import type { customerEvents, identityEvents } from '#domain/customers/events.ts'
import type { erasureEvents } from '#domain/erasures/events.ts'
import type { ingestEvents } from '#domain/ingests/events.ts'
import type { leadEvents } from '#domain/leads/events.ts'
import type { messageNewsEvents } from '#domain/message-news/events.ts'
import type { outcomeEvents, outcomeReportEvents } from '#domain/outcomes/events.ts'
import type { outreachPersonEvents } from '#domain/outreach/events.ts'
import { day, words, type Sentences } from './sentence.ts'

export const customerSentences: Sentences<typeof customerEvents & typeof identityEvents> = {
  CustomerCreated: () => 'The person became known by an application.',
  CustomerUpdated: () => 'The person’s details were changed.',
  CustomerValuesProposed: () => 'A web page gave details that differ from those held: they wait for the team.',
  CustomerSentIn: () => 'The person became known by a lead that was sent in.',
  CustomerDetailsFilled: ({ ingest_id }) =>
    ingest_id === null
      ? 'The team accepted proposed details.'
      : 'Details that were missing were filled in from a lead.',
  CustomerDetailsProposed: () => 'A lead gave details that differ from those held: they wait for the team.',
  CustomerProposalsSettled: ({ fields }) => `The team judged proposed details: ${fields.join(', ')}.`,
  CustomerConsentRecorded: ({ entries, source }) =>
    `Consent was recorded by ${words(source.type)}: ${entries.map(({ purpose, channel, state }) => `${purpose} by ${channel}: ${state}`).join('; ')}.`,
  CustomerDetailVerified: ({ detail }) => `The ${words(detail)} was confirmed as theirs.`,
  CustomerVerificationWithdrawn: ({ detail }) => `That the ${words(detail)} is theirs was taken back.`,
  IdentityClaimed: ({ kind }) => `The ${words(kind)} belongs to one person from now on.`,
}

export const leadSentences: Sentences<typeof leadEvents> = {
  LeadCreated: ({ source }) => `The lead arrived from ${source}.`,
  LeadSentAgain: () => 'The person was sent in again.',
  LeadFactsRecorded: ({ keys }) => `Facts were recorded: ${keys.join(', ')}.`,
  LeadFactsProposed: () => 'Facts that differ from those held wait for the team.',
  LeadProposalsSettled: ({ keys }) => `The team judged proposed facts: ${keys.join(', ')}.`,
  LeadStageChanged: ({ from, to }) => `The stage changed from ${from.key} to ${to.key}.`,
  LeadOwnerAssigned: ({ to }) => (to === null ? 'The lead has no owner any more.' : 'The lead was given to an owner.'),
  LeadStatusChanged: ({ from, to }) => `The status changed from ${words(from)} to ${words(to)}.`,
  LeadOutcomeReasonSet: () => 'A reason was given for the outcome.',
  LeadVulnerabilityFlagged: ({ flagged }) =>
    flagged ? 'The person was marked as vulnerable.' : 'The person is not marked as vulnerable any more.',
  LeadNextActionSet: () => 'The next action was changed.',
  LeadNextActionFellDue: () => 'The next action fell due.',
  LeadFirstContactOverdue: ({ minutes_overdue }) => `Nobody had contacted them: ${minutes_overdue} minutes overdue.`,
  LeadScored: ({ score, grade }) => `The lead scored ${score}, grade ${grade}.`,
  LeadTpsScreened: ({ status }) => `The number was screened with the TPS: ${words(status)}.`,
  LeadTpsScreeningPlanned: () => 'The number is to be screened with the TPS.',
  LeadTaskAdded: () => 'A task was added.',
  LeadTaskCompleted: () => 'A task was done.',
  LeadSnoozed: ({ snoozed_until }) => `The lead was put off until ${day(snoozed_until)}.`,
  LeadSnoozeEnded: () => 'The lead is no longer put off.',
  LeadMarked: () => 'Marks of the lead were changed.',
  LeadRunByHand: () => 'Somebody ran a workflow by hand.',
  ContactDetailsChanged: ({ changed }) => `Contact details changed: ${changed.map(words).join(', ')}.`,
  LeadActivityRecorded: ({ kind }) => `On the timeline: ${words(kind)}.`,
}

export const ingestSentences: Sentences<typeof ingestEvents> = {
  IngestReceived: ({ source }) => `It was received from ${source}.`,
  IngestKeyUsed: () => 'Its Idempotency-Key had come with another lead, for which it stands.',
  IngestResolutionStarted: ({ attempt }) => `Its person is looked for, attempt ${attempt}.`,
  IngestHeld: () => 'It is held: it does not meet the rules.',
  IngestReviewNeeded: ({ reason }) => `It waits for the team: ${words(reason)}.`,
  IngestDiscarded: ({ reason }) => `It was discarded: ${words(reason)}.`,
  IngestAccepted: () => 'The team accepted it although it does not meet the rules.',
  IngestPersonPicked: ({ contact_id }) =>
    contact_id === null ? 'The team says that it is about somebody new.' : 'The team says whom it is about.',
  IngestResolved: ({ matched_by }) => `Its person was found, by ${words(matched_by)}.`,
  IngestDeferred: ({ step, attempt, retry_after }) =>
    `Attempt ${attempt} of the step ${words(step)} failed; the next is on ${day(retry_after)}.`,
  IngestRetried: ({ step, attempt }) => `Attempt ${attempt} of the step ${words(step)} was begun.`,
  IngestFailed: ({ step }) => `It failed at the step ${words(step)}.`,
  IngestApplied: ({ facts_written }) => `What it says was written: ${facts_written} facts.`,
}

export const outcomeSentences: Sentences<typeof outcomeEvents & typeof outcomeReportEvents> = {
  OutcomeReported: ({ held }) =>
    held === null ? 'An outcome was reported.' : `An outcome was reported and is held: ${words(held)}.`,
  InvalidOutcomeReported: () => 'An outcome was reported that cannot be used.',
  MatchedOutcomeHeld: () => 'An outcome whose person is known is held.',
  HeldOutcomeCorrected: () => 'The team corrected the outcome.',
  HeldOutcomeMatched: () => 'The team said whom the outcome is about.',
  HeldOutcomeDiscarded: () => 'The team discarded the outcome.',
  OutcomeRecorded: ({ outcome_type }) => `An outcome was recorded: ${words(outcome_type)}.`,
  OutcomeReversed: ({ outcome_type }) => `An outcome was reversed: ${words(outcome_type)}.`,
  OutcomesShown: () => 'Outcomes are shown to more API applications.',
}

export const erasureSentences: Sentences<typeof erasureEvents> = {
  PersonErasureRequested: () => 'The erasure of the person was asked for.',
  PersonErasureGivenUp: ({ because }) => `The person is kept for now: ${because}`,
  PersonErased: ({ streams }) => `The person was erased from ${streams.length} records.`,
}

export const messageNewsSentences: Sentences<typeof messageNewsEvents> = {
  MessageNewsReceived: ({ kind, channel }) => `The message gateway reported by ${channel}: ${words(kind)}.`,
}

export const outreachPersonSentences: Sentences<typeof outreachPersonEvents> = {
  OutreachJoined: () => 'The person joined an outreach stream.',
  OutreachJoinRefused: ({ reason }) => `The person did not join an outreach stream: ${words(reason)}.`,
  OutreachRescheduled: () => 'The next message is due at another time.',
  OutreachMessageQueued: ({ role }) => `A message is to be written (${words(role)}).`,
  OutreachMessageDrafted: () => 'A message was drafted.',
  OutreachDraftFailed: () => 'A message could not be drafted.',
  OutreachMessageEdited: () => 'The team edited a message.',
  OutreachMessageApproved: () => 'The team approved a message.',
  OutreachMessageDiscarded: () => 'The team discarded a message.',
  OutreachSendingBegun: ({ channel }) => `A message by ${channel} is being sent.`,
  OutreachMessageSent: ({ channel }) => `A message was sent by ${channel}.`,
  OutreachSendingFailed: ({ channel }) => `A message by ${channel} could not be sent.`,
  OutreachMessageUndelivered: ({ channel }) => `A message by ${channel} was not delivered.`,
  OutreachMessageSkipped: ({ reason }) => `A message was left out: ${words(reason)}.`,
  OutreachEngaged: ({ by }) => `The person answered, by ${words(by)}.`,
  OutreachOutcomeCounted: ({ outcome }) => `The outcome of the stream was counted: ${words(outcome)}.`,
  OutreachSurveyAnswered: () => 'The person answered the survey.',
  OutreachEnded: ({ reason }) => `The outreach stream ended for the person: ${words(reason)}.`,
}
