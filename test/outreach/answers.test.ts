import { describe, expect, test } from 'vitest'
import type { OutreachPersonEvent, Survey } from '#domain/outreach/events.ts'
import { outreachPerson, type PersonCommand } from '#domain/outreach/person.ts'
import { answerFault } from '#domain/outreach/survey.ts'
import { OutreachStreamId } from '#domain/values.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import {
  begun,
  contact_id,
  earlier,
  ended,
  joined,
  message_id,
  note,
  now,
  ofMessage,
  place,
  queued,
  sent,
  startedStream,
  streamCreated,
} from './builders.ts'

const scenario = scenariosOf(outreachPerson)
const { stream_id, organisation_id } = streamCreated
const gone = [joined, queued, begun(), sent()]
const engaged = (by: 'landing' | 'survey' | 'activity' = 'activity'): OutreachPersonEvent => ({
  type: 'OutreachEngaged',
  ...place,
  by,
  next_at: null,
})
const counted: OutreachPersonEvent = { type: 'OutreachOutcomeCounted', ...place, outcome: 'replied' }

describe('an answer to a survey', () => {
  const survey: Survey = {
    question: 'How was it?',
    question_key: 'how',
    answer_type: 'rating',
    follow_up_question: null,
  }
  const stream = startedStream({ survey }, 'survey')
  const answer = (text: string, follow_up_answer: string | null = null, of = stream): PersonCommand => ({
    type: 'AnswerSurvey',
    stream: of,
    answer: text,
    follow_up_answer,
  })
  const answered = (text: string, follow_up_answer: string | null, is_first: boolean): OutreachPersonEvent => ({
    type: 'OutreachSurveyAnswered',
    ...place,
    answer: text,
    follow_up_answer,
    is_first,
  })
  const notThere = rejected('not_found', undefined, 'There is no survey at this address')
  const before = [...gone, answered('4', 'Red', true), engaged('survey')]

  scenario('is recorded, and ends what was to remind the person', {
    given: gone,
    when: answer('4', 'Red'),
    then: [answered('4', 'Red', true), engaged('survey')],
  })
  scenario('of somebody who has replied already is recorded', {
    given: [...gone, engaged()],
    when: answer('4'),
    then: [answered('4', null, true)],
  })
  scenario('of somebody who has left is recorded', {
    given: [...gone, ended()],
    when: answer('4'),
    then: [answered('4', null, true)],
  })
  scenario('that is the same again changes nothing', { given: before, when: answer('4', 'Red'), then: [] })
  scenario('that is another replaces the one before', {
    given: before,
    when: answer('5', 'Red'),
    then: [answered('5', 'Red', false)],
  })
  scenario('that is the same, but not its reason, replaces the one before', {
    given: before,
    when: answer('4', 'Blue'),
    then: [answered('4', 'Blue', false)],
  })
  scenario('that does not fit is refused', {
    given: gone,
    when: answer('6'),
    then: rejected(
      'validation_failed',
      { answer: 'must be a whole number from 1 to 5' },
      'The answer must be a whole number from 1 to 5.',
    ),
  })
  scenario('of somebody who never joined is refused', { given: [], when: answer('4'), then: notThere })
  scenario('of somebody who was not sent it yet is refused', {
    given: [joined, queued],
    when: answer('4'),
    then: notThere,
  })
  scenario('to a stream that asks nothing is refused', {
    given: gone,
    when: answer('4', null, startedStream()),
    then: notThere,
  })

  test.each([
    ['nps', '11', 'must be a whole number from 0 to 10'],
    ['rating', '0', 'must be a whole number from 1 to 5'],
    ['yes_no', 'maybe', 'must be yes or no'],
    ['text', ' ', 'must not be empty'],
  ] as const)('to a question of the type %s that is %j %s', (answer_type, text, fault) => {
    expect(answerFault({ answer_type }, text)).toBe(fault)
  })
})

describe('who comes by the link of a message', () => {
  const landed: PersonCommand = { type: 'NoteLanding', stream_id }
  scenario('is reminded no more', { given: gone, when: landed, then: [engaged('landing')] })
  scenario('a second time: nothing follows', { given: [...gone, engaged('landing')], when: landed, then: [] })
  scenario('after they have left: nothing follows', { given: [...gone, ended()], when: landed, then: [] })
  scenario('and never joined: nothing follows', { given: [], when: landed, then: [] })
})

describe('what a person writes', () => {
  const conversation = startedStream({ message_mode: 'drafted' }, 'conversation')
  const answerId = '0e000000-0000-4000-8000-000000000003'
  const ids: Pick<Extract<PersonCommand, { type: 'NoteActivity' }>, 'messageIdOf'> = {
    messageIdOf: (stream, role, number) =>
      stream === stream_id && role === 'answer' && number === 1 ? answerId : message_id,
  }
  const answers: OutreachPersonEvent = {
    ...queued,
    message_id: answerId,
    role: 'answer',
    number: 1,
    waits_for: 'draft',
    is_first: false,
    subject: null,
    body: null,
    answers: 'Yes',
  }

  scenario('in a drafted conversation is answered', {
    given: gone,
    when: note(conversation, ids),
    then: [counted, engaged(), answers],
  })
  scenario('in a conversation of fixed texts is the team’s to answer', {
    given: gone,
    when: note(startedStream({}, 'conversation'), ids),
    then: [counted, engaged()],
  })
  scenario('to a stream that is no conversation is the team’s to answer', {
    given: gone,
    when: note(startedStream({ message_mode: 'drafted' }), ids),
    then: [counted, engaged()],
  })
  scenario('after they have left is counted and not answered', {
    given: [...gone, ended()],
    when: note(conversation, ids),
    then: [counted],
  })
  scenario('once the work was cancelled is counted and not answered', {
    given: gone,
    when: note({ ...conversation, work_cancelled_at: now }, ids),
    then: [counted, engaged()],
  })
  scenario('to a stream that is not known is counted', {
    given: gone,
    when: note(conversation, { ...ids, streams: () => undefined }),
    then: [counted, engaged()],
  })
  scenario('at the very time that the message went out counts', {
    given: gone,
    when: note(startedStream(), { happened_at: earlier }),
    then: [counted, engaged()],
  })

  const other_id = OutreachStreamId.parse('0e000000-0000-4000-8000-0000000000bb')
  scenario('while a message of another stream is sent counts for that one only', {
    given: [
      joined,
      { ...joined, stream_id: other_id },
      { ...queued, stream_id: other_id },
      { ...begun(), stream_id: other_id },
    ],
    when: note(startedStream()),
    then: [
      { ...counted, stream_id: other_id },
      { ...engaged(), stream_id: other_id },
    ],
  })
})

describe('what is known of a person', () => {
  const stateAfter = (...events: readonly OutreachPersonEvent[]) => stateOf(outreachPerson, events, earlier)
  const undelivered = (goes_on: boolean): OutreachPersonEvent => ({
    type: 'OutreachMessageUndelivered',
    ...ofMessage,
    channel: 'email',
    address: 'ann@example.com',
    reason: null,
    goes_on,
  })
  const failed = (changes: { readonly retry_at?: string; readonly is_last?: boolean } = {}): OutreachPersonEvent => ({
    type: 'OutreachSendingFailed',
    ...ofMessage,
    channel: 'email',
    reason: 'no',
    retry_at: null,
    is_last: false,
    is_errored: false,
    next_at: null,
    ...changes,
  })
  const member = {
    ...place,
    state: 'in',
    joined_at: earlier,
    columns: {},
    subscribes: false,
    texts: 0,
    last_issue: 0,
    answers: 0,
    follow_ups: 0,
    next_at: null,
    first_sent_at: null,
    is_engaged: false,
    outcomes: [],
    survey: null,
  }
  const { type: _type, ...said } = queued
  const message = { ...said, sending: null, sent: [], refused: [], attempts: 0, retry_at: null }

  test('as they join, with a message', () => {
    expect(stateAfter(joined, queued)).toEqual({
      organisation_id,
      contact_id,
      members: { [stream_id]: { ...member, texts: 1 } },
      messages: { [message_id]: message },
      last_sent: {},
      undelivered: {},
    })
  })
  test('as they are refused', () => {
    const refused = { type: 'OutreachJoinRefused', ...place, organisation_id, contact_id, reason: 'no_date' } as const
    expect(stateAfter(refused).members).toEqual({ [stream_id]: { ...member, state: 'refused' } })
  })
  test.each([
    ['text', 1, { texts: 2 }],
    ['issue', 3, { last_issue: 3 }],
    ['answer', 2, { answers: 2 }],
    ['follow_up', 1, { follow_ups: 1 }],
  ] as const)('a message of the role %s with the number %d is counted', (role, number, changes) => {
    const { members } = stateAfter(joined, { ...queued, role, number })
    expect(members).toEqual({ [stream_id]: { ...member, ...changes } })
  })
  test('a channel refuses it, or is to be tried again', () => {
    const sending = [joined, queued, begun()]
    expect(stateAfter(...sending, failed()).messages).toEqual({ [message_id]: { ...message, refused: ['email'] } })
    expect(stateAfter(...sending, failed({ retry_at: now })).messages).toEqual({
      [message_id]: { ...message, attempts: 1, retry_at: now },
    })
  })
  test('what comes of a message that is over adds no message', () => {
    for (const late of [failed(), failed({ retry_at: now }), failed({ is_last: true }), begun(), sent()])
      expect(stateAfter(joined, late).messages).toEqual({})
  })
  test('what comes of a stream that they never joined adds no membership', () => {
    for (const late of [sent(), counted, engaged(), ended(), queued]) expect(stateAfter(late).members).toEqual({})
  })
  test('answers to a survey are kept, the last of them', () => {
    const says = (answer: string, is_first: boolean): OutreachPersonEvent => ({
      type: 'OutreachSurveyAnswered',
      ...place,
      answer,
      follow_up_answer: 'Red',
      is_first,
    })
    const { members } = stateAfter(joined, says('4', true), says('5', false))
    expect(members[stream_id]?.survey).toEqual({ answer: '5', follow_up_answer: 'Red' })
  })
  test('a message that came back waits again by another channel, where it goes on', () => {
    expect(stateAfter(...gone, undelivered(true)).messages).toMatchObject({ [message_id]: { refused: ['email'] } })
    expect(stateAfter(...gone, undelivered(false)).messages).toEqual({})
  })
  test('a message that is on its way still is not begun again', () => {
    const both = [joined, { ...queued, waits_for: 'sending' } as const, begun(), sent({ is_last: false }), begun('sms')]
    const { messages } = stateAfter(...both, undelivered(true))
    expect(messages[message_id]).toMatchObject({ refused: [], sending: { channel: 'sms' }, sent: ['email'] })
  })
  test('a message that nothing is known of does not wait again', () => {
    expect(stateAfter(joined, undelivered(true)).messages).toEqual({})
    const another = sent({ message_id: place.member_id })
    expect(
      stateAfter(...gone, { ...queued, message_id: place.member_id }, another, undelivered(true)).messages,
    ).toEqual({})
  })
})
