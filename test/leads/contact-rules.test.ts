import { describe } from 'vitest'
import type { OneLeadCommand } from '#domain/leads/commands.ts'
import { ActivityKind, type LeadEvent, type LeadStatus } from '#domain/leads/events.ts'
import { lead } from '#domain/leads/lead.ts'
import { isTerminal } from '#domain/leads/record.ts'
import { scenariosOf } from '../scenario.ts'
import { about, act, activity, at, created, days, form, pipeline } from './builders.ts'

const scenario = scenariosOf(lead)
const unscored = { pipeline: { ...pipeline, score_rules: [] } }
const due = '2026-01-15T13:00:00.000Z'
const dormancy = '2026-02-14T12:00:00.000Z'

type Activity = Extract<OneLeadCommand, { type: 'RecordActivity' }>
type Recorded = Extract<LeadEvent, { type: 'LeadActivityRecorded' }>
const happens = (kind: ActivityKind, changes: Partial<Activity> = {}): Activity => ({
  type: 'RecordActivity',
  activity_id: activity(1),
  kind,
  summary: 'Sent a form',
  happened_at: at,
  ...changes,
})
const happened = (kind: ActivityKind, changes: Partial<Recorded> = {}): Recorded => ({
  ...form,
  kind,
  direction: null,
  ...changes,
})
const became = (to: LeadStatus, from: LeadStatus = 'open'): LeadEvent => ({
  type: 'LeadStatusChanged',
  ...about,
  from,
  to,
  reason: null,
  dormant_at: to === 'open' ? dormancy : null,
  first_contact_due_at: isTerminal(to) ? null : created.first_contact_due_at,
})

/** What the firm contacts the person by; what happens without contact; all else comes from the person. */
const byTheFirm: readonly ActivityKind[] = ['call', 'email', 'sms', 'whatsapp', 'letter', 'booking', 'booking_attended']
const withoutContact: readonly ActivityKind[] = [
  'note',
  'missed_call',
  'bounced',
  'booking_missed',
  'document_sent',
  'task',
  'application_abandoned',
  'quote_expired',
  'market_quotes_ready',
  'policy_updated',
  'policy_lapsed',
  'premium_failed',
  'outcome',
  'outcome_reversed',
  'consent_changed',
  'membership_changed',
]

describe.each(ActivityKind.options)('an activity of kind %s', (kind) => {
  const touches = !withoutContact.includes(kind)
  const is_first_contact = byTheFirm.includes(kind)
  scenario(`is ${touches ? 'a' : 'no'} contact, and ${is_first_contact ? 'the' : 'not the'} first by the firm`, {
    given: [created],
    when: act(happens(kind, { happened_at: days(1) }), unscored),
    then: [
      happened(kind, {
        happened_at: days(1),
        touches,
        is_first_contact,
        dormant_at: touches ? days(31) : dormancy,
      }),
    ],
  })
  const wakes = touches && !is_first_contact
  scenario(`${wakes ? 'wakes' : 'does not wake'} a dormant lead up`, {
    given: [created, became('dormant')],
    when: act(happens(kind), unscored),
    then: [
      happened(kind, { touches, is_first_contact, dormant_at: null }),
      ...(wakes ? [became('open', 'dormant')] : []),
    ],
  })
})

describe('the first contact', () => {
  scenario('is not made by a call that comes from the person', {
    given: [created],
    when: act(happens('call', { direction: 'inbound' })),
    then: [happened('call', { direction: 'inbound' })],
  })
  scenario('is made once', {
    given: [created, happened('call', { is_first_contact: true })],
    when: act(happens('email', { activity_id: activity(2) })),
    then: [happened('email', { activity_id: activity(2) })],
  })
  scenario('is made by the firm after the person has called', {
    given: [created, happened('call', { direction: 'inbound' })],
    when: act(happens('call', { activity_id: activity(2), direction: 'outbound' })),
    then: [happened('call', { activity_id: activity(2), direction: 'outbound', is_first_contact: true })],
  })
  const overdue: LeadEvent = { type: 'LeadFirstContactOverdue', ...about, due_at: due, minutes_overdue: 0 }
  const falls = (name: string, given: readonly LeadEvent[], now: string, then: readonly LeadEvent[]) => {
    scenario(name, { given, when: act({ type: 'FirstContactDue', noticed_at: now }, { now }), then })
  }
  falls('is overdue at its time', [created], due, [overdue])
  falls('not a moment before', [created], '2026-01-15T12:59:59.999Z', [])
  falls('is overdue once', [created, overdue], '2026-01-15T14:00:00.000Z', [])
  falls(
    'is never due where there is no deadline',
    [{ ...created, first_contact_due_at: null }],
    '2027-01-15T12:00:00.000Z',
    [],
  )
  falls('is overdue of a dormant lead', [created, became('dormant')], due, [overdue])
  for (const status of ['won', 'lost', 'disqualified', 'duplicate', 'invalid', 'not_interested', 'ineligible'] as const)
    falls(`is not due of a lead that is ${status}`, [created, became(status)], due, [])
  scenario('that was made late is the first all the same', {
    given: [created, overdue],
    when: act(happens('call', { happened_at: days(1) })),
    then: [happened('call', { happened_at: days(1), is_first_contact: true, dormant_at: days(31) })],
  })
})

describe('who wakes a dormant lead up', () => {
  scenario('is the person who calls', {
    given: [created, became('dormant')],
    when: act(happens('call', { direction: 'inbound' })),
    then: [happened('call', { direction: 'inbound', dormant_at: null }), became('open', 'dormant')],
  })
  scenario('is not the firm that sends a form', {
    given: [created, became('dormant')],
    when: act(happens('form', { direction: 'outbound' })),
    then: [happened('form', { direction: 'outbound', dormant_at: null })],
  })
  for (const status of ['lost', 'not_interested'] as const)
    scenario(`is nobody while it is ${status}: that is over`, {
      given: [created, became(status)],
      when: act(happens('form')),
      then: [happened('form', { dormant_at: null })],
    })
})

describe('dormancy', () => {
  scenario('an earlier contact that is recorded late brings it no nearer', {
    given: [created, happened('form', { activity_id: activity(2), dormant_at: days(40) })],
    when: act(happens('form', { happened_at: days(5) })),
    then: [happened('form', { happened_at: days(5), dormant_at: days(40) })],
  })
  scenario('is never where the organisation has no such days, and what was set stands', {
    given: [{ ...created, dormant_at: null }],
    when: act(happens('form'), { pipeline: { ...pipeline, dormant_after_days: null } }),
    then: [happened('form', { dormant_at: null })],
  })
  scenario('stands as it was set when the organisation takes its days away', {
    given: [created],
    when: act(happens('form', { happened_at: days(5) }), { pipeline: { ...pipeline, dormant_after_days: null } }),
    then: [happened('form', { happened_at: days(5) })],
  })
  scenario('begins to count with the next contact when the organisation sets days', {
    given: [{ ...created, dormant_at: null }],
    when: act(happens('form', { happened_at: days(5) })),
    then: [happened('form', { happened_at: days(5), dormant_at: days(35) })],
  })
  scenario('a lead that is opened where there is no dormancy has no such day', {
    given: [created, became('lost')],
    when: act(
      { type: 'ChangeStatus', status: 'open', reason: null },
      { pipeline: { ...pipeline, dormant_after_days: null } },
    ),
    then: [{ ...became('open', 'lost'), dormant_at: null } as LeadEvent],
  })
  const goes = (name: string, given: readonly LeadEvent[], now: string) => {
    scenario(name, { given, when: act({ type: 'GoDormant' }, { now }), then: [] })
  }
  goes('does not come a moment before its time', [created], '2026-02-14T11:59:59.999Z')
  goes('does not come without a day', [{ ...created, dormant_at: null }], '2027-02-14T12:00:00.000Z')
  goes('does not come twice', [created, became('dormant')], dormancy)
  goes('does not come to a lead that has ended', [created, became('won')], dormancy)
  goes(
    'does not come to an ended lead whatever its day',
    [created, { ...became('won'), dormant_at: dormancy } as LeadEvent],
    dormancy,
  )
})
