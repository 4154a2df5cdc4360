import { idOf, organisationOf } from '#domain/event.ts'
import {
  outreachEvents,
  outreachPersonEvents,
  type OutreachEvent,
  type OutreachPersonEvent,
} from '#domain/outreach/events.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly stream_id: string
  /** Of the message; of what concerns everybody in the stream, such as an issue that is to be given to them, of the stream. */
  readonly id: string
  readonly step: 'draft' | 'sending' | 'issue' | 'reminders'
  readonly due_at: string
  readonly contact_id: string | null
  /** Of the issue, or of the change of when reminders are due. */
  readonly issue: number | null
  /** Of the event that it comes from. */
  readonly position: string
}

const {
  OutreachMessageQueued,
  OutreachMessageDrafted,
  OutreachDraftFailed,
  OutreachMessageApproved,
  OutreachMessageDiscarded,
  OutreachMessageSent,
  OutreachSendingFailed,
  OutreachMessageUndelivered,
  OutreachMessageSkipped,
  OutreachEnded,
} = outreachPersonEvents
const { NewsletterIssueReleased, NewsletterIssueHandedOut } = outreachEvents
const { OutreachRemindersToMove, OutreachRemindersMoved } = outreachEvents
const events = {
  OutreachMessageQueued,
  OutreachMessageDrafted,
  OutreachDraftFailed,
  OutreachMessageApproved,
  OutreachMessageDiscarded,
  OutreachMessageSent,
  OutreachSendingFailed,
  OutreachMessageUndelivered,
  OutreachMessageSkipped,
  OutreachEnded,
  NewsletterIssueReleased,
  NewsletterIssueHandedOut,
  OutreachRemindersToMove,
  OutreachRemindersMoved,
}
type QueueEvent = Extract<OutreachEvent | OutreachPersonEvent, { type: keyof typeof events }>

const isOfStream = (event: QueueEvent) =>
  event.type === 'NewsletterIssueReleased' ||
  event.type === 'NewsletterIssueHandedOut' ||
  event.type === 'OutreachRemindersToMove' ||
  event.type === 'OutreachRemindersMoved'

/** The present work of outreach streams: drafts to be written, messages to be sent, issues to be handed out. */
export const outreachQueue: Projection<typeof events, Row, 'organisation_id' | 'stream_id' | 'id'> = {
  name: 'outreach_queue',
  version: 3,
  categories: ['outreach', 'outreach_person'],
  events,
  awaited: 'never',
  table: {
    columns: {
      organisation_id: 'uuid',
      stream_id: 'uuid',
      id: 'uuid',
      step: 'text',
      due_at: 'timestamptz',
      contact_id: 'uuid',
      issue: 'integer',
      position: 'text',
    },
    key: ['organisation_id', 'stream_id', 'id'],
    indexes: ['organisation_id, stream_id, step, due_at, id'],
  },

  keys: (event, recorded) => {
    const place = { organisation_id: organisationOf(recorded), stream_id: event.stream_id }
    if (isOfStream(event)) return [{ ...place, id: event.stream_id }]
    const ids = event.type === 'OutreachEnded' ? event.dropped.map(({ message_id }) => message_id) : [event.message_id]
    return ids.map((id) => ({ ...place, id }))
  },

  project: (row, event, { stream, position, metadata: { occurred_at } }, key) => {
    const queued = (step: Row['step'], due_at = occurred_at): Row => ({
      ...key,
      step,
      due_at,
      contact_id: idOf(stream),
      issue: null,
      position,
    })
    switch (event.type) {
      case 'OutreachMessageQueued':
      case 'OutreachMessageDrafted':
        return event.waits_for === 'approval' ? undefined : queued(event.waits_for)
      case 'OutreachDraftFailed':
        return event.retry_at === null ? undefined : queued('draft', event.retry_at)
      case 'OutreachMessageApproved':
        return queued('sending')
      case 'OutreachMessageSent':
        return event.is_last ? undefined : row
      case 'OutreachSendingFailed':
        return event.is_last ? undefined : queued('sending', event.retry_at ?? occurred_at)
      case 'OutreachMessageUndelivered':
        return event.goes_on ? queued('sending') : row
      case 'OutreachMessageDiscarded':
      case 'OutreachMessageSkipped':
      case 'OutreachEnded':
        return undefined
      case 'NewsletterIssueReleased':
        return { ...key, step: 'issue', due_at: occurred_at, contact_id: null, issue: event.issue, position }
      case 'NewsletterIssueHandedOut':
        return row && row.issue !== null && row.issue > event.issue ? row : undefined
      case 'OutreachRemindersToMove':
        return { ...key, step: 'reminders', due_at: occurred_at, contact_id: null, issue: event.timing, position }
      case 'OutreachRemindersMoved':
        return row && row.issue !== null && row.issue > event.timing ? row : undefined
    }
  },
}
