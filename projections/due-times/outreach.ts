import { idOf, type RecordedEvent } from '#domain/event.ts'
import {
  outreachEvents,
  outreachPersonEvents,
  type OutreachEvent,
  type OutreachPersonEvent,
} from '#domain/outreach/events.ts'

const { OutreachJoined, OutreachRescheduled, OutreachMessageQueued, OutreachMessageSent } = outreachPersonEvents
const { OutreachSendingFailed, OutreachEngaged, OutreachEnded } = outreachPersonEvents
const { OutreachStreamChanged, OutreachStreamStarted, OutreachStreamPaused, OutreachStreamResumed } = outreachEvents
const { OutreachStreamReopened, OutreachStreamArchived } = outreachEvents
const { NewsletterIssueReleased, NewsletterIssueSkipped } = outreachEvents

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
  NewsletterIssueReleased,
  NewsletterIssueSkipped,
}
export const outreachDueEvents = { ...personDueEvents, ...streamDueEvents }

type OfPerson = Extract<OutreachPersonEvent, { type: keyof typeof personDueEvents }>
export type OutreachDueEvent = OfPerson | Extract<OutreachEvent, { type: keyof typeof streamDueEvents }>

export const isOfOutreach = (event: { readonly type: string }): event is OutreachDueEvent =>
  event.type in outreachDueEvents

/** A person's next message of a stream, or the next issue of a newsletter. */
export const outreachTimer = (event: OutreachDueEvent, { stream }: Pick<RecordedEvent, 'stream'>) =>
  'member_id' in event ? { kind: 'outreach_next', id: event.member_id } : { kind: 'outreach_issue', id: idOf(stream) }

/** When it is due from then on; null: not any more, undefined: as before. */
export const outreachDueTime = (event: OutreachDueEvent): string | null | undefined => {
  switch (event.type) {
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
