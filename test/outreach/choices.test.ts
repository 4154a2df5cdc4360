import { describe, expect, test } from 'vitest'
import { choiceFaults } from '#domain/outreach/choice-faults.ts'
import type { OutreachEvent, StreamChoices } from '#domain/outreach/events.ts'
import { filledIn } from '#domain/outreach/message-text.ts'
import { noCounts, noSettings, renderStream, type OutreachStream } from '#domain/outreach/record.ts'
import { outreachSettings } from '#domain/outreach/settings.ts'
import { answerFault } from '#domain/outreach/survey.ts'
import { startedStream, streamCreated } from './builders.ts'

const { organisation_id, stream_id } = streamCreated
const schedule = { cadence: 'weekly', weekday: 1, starts_on: '2026-01-01' } as const
const survey = { question: 'Why?', question_key: 'why', answer_type: 'nps', follow_up_question: null } as const
const timed = { send_at_local_time: '09:00' }
/** What each kind needs beside what all have. */
const needs: Readonly<Record<OutreachStream['kind'], Partial<StreamChoices>>> = {
  mailshot: {},
  conversation: {},
  sequence: {},
  reminder: { ...timed, offset_days: -7, date_field: 'renewal_on' },
  newsletter: { ...timed, schedule, skip_if_unchanged: false },
  survey: { survey },
}
const kinds = Object.keys(needs) as OutreachStream['kind'][]
const plain = { schedule: null, skip_if_unchanged: null, survey: null }
const faultsOf = (kind: OutreachStream['kind'], changes: Partial<StreamChoices> = {}) =>
  Object.keys(choiceFaults(kind, { ...startedStream(plain), ...needs[kind], ...changes }))

describe('the choices of a stream', () => {
  test.each(kinds)('a %s has what it needs', (kind) => {
    expect(faultsOf(kind)).toEqual([])
  })
  test.each<readonly [OutreachStream['kind'], string]>([
    ['reminder', 'send_at_local_time'],
    ['reminder', 'offset_days'],
    ['reminder', 'date_field'],
    ['newsletter', 'send_at_local_time'],
    ['newsletter', 'schedule'],
    ['newsletter', 'skip_if_unchanged'],
    ['survey', 'survey'],
  ])('a %s without %s is refused', (kind, field) => {
    expect(faultsOf(kind, { [field]: null })).toEqual([field])
  })
  test.each<readonly [string, Partial<StreamChoices>]>([
    ['send_at_local_time', timed],
    ['offset_days', { offset_days: 1 }],
    ['date_column', { date_column: 'renewal' }],
    ['date_field', { date_field: 'renewal_on' }],
    ['schedule', { schedule }],
    ['skip_if_unchanged', { skip_if_unchanged: true }],
    ['survey', { survey }],
  ])('%s has no place in a mailshot', (field, changes) => {
    expect(faultsOf('mailshot', changes)).toEqual([field])
  })
  test.each<readonly [OutreachStream['kind'], string, Partial<StreamChoices>]>([
    ['reminder', 'date_field', { date_column: 'renewal' }],
    ['mailshot', 'channels', { channels: [] }],
    ['mailshot', 'channels', { channels: ['sms', 'sms'] }],
    ['mailshot', 'texts', { texts: [] }],
    ['mailshot', 'texts', { texts: [1, 2].map(() => ({ after_days: 0, subject: 'Hello', body: 'Hello' })) }],
    ['mailshot', 'texts[0].subject', { texts: [{ after_days: 0, subject: null, body: 'Hello' }] }],
    ['mailshot', 'follow_up', { follow_up_after_days: 2 }],
    ['newsletter', 'follow_up_after_days', { follow_up_after_days: 2, follow_up: { subject: 'A', body: 'B' } }],
    ['mailshot', 'landing_url', { landing_url: 'javascript:alert(1)' }],
  ])('a %s with unusable %s is refused: %j', (kind, field, changes) => {
    expect(faultsOf(kind, changes)).toEqual([field])
  })
  test('a subject is not needed for a text message, nor of what is drafted', () => {
    const texts = [{ after_days: 0, subject: null, body: 'Hello' }]
    expect(faultsOf('mailshot', { texts, channels: ['sms'] })).toEqual([])
    expect(faultsOf('mailshot', { texts, message_mode: 'drafted' })).toEqual([])
  })
})

describe('a stream as the firm reads it', () => {
  const shown = (kind: OutreachStream['kind'], since: readonly OutreachEvent[] = []) =>
    renderStream(startedStream({ ...plain, ...needs[kind] }, kind, since), noCounts)

  test('counts of a newsletter and of a survey are null for other kinds', () => {
    const counts = (kind: OutreachStream['kind']) => {
      const { issues_sent_count, subscribed_count, survey_answered_count } = shown(kind)
      return [issues_sent_count, subscribed_count, survey_answered_count]
    }
    expect(counts('mailshot')).toEqual([null, null, null])
    expect(counts('newsletter')).toEqual([0, 0, null])
    expect(counts('survey')).toEqual([null, null, 0])
  })
  test('closed: no new people; archived_at says when it was put away', () => {
    const closed = { type: 'OutreachStreamClosed', stream_id } as const
    const archived = { type: 'OutreachStreamArchived', stream_id } as const
    expect([shown('mailshot').status, shown('mailshot', [closed]).status]).toEqual(['active', 'closed'])
    expect(shown('mailshot', [closed])).toMatchObject({ archived_at: null })
    expect(shown('mailshot', [closed, archived])).toMatchObject({
      status: 'closed',
      archived_at: '2026-01-15T12:00:00.000Z',
    })
  })
})

describe('answers to a survey', () => {
  test.each([
    ['nps', ['0', '10'], ['-1', '11', '5.5', '', 'yes']],
    ['rating', ['1', '5'], ['0', '6', 'x']],
    ['yes_no', ['yes', 'no'], ['YES', 'maybe', '']],
    ['text', ['anything'], ['', '  ']],
  ] as const)('%s takes %j and not %j', (answer_type, good, bad) => {
    expect(good.filter((answer) => answerFault({ answer_type }, answer) !== undefined)).toEqual([])
    expect(bad.filter((answer) => answerFault({ answer_type }, answer) === undefined)).toEqual([])
  })
})

describe('a text', () => {
  test.each([
    ['Hello {{first_name}}, you', { first_name: 'Ann' }, 'Hello Ann, you'],
    ['Hello {{first_name}}, you', { first_name: null }, 'Hello, you'],
    ['{{ plan }} is due', { plan: 'Life' }, 'Life is due'],
    // What a person is called is no template, and no property of an object is known by its name.
    ['Hello {{first_name}}', { first_name: '{{last_name}}', last_name: 'Finch' }, 'Hello {{last_name}}'],
    ['Hello {{constructor}}', {}, 'Hello'],
    ['{{', {}, '{{'],
  ])('%s of %j is %s', (text, known, filled) => {
    expect(filledIn(text, known)).toBe(filled)
  })
})

describe('what is set up for all streams', () => {
  const rate = { day: '2026-01-01', usd_rate: '0.8' }
  const change = { type: 'ChangeSettings', organisation_id, is_on: true, writer_price: undefined } as const
  test('that is so already changes nothing', () => {
    const on = { ...noSettings, is_on: true, exchange_rates: [rate] }
    expect(outreachSettings.decide({ ...change, exchange_rates: [rate] }, on)).toEqual([])
    expect(outreachSettings.decide({ ...change, exchange_rates: [rate] }, noSettings)).toHaveLength(2)
  })
})
