import { describe, expect, test } from 'vitest'
import type { OneLeadCommand } from '#domain/leads/commands.ts'
import type { Facts, LeadEvent } from '#domain/leads/events.ts'
import { lead } from '#domain/leads/lead.ts'
import { CampaignId } from '#domain/values.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import {
  about,
  act,
  activity,
  at,
  created,
  days,
  form,
  formSentIn,
  ingest,
  olive,
  partner,
  pipeline,
  receive,
  recorded,
  website,
} from './builders.ts'

const scenario = scenariosOf(lead)

/** What is known of the lead after these events. */
const after = (...events: readonly LeadEvent[]) => stateOf(lead, [created, ...events])?.record

const proposed = (values: Facts): LeadEvent => ({
  type: 'LeadFactsProposed',
  ...about,
  proposed: { ...values },
  ingest_id: null,
})
const put = (facts: Facts, mode: 'store' | 'propose' = 'store'): OneLeadCommand => ({
  type: 'RecordFacts',
  facts,
  ingest_id: null,
  mode,
})

describe('proposals', () => {
  const given = [created, recorded({ smoker: 'no', pets: 1 }), proposed({ smoker: 'yes', pets: 2 })]
  const settle = (accept: readonly string[], dismiss: readonly string[]) =>
    act({ type: 'SettleProposals', accept, dismiss })
  const settled = (...keys: string[]): LeadEvent => ({ type: 'LeadProposalsSettled', ...about, keys })
  scenario('that are accepted take the place of what is held', {
    given,
    when: settle(['smoker'], []),
    then: [recorded({ smoker: 'yes' })],
  })
  scenario('that are dismissed leave it', { given, when: settle([], ['pets']), then: [settled('pets')] })
  scenario('are accepted and dismissed at once', {
    given,
    when: settle(['smoker'], ['pets']),
    then: [recorded({ smoker: 'yes' }), settled('pets')],
  })
  scenario('that are both accepted and dismissed are accepted', {
    given,
    when: settle(['smoker'], ['smoker']),
    then: [recorded({ smoker: 'yes' })],
  })
  scenario('that there are not are neither', { given, when: settle(['colour'], ['children']), then: [] })
  scenario('are settled once', {
    given: [...given, recorded({ smoker: 'yes' }), settled('pets')],
    when: settle(['smoker'], ['pets']),
    then: [],
  })
  scenario('of the same value are made once', { given, when: act(put({ smoker: 'yes' }, 'propose')), then: [] })
  scenario('of another value take the place of the one before', {
    given,
    when: act(put({ smoker: 'often' }, 'propose')),
    then: [proposed({ smoker: 'often' })],
  })
  test('are gone from the record when they are settled, one by one', () => {
    expect(after(...given.slice(1))?.proposed).toEqual({ smoker: 'yes', pets: 2 })
    expect(after(...given.slice(1), settled('pets'))).toMatchObject({ proposed: { smoker: 'yes' }, facts: { pets: 1 } })
    expect(after(...given.slice(1), recorded({ pets: 2 }))).toMatchObject({
      proposed: { smoker: 'yes' },
      facts: { smoker: 'no', pets: 2 },
    })
  })
})

describe('so much is held of a lead', () => {
  const many = (count: number, name: string): Facts =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}_${index}`, 1]))
  const full = [created, recorded(many(1_999, 'a'))]
  scenario('the 2,000th fact is the last one', {
    given: full,
    when: act(put({ one: 1, two: 2 })),
    then: [recorded({ one: 1 })],
  })
  scenario('a fact that is held can be replaced when there are as many', {
    given: [...full, recorded({ one: 1 })],
    when: act(put({ one: 2, two: 2 })),
    then: [recorded({ one: 2 })],
  })
  scenario('one that is replaced takes no place from a new one', {
    given: full,
    when: act(put({ a_0: 2, one: 1, two: 2 })),
    then: [recorded({ a_0: 2, one: 1 })],
  })
  const held = { long: 'x'.repeat(590_000) }
  const room = 600_000 - JSON.stringify(held).length
  const text = (name: string, size: number) => 'y'.repeat(size - JSON.stringify([name, '']).length)
  scenario('a value that takes all that is left fits', {
    given: [created, recorded(held)],
    when: act(put({ b: text('b', room) })),
    then: [recorded({ b: text('b', room) })],
  })
  scenario('one character more does not', {
    given: [created, recorded(held)],
    when: act(put({ b: text('b', room + 1) })),
    then: [],
  })
  scenario('two that fit one by one do not fit together', {
    given: [created, recorded(held)],
    when: act(put({ b: text('b', room - 10), c: text('c', 20) })),
    then: [recorded({ b: text('b', room - 10) })],
  })
})

describe('a person who is sent in', () => {
  const sent = (changes: Parameters<typeof receive>[0], more = {}) => act(receive(changes), more)
  const back = { ...created, type: 'LeadSentAgain' as const, ingest_id: ingest(2), external_id_of: [], shown: null }
  const again = ({ stage: _s, score: _c, grade: _g, first_contact_due_at: _f, dormant_at: _d, ...rest }: typeof back) =>
    rest
  scenario('by the team itself is seen by no application', {
    given: [],
    when: sent({ api_application_id: null }),
    then: [{ ...created, seen_by: [], api_application_id: null }],
  })
  scenario('has no deadlines where the organisation sets none', {
    given: [],
    when: sent({}, { pipeline: { ...pipeline, first_contact_minutes: null, dormant_after_days: null } }),
    then: [{ ...created, first_contact_due_at: null, dormant_at: null }],
  })
  scenario('scores by the source at once', {
    given: [],
    when: sent(
      {},
      {
        pipeline: {
          ...pipeline,
          score_rules: [{ points: 45, fact: null, equals: null, activity: null, source: 'website' }],
        },
      },
    ),
    then: [{ ...created, score: 45, grade: 'C' }],
  })
  test('needs an open stage', () => {
    const stages = pipeline.stages.filter(({ kind }) => kind !== 'open')
    expect(() => lead.decide(sent({}, { pipeline: { ...pipeline, stages } }), undefined)).toThrow('has no open stage')
  })
  scenario('again by the team is seen by the same applications', {
    given: [created],
    when: sent({ api_application_id: null, ingest_id: ingest(2) }),
    then: [{ ...again(back), api_application_id: null }, formSentIn],
  })
  scenario('again without an ingest is back each time', {
    given: [{ ...created, ingest_id: null }],
    when: sent({ ingest_id: null }),
    then: [{ ...again(back), ingest_id: null }, form],
  })
  scenario('again with the second ingest is back once', {
    given: [created, again(back), form],
    when: sent({ ingest_id: ingest(2), activity_id: activity(2) }),
    then: [],
  })
  scenario('with another id of the other system keeps the one that came first, and tells that one', {
    given: [{ ...created, external_system_id: 'crm-1' }],
    when: sent({ ingest_id: ingest(2), external_system_id: 'crm-2' }),
    then: [{ ...again(back), external_system_id: 'crm-1', external_id_of: [website] }, formSentIn],
  })
  scenario('without an id of the other system is told with the one held', {
    given: [{ ...created, external_system_id: 'crm-1' }],
    when: sent({ ingest_id: ingest(2) }),
    then: [{ ...again(back), external_system_id: 'crm-1', external_id_of: [website] }, formSentIn],
  })
  test('has the id of the other system that came first', () => {
    const second = { ...again(back), external_system_id: 'crm-2' }
    const idAfter = (...events: readonly LeadEvent[]) => after(...events)?.marks.external_system_id
    expect(idAfter()).toBeNull()
    expect(idAfter(second)).toBe('crm-2')
    expect(idAfter(second, { ...second, external_system_id: 'crm-3' })).toBe('crm-2')
  })
  test('is seen by all that sent it', () => {
    expect(after()?.senders).toEqual([website])
    expect(after({ ...again(back), seen_by: [website, partner] })?.senders).toEqual([website, partner])
  })
})

describe('the record', () => {
  const touch = (happened_at: string, touches = true): LeadEvent => ({ ...form, happened_at, touches })
  const touched = (...events: readonly LeadEvent[]) => {
    const shown = after(...events)?.shown
    return [shown?.first_touched_at, shown?.last_touched_at]
  }
  test('knows the first and the last contact, in whichever order they are recorded', () => {
    expect(touched()).toEqual([null, null])
    expect(touched(touch(days(1), false))).toEqual([null, null])
    expect(touched(touch(days(3)))).toEqual([days(3), days(3)])
    expect(touched(touch(days(3)), touch(days(5)))).toEqual([days(3), days(5)])
    expect(touched(touch(days(3)), touch(days(1)))).toEqual([days(1), days(3)])
    expect(touched(touch(days(3)), touch(days(5)), touch(days(4)))).toEqual([days(3), days(5)])
  })
  test('has no deadline for a first contact once there was one', () => {
    expect(after(form)).toMatchObject({ first_contacted_at: null, first_contact_due_at: created.first_contact_due_at })
    expect(after({ ...form, is_first_contact: true })).toMatchObject({
      first_contacted_at: form.happened_at,
      first_contact_due_at: null,
    })
  })
  test('counts the activities of each kind', () => {
    expect(after(form, form, { ...form, kind: 'call' })?.activities).toEqual({ form: 2, call: 1 })
  })
  const named = (index: number) => ({
    ...about,
    task_id: `7a000000-0000-4000-8000-000000000${String(index).padStart(3, '0')}`,
    title: `Task ${index}`,
  })
  const task = (index: number): LeadEvent => ({ type: 'LeadTaskAdded', ...named(index), due_at: null })
  const done = (index: number): LeadEvent => ({ type: 'LeadTaskCompleted', ...named(index) })
  test('keeps the tasks that are not done, and the last 100 of the others', () => {
    const many = Array.from({ length: 102 }, (_, index) => [task(index), ...(index === 0 ? [] : [done(index)])])
    const tasks = after(...many.flat(), task(102))?.tasks
    expect([tasks?.length, tasks?.[0]?.title, tasks?.[1]?.title, tasks?.at(-1)?.title]).toEqual([
      102,
      'Task 0',
      'Task 2',
      'Task 102',
    ])
  })
  const open = Array.from({ length: 200 }, (_, index) => task(index))
  const another = { type: 'AddTask', task_id: activity(1), title: 'One more', due_at: null } as const
  scenario('with 200 tasks that are not done has no room for another', {
    given: [created, ...open],
    when: act(another),
    then: rejected(
      'validation_failed',
      { 'acts[0].task_id': 'is one more than a lead can have' },
      'Complete one first',
    ),
  })
  scenario('with one of them done has', {
    given: [created, ...open, done(7)],
    when: act(another),
    then: [{ type: 'LeadTaskAdded', ...about, task_id: activity(1), title: 'One more', due_at: null }],
  })
  scenario('with 200 tasks that are not done is not asked to be looked at once more', {
    given: [created, ...open],
    when: act({ ...another, mayBeLeftOut: true }),
    then: [],
  })
  test('has the one task done that was done, and when', () => {
    expect(after(task(1), task(2), done(2))?.tasks.map(({ completed_at }) => completed_at)).toEqual([null, at])
  })
  test('has an owner while there is one', () => {
    const owned = (from: string | null, to: string | null): LeadEvent => ({
      type: 'LeadOwnerAssigned',
      ...about,
      from,
      to,
      from_name: null,
      to_name: null,
    })
    expect(after(owned(null, olive.id))).toMatchObject({ owner_id: olive.id, shown: { owner_assigned: true } })
    expect(after(owned(null, olive.id), owned(olive.id, null))).toMatchObject({
      owner_id: null,
      shown: { owner_assigned: false },
    })
  })
  test('has no screening planned when there is nothing to screen, or the lead has ended', () => {
    const screened = (status: 'clear' | 'not_applicable'): LeadEvent => ({
      type: 'LeadTpsScreened',
      ...about,
      status,
      phone_number: null,
      screened_at: at,
      expires_at: days(28),
    })
    const status = (to: 'won' | 'dormant'): LeadEvent => ({
      type: 'LeadStatusChanged',
      ...about,
      from: 'open',
      to,
      reason: null,
      dormant_at: null,
      first_contact_due_at: null,
    })
    const plan = { due_at: days(28), failed_tries: 0, trouble: null }
    expect(after(screened('clear'))?.tps_planned).toEqual(plan)
    expect(after(screened('not_applicable'))?.tps_planned).toBeNull()
    expect(after(screened('clear'), status('won'))).toMatchObject({ tps_planned: null, tps: { status: 'clear' } })
    expect(after(screened('clear'), status('dormant'))?.tps_planned).toEqual(plan)
  })
  test.each<LeadEvent>([
    { type: 'LeadRunByHand', ...about, run_id: activity(1), workflow_id: activity(2) },
    { type: 'ContactDetailsChanged', ...about, changed: ['email'] },
    { type: 'LeadStageChanged', ...about, from: created.stage, to: created.stage },
  ])('$type changes nothing in it but what is shown', (event) => {
    expect(after(event)).toEqual(after())
  })
  test('begins with the creation, and a second one changes nothing', () => {
    expect(stateOf(lead, [{ ...form }])?.record).toBeUndefined()
    expect(after({ type: 'LeadVulnerabilityFlagged', ...about, flagged: true, details: null })?.vulnerable).toBe(true)
  })
})

const summer = { id: CampaignId.parse('71000000-0000-4000-8000-000000000009'), key: 'summer' }
scenario('an act belongs to the first campaign of the lead where it has none of its own', {
  given: [{ ...created, campaign: summer }],
  when: act(put({ pets: 1 })),
  then: [{ ...recorded({ pets: 1 }), campaign: summer }],
})
scenario('an act that was caused without a campaign belongs to none', {
  given: [{ ...created, campaign: summer }],
  when: act(put({ pets: 1 }), { campaign: null }),
  then: [recorded({ pets: 1 })],
})
scenario('who works with a person who is no lead is told so', {
  given: [],
  when: act({ type: 'Snooze', until: days(1) }),
  then: rejected('not_found', undefined, 'There is no lead with this id'),
})
test('leads have streams of their own', () => {
  expect(lead.category).toBe('lead')
})
