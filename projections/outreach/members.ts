import { idOf, organisationOf } from '#domain/event.ts'
import { outreachPersonEvents } from '#domain/outreach/events.ts'
import type { ShownMember } from '#domain/outreach/record.ts'
import type { Projection } from '../projection.ts'

type Row = {
  readonly organisation_id: string
  readonly stream_id: string
  readonly contact_id: string
  readonly joined_at: string
  readonly subscribes: boolean
  /** The last issue of a newsletter that they were given, or that was out when they joined. */
  readonly last_issue: number
  readonly document: ShownMember
}

const {
  OutreachJoined,
  OutreachJoinRefused,
  OutreachRescheduled,
  OutreachMessageQueued,
  OutreachMessageSent,
  OutreachEngaged,
  OutreachOutcomeCounted,
  OutreachSurveyAnswered,
  OutreachEnded,
} = outreachPersonEvents
const events = {
  OutreachJoined,
  OutreachJoinRefused,
  OutreachRescheduled,
  OutreachMessageQueued,
  OutreachMessageSent,
  OutreachEngaged,
  OutreachOutcomeCounted,
  OutreachSurveyAnswered,
  OutreachEnded,
}

/** Every person of every outreach stream. */
export const outreachMembers: Projection<typeof events, Row, 'organisation_id' | 'stream_id' | 'contact_id'> = {
  name: 'outreach_members',
  version: 1,
  categories: ['outreach_person'],
  events,
  table: {
    columns: {
      organisation_id: 'uuid',
      stream_id: 'uuid',
      contact_id: 'uuid',
      joined_at: 'timestamptz',
      subscribes: 'boolean',
      last_issue: 'integer',
      document: 'json',
    },
    key: ['organisation_id', 'stream_id', 'contact_id'],
    indexes: [
      'organisation_id, stream_id, joined_at desc, contact_id desc',
      'organisation_id, stream_id, subscribes, last_issue',
    ],
  },

  keys: ({ stream_id }, recorded) => [
    { organisation_id: organisationOf(recorded), stream_id, contact_id: idOf(recorded.stream) },
  ],

  project: (row, event, { metadata: { occurred_at } }, key) => {
    if (event.type === 'OutreachJoined' || event.type === 'OutreachJoinRefused') {
      const isIn = event.type === 'OutreachJoined'
      const { contact_id } = event
      const document: ShownMember = {
        contact_id,
        state: isIn ? 'in' : 'refused',
        reason: isIn ? null : event.reason,
        joined_at: occurred_at,
        next_at: isIn ? event.next_at : null,
        sent_count: 0,
        last_sent_at: null,
        engaged_at: null,
        outcomes: [],
        survey_answer: null,
        survey_follow_up_answer: null,
      }
      const joined = isIn ? { subscribes: event.subscribes, last_issue: event.last_issue } : notSubscribed
      return { ...key, joined_at: occurred_at, ...joined, document }
    }
    if (!row) return undefined
    const { document } = row
    switch (event.type) {
      case 'OutreachRescheduled':
        return { ...row, document: { ...document, next_at: event.next_at } }
      case 'OutreachMessageQueued':
        return {
          ...row,
          last_issue: event.role === 'issue' ? event.number : row.last_issue,
          document: { ...document, next_at: null },
        }
      case 'OutreachMessageSent': {
        const sent = { sent_count: document.sent_count + 1, last_sent_at: occurred_at }
        return { ...row, document: { ...document, ...sent, next_at: event.is_last ? event.next_at : document.next_at } }
      }
      case 'OutreachEngaged':
        return { ...row, document: { ...document, engaged_at: occurred_at, next_at: event.next_at } }
      case 'OutreachOutcomeCounted':
        return { ...row, document: { ...document, outcomes: [...document.outcomes, event.outcome] } }
      case 'OutreachSurveyAnswered': {
        const { answer: survey_answer, follow_up_answer: survey_follow_up_answer } = event
        return { ...row, document: { ...document, survey_answer, survey_follow_up_answer } }
      }
      case 'OutreachEnded':
        return {
          ...row,
          subscribes: false,
          document: { ...document, state: 'ended', reason: event.reason, next_at: null },
        }
    }
  },
}

const notSubscribed = { subscribes: false, last_issue: 0 }
