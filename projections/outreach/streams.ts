import { idOf, organisationOf } from '#domain/event.ts'
import {
  outreachEvents,
  outreachPersonEvents,
  type OutreachEvent,
  type OutreachPersonEvent,
} from '#domain/outreach/events.ts'
import { evolveStream, noCounts, type OutreachStream, type StreamCounts } from '#domain/outreach/record.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly id: string
  readonly created_at: string
  readonly document: OutreachStream
  readonly counts: StreamCounts
}

const {
  OutreachSendsPermitted: _permitted,
  OutreachDraftsReserved: _reserved,
  OutreachDraftReleased: _released,
  ...streamEvents
} = outreachEvents
const { OutreachRescheduled: _rescheduled, OutreachEngaged: _engaged, ...personEvents } = outreachPersonEvents
const events = { ...streamEvents, ...personEvents }

type OfStream = Extract<OutreachEvent, { type: keyof typeof streamEvents }>
type OfPerson = Extract<OutreachPersonEvent, { type: keyof typeof personEvents }>

const isOfStream = (event: OfStream | OfPerson): event is OfStream => event.type in streamEvents

/** Every outreach stream, with what its people's events add up to. */
export const outreachStreams: Projection<typeof events, Row, 'organisation_id' | 'id'> = {
  name: 'outreach_streams',
  version: 3,
  categories: ['outreach', 'outreach_person'],
  events,
  sharesRows: true,
  table: {
    columns: { organisation_id: 'uuid', id: 'uuid', created_at: 'timestamptz', document: 'json', counts: 'json' },
    key: ['organisation_id', 'id'],
    indexes: ['organisation_id, created_at desc, id desc'],
  },

  keys: (event, recorded) => [
    {
      organisation_id: organisationOf(recorded),
      id: isOfStream(event) ? idOf(recorded.stream) : event.stream_id,
    },
  ],

  project: (row, event, { metadata }, key) => {
    if (!isOfStream(event)) return row && { ...row, counts: countedIn(row.counts, event) }
    const document = evolveStream(row?.document, event, metadata)
    if (!document) throw new Error(`${event.type} of outreach stream ${key.id}, which was never created.`)
    const counts = row?.counts ?? noCounts
    return { ...key, created_at: document.created_at, document, counts: countIssues(counts, event) }
  },
}

const countIssues = (counts: StreamCounts, event: OfStream): StreamCounts =>
  event.type === 'NewsletterIssueReleased' ? { ...counts, issues_sent: counts.issues_sent + 1 } : counts

type Added = Partial<Record<Exclude<keyof StreamCounts, 'outcomes'>, number>>

const countedIn = (counts: StreamCounts, event: OfPerson): StreamCounts => {
  if (event.type === 'OutreachOutcomeCounted') {
    const { outcomes } = counts
    return { ...counts, outcomes: { ...outcomes, [event.outcome]: outcomes[event.outcome] + 1 } }
  }
  const added = Object.entries(addedBy(event)) as [keyof Added, number][] // as addedBy returns them
  return { ...counts, ...Object.fromEntries(added.map(([name, more]) => [name, counts[name] + more])) }
}

const addedBy = (event: Exclude<OfPerson, { type: 'OutreachOutcomeCounted' }>): Added => {
  switch (event.type) {
    case 'OutreachJoined':
      return {
        ...(event.was_refused ? { analysed: -1, skipped: -1 } : { rows: 1 }),
        ...(event.subscribes && { subscribed: 1 }),
      }
    case 'OutreachJoinRefused':
      return { rows: 1, analysed: 1, skipped: 1 }
    case 'OutreachMessageQueued':
    case 'OutreachMessageDrafted': {
      const isWritten = event.waits_for !== 'draft'
      return {
        ...(isWritten && event.is_first && { analysed: 1 }),
        ...(event.waits_for === 'approval' && { awaiting_approval: 1 }),
      }
    }
    case 'OutreachMessageApproved':
      return { awaiting_approval: -1 }
    case 'OutreachMessageDiscarded':
      return event.was_awaiting ? { awaiting_approval: -1 } : {}
    case 'OutreachDraftFailed':
      return event.retry_at === null ? { errored: 1 } : {}
    case 'OutreachMessageSent':
      return { sent: 1 }
    case 'OutreachSendingFailed':
      return event.is_errored ? { errored: 1 } : {}
    case 'OutreachMessageUndelivered':
      return event.goes_on ? {} : { errored: 1 }
    case 'OutreachMessageSkipped':
      return event.is_person_skipped ? { skipped: 1, ...(event.was_unwritten && { analysed: 1 }) } : {}
    case 'OutreachSurveyAnswered':
      return event.is_first ? { survey_answered: 1 } : {}
    case 'OutreachEnded':
      return {
        ...(event.was_subscribed && { subscribed: -1 }),
        awaiting_approval: -event.dropped.filter(({ waits_for }) => waits_for === 'approval').length,
      }
    case 'OutreachMessageEdited':
    case 'OutreachSendingBegun':
      return {}
  }
}
