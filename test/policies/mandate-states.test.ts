import { describe, expect, test } from 'vitest'
import type { MandateId } from '#domain/payments/events.ts'
import { MandateId as Id } from '#domain/payments/events.ts'
import type { MandateStatus, PolicyEvent } from '#domain/policies/events.ts'
import { needsMandate } from '#domain/policies/mandate.ts'
import { policy } from '#domain/policies/policy.ts'
import { renderPolicy } from '#domain/policies/record.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { active, bound } from '../premiums/premium-builders.ts'

const scenario = scenariosOf(policy)
const mandate_id = Id.parse('b0000000-0000-5000-8000-000000000021')
const other_id = Id.parse('b0000000-0000-5000-8000-000000000022')
const recorded = (id: MandateId = mandate_id, status: MandateStatus = 'pending') =>
  ({
    type: 'PolicyMandateRecorded',
    mandate_id: id,
    provider_customer_id: 'cus_1',
    provider_payment_method_id: 'pm_1',
    provider_mandate_id: 'mandate_1',
    account_number_last4: '4958',
    status,
  }) as const satisfies PolicyEvent
const record = (id?: MandateId) => ({ ...recorded(id), type: 'RecordMandate' }) as const
const changed = (status: MandateStatus, id = mandate_id): PolicyEvent => ({
  type: 'PolicyMandateChanged',
  mandate_id: id,
  status,
  application_id: bound.application_id,
})
const refused: PolicyEvent = { type: 'PolicyMandateRefused', failure_code: 'unanswered', attempt: 10 }
const ended: readonly PolicyEvent[] = [
  {
    type: 'PolicyCancelled',
    application_id: bound.application_id,
    card_payment_id: null,
    reason: 'customer_request',
    note: null,
    effective_on: '2026-03-01',
    cooling_off: false,
    refund_pence: 0,
  },
]

describe('a mandate that is there', () => {
  scenario('is recorded', { given: active, when: record(), then: [recorded()] })
  scenario('is recorded when another takes its place', {
    given: [...active, recorded()],
    when: record(other_id),
    then: [recorded(other_id)],
  })
})

describe.each(['pending', 'active', 'failed', 'cancelled'] as const)('a mandate that is %s', (from) => {
  const follows: Record<MandateStatus, readonly MandateStatus[]> = {
    pending: ['active', 'failed', 'cancelled'],
    active: ['cancelled'],
    failed: ['active'],
    cancelled: ['active'],
  }
  const given = [...active, recorded(), ...(from === 'pending' ? [] : [changed(from)])]
  for (const to of ['pending', 'active', 'failed', 'cancelled'] as const)
    scenario(`${follows[from].includes(to) ? 'becomes' : 'does not become'} ${to}`, {
      given,
      when: { type: 'ChangeMandate', mandate_id, status: to },
      then: follows[from].includes(to) ? [changed(to)] : [],
    })
  scenario('takes no news of another', {
    given,
    when: { type: 'ChangeMandate', mandate_id: other_id, status: 'cancelled' },
    then: [],
  })
})

describe('a mandate is needed', () => {
  const needs = (...events: readonly PolicyEvent[]) => {
    const state = stateOf(policy, [...active, ...events])
    return state && needsMandate(state)
  }
  test('while there is none and it was not refused, until cover has ended', () => {
    expect(needs()).toBe(true)
    expect(needs(recorded())).toBe(false)
    expect(needs(refused)).toBe(false)
    expect(needs(refused, { type: 'PolicyMandateRequested', attempt: 11, bank_details_saved_at: null })).toBe(true)
    expect(needs(...ended)).toBe(false)
  })
  for (const [name, events] of [
    ['was refused', [refused]],
    ['is not wanted any more', ended],
  ] as const)
    scenario(`no failure is recorded of one that ${name}`, {
      given: [...active, ...events],
      when: {
        type: 'RecordMandateFailure',
        failure_code: 'x',
        is_final: true,
        mandate_requests: 0,
        now: '2026-03-01T00:00:00.000Z',
      },
      then: [],
    })
})

describe('the team asks for a mandate again', () => {
  const when = { type: 'RequestMandate' } as const
  scenario('after it was refused', {
    given: [...active, refused],
    when,
    then: [{ type: 'PolicyMandateRequested', attempt: 11, bank_details_saved_at: null }],
  })
  scenario('not while it is under way', { given: active, when, then: [] })
  scenario('not while there is one', { given: [...active, recorded()], when, then: [] })
  for (const status of ['failed', 'cancelled'] as const)
    scenario(`in the place of one that is ${status}`, {
      given: [...active, recorded(), changed(status)],
      when,
      then: [{ type: 'PolicyMandateRequested', attempt: 1, bank_details_saved_at: null }],
    })
  const another: readonly PolicyEvent[] = [
    ...active,
    recorded(),
    changed('cancelled'),
    { type: 'PolicyMandateRequested', attempt: 1, bank_details_saved_at: null },
  ]
  scenario('and the one that has ended is heard of no more', {
    given: another,
    when: { type: 'ChangeMandate', mandate_id, status: 'cancelled' },
    then: [],
  })
  scenario('the one that is made in its place is recorded', {
    given: another,
    when: record(other_id),
    then: [recorded(other_id)],
  })
  test('it is awaited until it is made', () => {
    const state = stateOf(policy, another)
    expect(state && needsMandate(state)).toBe(true)
    expect(state?.payment_method).toMatchObject({ mandate_id: null, mandate_status: 'pending' })
    const made = stateOf(policy, [...another, recorded(other_id)])
    expect(made && needsMandate(made)).toBe(false)
  })
  scenario('409 conflict: cover has ended', {
    given: [...active, refused, ...ended],
    when,
    then: rejected('conflict', undefined, 'This policy has ended (cancelled)'),
  })
})

test('a mandate is shown by the id that the provider gave it, as long as no other is asked for in its place', () => {
  const shownAfter = (...events: readonly PolicyEvent[]) => {
    const state = stateOf(policy, [...active, recorded(), ...events]) ?? expect.fail()
    return renderPolicy(state, 'https://acme.example').payment_method.mandate_id
  }
  const requested: PolicyEvent = { type: 'PolicyMandateRequested', attempt: 1, bank_details_saved_at: null }

  expect(shownAfter()).toBe('mandate_1')
  expect(shownAfter(changed('cancelled'))).toBe('mandate_1')
  expect(shownAfter(changed('cancelled'), requested)).toBeNull()
})
