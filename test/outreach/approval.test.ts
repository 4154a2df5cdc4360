import { describe, expect, test } from 'vitest'
import type { OutreachPersonEvent } from '#domain/outreach/events.ts'
import { outreachPerson } from '#domain/outreach/person.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { begun, joined, message_id, now, ofMessage, queued, sent } from './builders.ts'

const scenario = scenariosOf(outreachPerson)
const other = '0e000000-0000-4000-8000-000000000002'
const draft = { ...queued, waits_for: 'draft', subject: null, body: null } as const
const waiting = { ...queued, waits_for: 'approval' } as const
const being: readonly OutreachPersonEvent[] = [joined, queued, begun()]
/** Sent by one channel; another follows. */
const byOneChannel = [...being, sent({ is_last: false })]
const words = { subject: 'Dear Ann', body: 'A word.' }
const drafted = (waits_for: 'sending' | 'approval', is_first = true): OutreachPersonEvent => ({
  type: 'OutreachMessageDrafted',
  ...ofMessage,
  waits_for,
  is_first,
  ...words,
})
const unwritten = (retry_at: string | null): OutreachPersonEvent => ({
  type: 'OutreachDraftFailed',
  ...ofMessage,
  reason: 'away',
  retry_at,
})
const messageAfter = (...events: readonly OutreachPersonEvent[]) => stateOf(outreachPerson, events).messages[message_id]

describe('what is written for a person', () => {
  const record = (auto_send: boolean) => ({ type: 'RecordDraft', message_id, ...words, auto_send }) as const
  const fail = (retry_at: string | null) => ({ type: 'FailDraft', message_id, reason: 'away', retry_at }) as const

  scenario('waits to be sent, where that needs no approval', {
    given: [joined, draft],
    when: record(true),
    then: [drafted('sending')],
  })
  scenario('waits for approval where that is needed', {
    given: [joined, { ...draft, is_first: false }],
    when: record(false),
    then: [drafted('approval', false)],
  })
  scenario('cannot be written for now: it is tried again', {
    given: [joined, draft],
    when: fail(now),
    then: [unwritten(now)],
  })
  scenario('cannot be written at all', { given: [joined, draft], when: fail(null), then: [unwritten(null)] })
  for (const [what, given] of [
    ['is not known', [joined]],
    ['waits for approval already', [joined, waiting]],
    ['waits to be sent already', [joined, queued]],
    ['was written since', [joined, draft, drafted('sending')]],
    ['was given up', [joined, draft, unwritten(null)]],
  ] as const) {
    scenario(`is not written again where the message ${what}`, { given, when: record(true), then: [] })
    scenario(`has not failed where the message ${what}`, { given, when: fail(now), then: [] })
  }

  test('is kept, and what was tried before is forgotten', () => {
    expect(messageAfter(joined, draft, unwritten(now))).toMatchObject({ attempts: 1, retry_at: now })
    expect(messageAfter(joined, draft, unwritten(now), unwritten(now))).toMatchObject({ attempts: 2, body: null })
    expect(messageAfter(joined, draft, unwritten(now), drafted('approval'))).toMatchObject({
      ...words,
      waits_for: 'approval',
      attempts: 0,
      retry_at: null,
    })
  })
  test('of a message that is over changes nothing', () => {
    for (const late of [unwritten(now), unwritten(null), drafted('sending')])
      expect(messageAfter(joined, late)).toBeUndefined()
  })
})

describe('a message that the team judges', () => {
  const approve = { type: 'ApproveMessage', message_id } as const
  const discard = { type: 'DiscardMessage', message_id } as const
  const edit = (changes: { readonly subject?: string | null; readonly body?: string }) =>
    ({ type: 'EditMessage', message_id, subject: undefined, body: undefined, ...changes }) as const
  const edited = (subject: string | null, body: string): OutreachPersonEvent => ({
    type: 'OutreachMessageEdited',
    ...ofMessage,
    subject,
    body,
  })
  const discarded = (was_awaiting: boolean): OutreachPersonEvent => ({
    type: 'OutreachMessageDiscarded',
    ...ofMessage,
    was_awaiting,
  })
  const approved: OutreachPersonEvent = { type: 'OutreachMessageApproved', ...ofMessage }
  const { subject, body } = queued

  for (const [state, given, was_awaiting] of [
    ['waits for approval', [joined, waiting], true],
    ['waits to be sent', [joined, queued], false],
    ['is not written yet', [joined, draft], false],
  ] as const)
    scenario(`and that ${state} is discarded`, { given, when: discard, then: [discarded(was_awaiting)] })

  scenario('is approved', { given: [joined, waiting], when: approve, then: [approved] })
  scenario('is approved once', { given: [joined, waiting, approved], when: approve, then: [] })
  for (const [what, changes, then] of [
    ['with another subject', { subject: 'Other' }, [edited('Other', body)]],
    ['with another text', { body: 'Other.' }, [edited(subject, 'Other.')]],
    ['without a subject', { subject: null }, [edited(null, body)]],
    ['with both', { subject: 'Other', body: 'Other.' }, [edited('Other', 'Other.')]],
    ['with the same', { subject, body }, []],
    ['with nothing', {}, []],
  ] as const)
    scenario(`is edited ${what}`, { given: [joined, waiting], when: edit(changes), then })

  for (const [name, when] of [
    ['approved', approve],
    ['edited', edit({ body: 'Other.' })],
  ] as const)
    scenario(`is not ${name} before it is written`, {
      given: [joined, draft],
      when,
      then: rejected('conflict', undefined, 'not written yet'),
    })
  for (const [name, when] of [
    ['discarded', discard],
    ['edited', edit({ body: 'Other.' })],
  ] as const) {
    scenario(`is not ${name} while it is being sent`, {
      given: being,
      when,
      then: rejected('conflict', undefined, 'is being sent'),
    })
    scenario(`is not ${name} once it went by one of its channels`, {
      given: byOneChannel,
      when,
      then: rejected('conflict', undefined, 'is being sent'),
    })
  }
  scenario('stays approved while it is being sent', { given: being, when: approve, then: [] })
  for (const when of [approve, discard, edit({ body: 'Other.' })])
    scenario(`is there, or is not found: ${when.type}`, {
      given: [joined],
      when,
      then: rejected('not_found', undefined, 'There is no message with this id that waits'),
    })

  test('says what it was edited to, and waits as before', () => {
    expect(messageAfter(joined, waiting, edited('Other', 'Other.'))).toMatchObject({
      subject: 'Other',
      body: 'Other.',
      waits_for: 'approval',
    })
    expect(messageAfter(joined, waiting, approved)).toMatchObject({ waits_for: 'sending', body })
  })
  test('is forgotten once it is discarded or skipped, and no other', () => {
    const both = [joined, waiting, { ...waiting, message_id: other }]
    const skipped: OutreachPersonEvent = {
      type: 'OutreachMessageSkipped',
      ...ofMessage,
      reason: 'ended',
      is_person_skipped: true,
      was_unwritten: false,
    }
    for (const over of [discarded(true), skipped, unwritten(null), sent()])
      expect(Object.keys(stateOf(outreachPerson, [...both, over]).messages)).toEqual([other])
  })
})
