import { describe, expect, test } from 'vitest'
import {
  complaint,
  type ComplaintCommand,
  type DecideComplaint,
  type OpenComplaint,
} from '#domain/complaints/complaint.ts'
import { ComplaintId, ComplaintNoteId, RedressId, type ComplaintEvent } from '#domain/complaints/events.ts'
import { ComplaintState, unsettledStates } from '#domain/complaints/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { complaintDueTime } from '../../projections/due-times/complaints.ts'
import { readBankCalendar } from '#infra/bank-holidays.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

const scenario = scenariosOf(complaint)
const time_zone = 'Europe/London'
const contact_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
const about = {
  complaint_id: ComplaintId.parse('ce000000-0000-4000-8000-000000000001'),
  organisation_id: OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f'),
  contact_id,
  policy_id: null,
  application_id: null,
  claim_id: null,
  product_id: null,
  cause: 'claim',
  description: 'Nobody answers.',
} as const

/** Received on the Thursday before Good Friday, in winter time; eight weeks later it is summer. */
const received_at = '2026-03-26T23:30:00.000Z'
const opened: ComplaintEvent = {
  type: 'ComplaintOpened',
  ...about,
  received_at,
  summary_by: '2026-03-31',
  respond_by: '2026-05-21',
  overdue_from: '2026-05-21T23:00:00.000Z',
}
const now = '2026-04-01T10:00:00.000Z'
const openIt: OpenComplaint = {
  type: 'OpenComplaint',
  ...about,
  received_at,
  time_zone,
  now,
  calendar: readBankCalendar({ BANK_HOLIDAYS_FILE: undefined }),
}

const decideIt: DecideComplaint = {
  type: 'DecideComplaint',
  decision: 'upheld',
  response: 'final_response',
  reason: 'We should have called.',
  decided_at: null,
  time_zone,
  now: '2026-08-31T10:00:00.000Z',
}
const decided: ComplaintEvent = {
  type: 'ComplaintDecided',
  contact_id,
  decision: 'upheld',
  response: 'final_response',
  reason: 'We should have called.',
  decided_at: '2026-08-31T10:00:00.000Z',
  refer_by: '2027-02-28',
}
const referIt = {
  type: 'ReferComplaint',
  referred_on: '2026-09-02',
  reference: 'PNX-1',
  time_zone,
  today: '2026-09-03',
} as const
const referred: ComplaintEvent = {
  type: 'ComplaintReferred',
  contact_id,
  referred_on: '2026-09-02',
  reference: 'PNX-1',
  overdue_from: null,
}
const closeIt = { type: 'CloseComplaint', withdrawn: false, today: '2028-02-29' } as const
const closed: ComplaintEvent = { type: 'ComplaintClosed', contact_id, withdrawn: false, keep_until: '2031-02-28' }
const redress_id = RedressId.parse('ce000000-0000-4000-8000-000000000003')
const otherRedress = RedressId.parse('ce000000-0000-4000-8000-000000000004')
const redressIt = { type: 'RedressComplaint', redress_id, amount_pence: 5_000, action: null } as const
const redressed: ComplaintEvent = {
  type: 'ComplaintRedressed',
  contact_id,
  redress_id,
  amount_pence: 5_000,
  action: null,
}
const overdue: ComplaintEvent = { type: 'ComplaintFellOverdue', contact_id }

describe('the clocks of a complaint run from the day on which it was received, where the firm is', () => {
  scenario('three business days for a summary resolution, eight weeks for a decision', {
    given: [],
    when: openIt,
    then: [opened],
  })
  scenario('just after midnight it is the next day; Good Friday and Easter Monday are no business days', {
    given: [],
    when: { ...openIt, received_at: '2026-04-01T23:30:00.000Z', now: '2026-04-08T10:00:00.000Z' },
    then: [
      {
        ...opened,
        received_at: '2026-04-01T23:30:00.000Z',
        summary_by: '2026-04-09',
        respond_by: '2026-05-28',
        overdue_from: '2026-05-28T23:00:00.000Z',
      },
    ],
  })
  scenario('from now on where nothing else is said', {
    given: [],
    when: { ...openIt, received_at: null, now: received_at },
    then: [opened],
  })
  scenario('received later than now: 422 validation_failed', {
    given: [],
    when: { ...openIt, received_at: '2026-04-01T10:00:00.001Z' },
    then: rejected('validation_failed', { received_at: 'must not be after now' }),
  })
})

describe('a complaint is opened once for a key', () => {
  scenario('sent again: it is so', { given: [opened], when: openIt, then: [] })
  scenario('sent again later, without the time at which it was received: it is so', {
    given: [opened],
    when: { ...openIt, received_at: null },
    then: [],
  })
  scenario('with another cause: 409 idempotency_key_conflict', {
    given: [opened],
    when: { ...openIt, cause: 'other' },
    then: rejected('idempotency_key_conflict', { cause: 'differs' }, 'opened a complaint'),
  })
  scenario('received at another time: 409 idempotency_key_conflict', {
    given: [opened],
    when: { ...openIt, received_at: '2026-03-26T23:30:00.001Z' },
    then: rejected('idempotency_key_conflict', { received_at: 'differs' }),
  })
})

scenario('one that was never opened cannot be acted on: 404 not_found', {
  given: [],
  when: closeIt,
  then: rejected('not_found', undefined, 'no complaint'),
})

describe('a decision', () => {
  scenario('opens the six months in which the customer may go to the ombudsman', {
    given: [opened],
    when: decideIt,
    then: [decided],
  })
  scenario('once more changes nothing', { given: [opened, decided], when: decideIt, then: [] })
  scenario('once more, of one that was closed since, changes nothing', {
    given: [opened, decided, closed],
    when: decideIt,
    then: [],
  })
  for (const given of [[decided], [decided, closed]])
    scenario(`another, of one that is ${given.length === 1 ? 'decided' : 'closed'}: 409 conflict`, {
      given: [opened, ...given],
      when: { ...decideIt, decision: 'rejected' },
      then: rejected('conflict', undefined, 'referred to the ombudsman'),
    })
  scenario('the same, of another time: 409 conflict', {
    given: [opened, decided],
    when: { ...decideIt, decided_at: '2026-08-30T10:00:00.000Z' },
    then: rejected('conflict'),
  })
  scenario('the same, of the same time, changes nothing', {
    given: [opened, decided],
    when: { ...decideIt, decided_at: '2026-08-31T10:00:00.000Z' },
    then: [],
  })
  scenario('at the very moment at which it was received', {
    given: [opened],
    when: { ...decideIt, decided_at: received_at },
    then: [{ ...decided, decided_at: received_at, refer_by: '2026-09-26' }],
  })
  scenario('another is possible once it is with the ombudsman, whose six months go on from the first', {
    given: [opened, decided, referred],
    when: { ...decideIt, decision: 'rejected', now: '2026-10-01T10:00:00.000Z' },
    then: [{ ...decided, decision: 'rejected', decided_at: '2026-10-01T10:00:00.000Z' }],
  })
  scenario('before it was received: 422 validation_failed', {
    given: [opened],
    when: { ...decideIt, decided_at: '2026-03-26T23:29:59.999Z' },
    then: rejected('validation_failed', { decided_at: 'before the complaint was received' }, 'Correct decided_at'),
  })
  scenario('later than now: 422 validation_failed', {
    given: [opened],
    when: { ...decideIt, decided_at: '2026-08-31T10:00:00.001Z' },
    then: rejected('validation_failed', { decided_at: 'must not be after now' }),
  })
  const summary = { ...decideIt, response: 'summary_resolution', decided_at: '2026-03-31T22:59:59.999Z' } as const
  scenario('by summary resolution on the third business day', {
    given: [opened],
    when: summary,
    then: [
      {
        ...decided,
        response: 'summary_resolution',
        decided_at: '2026-03-31T22:59:59.999Z',
        refer_by: '2026-09-30',
      },
    ],
  })
  scenario('by summary resolution on the day after: 422 validation_failed', {
    given: [opened],
    when: { ...summary, decided_at: '2026-03-31T23:00:00.000Z' },
    then: rejected('validation_failed', { response: 'until 2026-03-31' }),
  })
})

describe('redress', () => {
  for (const [state, given] of [
    ['decided', [decided]],
    ['referred', [referred]],
    ['closed', [decided, closed]],
  ] as const)
    scenario(`is recorded of one that is ${state}`, { given: [opened, ...given], when: redressIt, then: [redressed] })
  scenario('of one that is neither decided nor referred: 409 conflict', {
    given: [opened],
    when: redressIt,
    then: rejected('conflict', undefined, 'Decide the complaint first'),
  })
  scenario('of one that was withdrawn before it was decided: 409 conflict', {
    given: [opened, { ...closed, withdrawn: true }],
    when: redressIt,
    then: rejected('conflict', undefined, 'Decide the complaint first'),
  })
  scenario('that says neither an amount nor what was done: 422 validation_failed', {
    given: [opened, decided],
    when: { ...redressIt, amount_pence: null },
    then: rejected('validation_failed', { amount_pence: 'is required' }),
  })
  scenario('sent again: it is so', { given: [opened, decided, redressed], when: redressIt, then: [] })
  scenario('with another amount for the same key: 409 idempotency_key_conflict', {
    given: [opened, decided, redressed],
    when: { ...redressIt, amount_pence: 5_001 },
    then: rejected('idempotency_key_conflict', { amount_pence: 'differs' }, 'recorded redress'),
  })
  scenario('with another key is recorded beside it', {
    given: [opened, decided, redressed],
    when: { ...redressIt, redress_id: otherRedress },
    then: [{ ...redressed, redress_id: otherRedress }],
  })
  scenario('is what was done, where no amount is said', {
    given: [opened, decided],
    when: { ...redressIt, amount_pence: null, action: 'An apology.' },
    then: [{ ...redressed, amount_pence: null, action: 'An apology.' }],
  })
  const hundred = Array.from({ length: 100 }, () => redressed)
  scenario('is recorded a hundred times', {
    given: [opened, decided, ...hundred.slice(1)],
    when: { ...redressIt, redress_id: otherRedress },
    then: [{ ...redressed, redress_id: otherRedress }],
  })
  scenario('and no more often: 409 conflict', {
    given: [opened, decided, ...hundred],
    when: { ...redressIt, redress_id: otherRedress },
    then: rejected('conflict', undefined, 'at most 100 entries'),
  })
})

describe('the ombudsman', () => {
  for (const [state, given] of [
    ['open', []],
    ['decided', [decided]],
    ['closed', [decided, closed]],
  ] as const)
    scenario(`is given one that is ${state}`, { given: [opened, ...given], when: referIt, then: [referred] })
  scenario('sent again: it is so', { given: [opened, referred], when: referIt, then: [] })
  scenario('with another reference: 409 conflict', {
    given: [opened, referred],
    when: { ...referIt, reference: 'PNX-2' },
    then: rejected('conflict', undefined, 'on 2026-09-02 already'),
  })
  scenario('on another day: 409 conflict', {
    given: [opened, referred],
    when: { ...referIt, referred_on: '2026-09-03' },
    then: rejected('conflict', undefined, 'on 2026-09-02 already'),
  })
  for (const referred_on of ['2026-03-26', '2026-09-03'])
    scenario(`on ${referred_on}, the first or the last day that is possible`, {
      given: [opened],
      when: { ...referIt, referred_on },
      then: [{ type: 'ComplaintReferred', contact_id, referred_on, reference: 'PNX-1', overdue_from: null }],
    })
  scenario('tomorrow: 422 validation_failed', {
    given: [opened],
    when: { ...referIt, referred_on: '2026-09-04' },
    then: rejected('validation_failed', { referred_on: 'must not be after today' }),
  })
  scenario('before it was received: 422 validation_failed', {
    given: [opened],
    when: { ...referIt, referred_on: '2026-03-25' },
    then: rejected('validation_failed', { referred_on: 'on 2026-03-26' }),
  })
})

describe('a complaint is closed', () => {
  for (const [state, given] of [
    ['decided', [decided]],
    ['referred', [referred]],
  ] as const)
    scenario(`once it is ${state}, and kept for three years`, {
      given: [opened, ...given],
      when: closeIt,
      then: [closed],
    })
  scenario('before that only where the customer has withdrawn it', {
    given: [opened],
    when: { ...closeIt, withdrawn: true },
    then: [{ ...closed, withdrawn: true }],
  })
  scenario('before that otherwise: 409 conflict', {
    given: [opened],
    when: closeIt,
    then: rejected('conflict', undefined, 'Decide the complaint first'),
  })
  scenario('once more: it is so', { given: [opened, decided, closed], when: closeIt, then: [] })
  scenario('once more, otherwise: 409 conflict', {
    given: [opened, decided, closed],
    when: { ...closeIt, withdrawn: true },
    then: rejected('conflict', undefined, 'closed already'),
  })
})

describe('when eight weeks have passed', () => {
  const decidedInTime = { ...decided, type: 'ComplaintDecided', decided_at: '2026-05-21T22:59:59.999Z' } as const
  const called: ComplaintCommand = { type: 'CallOverdueComplaint', now: '2026-05-21T23:00:00.000Z' }
  for (const [name, given, then] of [
    ['one that is open is overdue', [], [overdue]],
    ['one that the ombudsman has, and nobody decided, is overdue', [referred], [overdue]],
    ['that is recorded once', [overdue], []],
    ['one that was withdrawn, and comes to the ombudsman, is', [{ ...closed, withdrawn: true }, referred], [overdue]],
    ['one that is decided is not', [decided], []],
    ['one that was decided in time is not', [decidedInTime], []],
    ['nor is it once the ombudsman has it', [decidedInTime, closed, referred], []],
    ['one that was withdrawn is not', [{ ...closed, withdrawn: true }], []],
  ] as const)
    scenario(name, { given: [opened, ...given], when: called, then })
  scenario('and not a moment before', {
    given: [opened],
    when: { ...called, now: '2026-05-21T22:59:59.999Z' },
    then: [],
  })
})

test('one that was withdrawn in time and then comes to the ombudsman is waited for again', () => {
  const withdrawn = { ...closed, withdrawn: true }
  const due = (...events: readonly ComplaintEvent[]) => {
    const [event] = complaint.decide(referIt, stateOf(complaint, [opened, ...events], received_at))
    return event && complaintDueTime(event)
  }

  expect(due(withdrawn)).toBe(opened.overdue_from)
  for (const events of [[], [decided, closed], [overdue, withdrawn]]) expect(due(...events)).toBeUndefined()
  expect(stateOf(complaint, [opened, overdue, withdrawn, referred], received_at)).toMatchObject({ overdue: true })
})

describe('a note', () => {
  const note_id = ComplaintNoteId.parse('ce000000-0000-4000-8000-000000000002')
  const noteIt = { type: 'NoteComplaint', note_id, note: 'Called back.' } as const
  const noted: ComplaintEvent = { type: 'ComplaintNoteAdded', contact_id, note_id, note: 'Called back.' }
  scenario('is added also to one that is closed', {
    given: [opened, decided, closed],
    when: noteIt,
    then: [noted],
  })
  scenario('sent again: it is so', { given: [opened, noted], when: noteIt, then: [] })
  scenario('with another text for the same key: 409 idempotency_key_conflict', {
    given: [opened, noted],
    when: { ...noteIt, note: 'Wrote back.' },
    then: rejected('idempotency_key_conflict', { note: 'differs' }, 'added a note'),
  })
  const other = { note_id: ComplaintNoteId.parse('ce000000-0000-4000-8000-000000000004') }
  const thousand = Array.from({ length: 1_000 }, () => noted)
  scenario('with another key is added, a thousand times', {
    given: [opened, ...thousand.slice(1)],
    when: { ...noteIt, ...other },
    then: [{ type: 'ComplaintNoteAdded', contact_id, note: 'Called back.', ...other }],
  })
  scenario('and no more often: 409 conflict', {
    given: [opened, ...thousand],
    when: { ...noteIt, ...other },
    then: rejected('conflict', undefined, 'at most 1000 notes'),
  })
})

test.each<readonly [ComplaintState, readonly ComplaintEvent[]]>([
  ['open', []],
  ['decided', [decided]],
  ['referred', [decided, closed, referred]],
  ['referred', [referred, decided]],
  ['closed', [decided, closed]],
])('it is %s', (state, events) => {
  expect(stateOf(complaint, [opened, ...events])?.state).toBe(state)
})

test('one that was just opened has nothing but what was said, and its clocks', () => {
  expect(stateOf(complaint, [opened])).toMatchObject({
    cause: 'claim',
    overdue: false,
    decision: null,
    redress: [],
    notes: [],
    withdrawn: false,
  })
})

test('the details of its person are needed until it is closed', () => {
  expect(unsettledStates).toEqual(['open', 'decided', 'referred'])
  expect(ComplaintState.options).toEqual([...unsettledStates, 'closed'])
})

test('one that was closed and comes to the ombudsman is not closed any more', () => {
  expect(stateOf(complaint, [opened, { ...closed, withdrawn: true }, referred])).toMatchObject({
    withdrawn: false,
    closed_at: null,
    keep_until: null,
    referral: { referred_on: '2026-09-02', reference: 'PNX-1' },
  })
})

test('one that is decided late was overdue; one that was decided in time, and recorded late, was not', () => {
  const at = '2026-05-21T23:00:00.000Z'
  const clocks = (...events: readonly ComplaintEvent[]) => {
    const { overdue: is, overdue_at } = stateOf(complaint, [opened, ...events], at) ?? {}
    return [is, overdue_at]
  }
  expect(clocks()).toEqual([false, null])
  expect(clocks(overdue)).toEqual([true, at])
  // However late it is recorded that it fell overdue.
  expect(clocks(decided)).toEqual([false, at])
  expect(clocks({ ...closed, type: 'ComplaintClosed', withdrawn: true })).toEqual([false, at])
  const early = { ...decided, type: 'ComplaintDecided', decided_at: '2026-05-21T22:59:59.999Z' } as const
  // A second decision, once the ombudsman has it, takes nothing back of the first.
  expect(clocks(overdue, decided, referred, early)).toEqual([false, at])
  expect(clocks(overdue, decided)).toEqual([false, at])
  expect(clocks(overdue, { ...closed, type: 'ComplaintClosed', withdrawn: true })).toEqual([false, at])
  expect(clocks(overdue, { ...decided, type: 'ComplaintDecided', decided_at: at })).toEqual([false, at])
  expect(clocks(overdue, { ...decided, type: 'ComplaintDecided', decided_at: '2026-05-21T22:59:59.999Z' })).toEqual([
    false,
    null,
  ])
})
