import { idOf, type RecordedEvent } from '#domain/event.ts'
import {
  outreachEvents,
  outreachPersonEvents,
  type OutreachEvent,
  type OutreachPersonEvent,
} from '#domain/outreach/events.ts'
import type { Row } from './row.ts'

const { OutreachJoined, OutreachRescheduled, OutreachMessageQueued, OutreachMessageSent } = outreachPersonEvents
const { OutreachSendingFailed, OutreachEngaged, OutreachEnded } = outreachPersonEvents
const { OutreachStreamChanged, OutreachStreamStarted, OutreachStreamPaused, OutreachStreamResumed } = outreachEvents
const { OutreachStreamReopened, OutreachStreamArchived, OutreachWorkCancelled } = outreachEvents
const { NewsletterIssueReleased, NewsletterIssueSkipped } = outreachEvents
const { OutreachDraftsReserved, OutreachDraftReleased, OutreachDraftCharged } = outreachEvents

const personDueEvents = {
  OutreachJoined,
  OutreachRescheduled,
  OutreachMessageQueued,
  OutreachMessageSent,
  OutreachSendingFailed,
  OutreachEngaged,
  OutreachEnded,
}
const streamDueEvents = {
  OutreachStreamChanged,
  OutreachStreamStarted,
  OutreachStreamPaused,
  OutreachStreamResumed,
  OutreachStreamReopened,
  OutreachStreamArchived,
  OutreachWorkCancelled,
  NewsletterIssueReleased,
  NewsletterIssueSkipped,
}
const draftDueEvents = { OutreachDraftsReserved, OutreachDraftReleased, OutreachDraftCharged }
export const outreachDueEvents = { ...personDueEvents, ...streamDueEvents, ...draftDueEvents }

type OfPerson = Extract<OutreachPersonEvent, { type: keyof typeof personDueEvents }>
type OfStream = Extract<OutreachEvent, { type: keyof typeof streamDueEvents }>
type OfDraft = Extract<OutreachEvent, { type: keyof typeof draftDueEvents }>
export type OutreachDueEvent = OfPerson | OfStream | OfDraft

export const isOfOutreach = (event: { readonly type: string }): event is OutreachDueEvent =>
  event.type in outreachDueEvents

/** A person's next message of a stream, the next issue of a newsletter, or calls of the writer that nobody hears the end of. */
export const outreachTimers = (
  event: OutreachDueEvent,
  { stream }: Pick<RecordedEvent, 'stream'>,
): readonly Pick<Row, 'kind' | 'id'>[] => {
  if (event.type === 'OutreachDraftsReserved')
    return event.drafts.map(({ call_id: id }) => ({ kind: 'outreach_draft', id }))
  if ('call_id' in event) return [{ kind: 'outreach_draft', id: event.call_id }]
  return [
    'member_id' in event
      ? { kind: 'outreach_next', id: event.member_id }
      : { kind: 'outreach_issue', id: idOf(stream) },
  ]
}

/** Longer than a call takes. */
const callMs = 10 * 60_000

/** When it is due from then on; null: not any more, undefined: as before. */
export const outreachDueTime = (event: OutreachDueEvent, occurred_at: string): string | null | undefined => {
  switch (event.type) {
    case 'OutreachDraftsReserved':
      return new Date(Date.parse(occurred_at) + callMs).toISOString()
    case 'OutreachDraftReleased':
    case 'OutreachDraftCharged':
      return null
    case 'OutreachJoined':
    case 'OutreachRescheduled':
    case 'OutreachEngaged':
      return event.next_at
    case 'OutreachMessageSent':
    case 'OutreachSendingFailed':
      return event.is_last ? event.next_at : undefined
    case 'OutreachMessageQueued':
    case 'OutreachEnded':
    case 'OutreachStreamPaused':
    case 'OutreachStreamArchived':
    case 'OutreachWorkCancelled':
      return null
    case 'OutreachStreamChanged':
    case 'OutreachStreamStarted':
    case 'OutreachStreamResumed':
    case 'OutreachStreamReopened':
    case 'NewsletterIssueReleased':
    case 'NewsletterIssueSkipped':
      return event.next_issue_at
  }
}
