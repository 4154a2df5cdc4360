import { describe, expect, test } from 'vitest'
import { ClaimId, type ClaimEvent } from '#domain/claims/events.ts'
import type { ClaimStatus } from '#domain/claims/record.ts'
import type { ClaimDecision } from '#domain/claims/claims.ts'
import { policyEvents, type PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { sampleEvent } from '../stored-events/samples.ts'

const scenario = scenariosOf(policy)
/** £250,000 of life cover from 2 February 2026. */
const bound = sampleEvent(policyEvents, 'PolicyBound')
const active: readonly PolicyEvent[] = [bound, { type: 'PolicyActivated', start_date: '2026-02-02' }]
const { customer_id } = bound
const claim_id = ClaimId.parse('b4000000-0000-5000-8000-000000000001')
const today = '2026-05-10'
const about = {
  claim_id,
  claim_type: 'life',
  customer_id,
  amount_pence: 25_000_000,
  note: 'Two of us have seen it.',
} as const
const openedFor = (amount_pence: number | null): Extract<ClaimEvent, { type: 'ClaimOpened' }> => ({
  type: 'ClaimOpened',
  ...about,
  amount_pence,
  cover_index: 0,
  happened_on: '2026-05-01',
})
const opened = openedFor(25_000_000)

const eventOf: Readonly<Record<ClaimDecision, ClaimEvent>> = {
  request_evidence: { type: 'ClaimEvidenceRequested', ...about },
  approve: { type: 'ClaimApproved', ...about },
  decline: { type: 'ClaimDeclined', ...about },
  pay: { type: 'ClaimPaid', ...about, paid_on: today },
  close: { type: 'ClaimClosed', ...about },
  reopen: { type: 'ClaimReopened', ...about },
}
const { request_evidence, approve, decline, pay, close } = eventOf

/** What leads to each status. */
const histories: Readonly<Record<ClaimStatus, readonly ClaimEvent[]>> = {
  open: [opened],
  evidence_requested: [opened, request_evidence],
  approved: [opened, approve],
  declined: [opened, decline],
  paid: [opened, approve, pay],
  closed: [opened, close],
}
const possible: Readonly<Record<ClaimStatus, readonly ClaimDecision[]>> = {
  open: ['request_evidence', 'approve', 'decline', 'close'],
  evidence_requested: ['approve', 'decline', 'close'],
  approved: ['decline', 'pay'],
  declined: ['close', 'reopen'],
  paid: ['close'],
  closed: ['reopen'],
}
const same: Readonly<Record<ClaimStatus, ClaimDecision>> = {
  open: 'reopen',
  evidence_requested: 'request_evidence',
  approved: 'approve',
  declined: 'decline',
  paid: 'pay',
  closed: 'close',
}

const statuses = Object.keys(histories) as ClaimStatus[]
const decisions = Object.keys(eventOf) as ClaimDecision[]

const decide = (decision: ClaimDecision, amount_pence: number | null = null) =>
  ({ type: 'DecideClaim', claim_id, decision, amount_pence, note: about.note, ends_policy: false, today }) as const

describe('what can be decided about a claim', () => {
  for (const status of statuses)
    for (const decision of decisions) {
      const isPossible = possible[status].includes(decision)
      const isSame = same[status] === decision
      scenario(`${decision} of one that is ${status}: ${isPossible ? 'yes' : isSame ? 'it is so' : '409 conflict'}`, {
        given: [...active, ...histories[status]],
        when: decide(decision),
        then: isPossible
          ? [eventOf[decision]]
          : isSame
            ? []
            : rejected('conflict', undefined, `decided: ${possible[status].join(', ')}.`),
      })
    }

  for (const [decision, status] of [
    ['decline', 'open'],
    ['pay', 'approved'],
  ] as const)
    scenario(`${decision} without saying why: 422 validation_failed`, {
      given: [...active, ...histories[status]],
      when: { ...decide(decision), note: null },
      then: rejected('validation_failed', { note: 'is required to decline and to pay' }, 'Correct note and send'),
    })

  for (const decision of ['approve', 'pay'] as const) {
    const status = decision === 'approve' ? 'approved' : 'paid'
    scenario(`${decision} of one that is ${status}, with its amount: it is so`, {
      given: [...active, ...histories[status]],
      when: decide(decision, 25_000_000),
      then: [],
    })
    scenario(`${decision} of one that is ${status}, with another amount: 409 conflict`, {
      given: [...active, ...histories[status]],
      when: decide(decision, 10_000_000),
      then: rejected('conflict', undefined, `decided: ${possible[status].join(', ')}.`),
    })
  }
  scenario('pay of one that is paid, to end cover that goes on: 409 conflict', {
    given: [...active, ...histories.paid],
    when: { ...decide('pay'), ends_policy: true },
    then: rejected('conflict', undefined, 'decided: close.'),
  })
  scenario('pay of one that is paid, to end cover that ended with the payment: it is so', {
    given: [...active, ...histories.paid, { type: 'PolicyEndedByClaim', claim_id, ended_on: today }],
    when: { ...decide('pay'), ends_policy: true },
    then: [],
  })
  scenario('evidence that was asked for, asked for in the same words: it is so', {
    given: [...active, opened, { ...request_evidence, note: 'The certificate' }],
    when: { ...decide('request_evidence'), note: 'The certificate' },
    then: [],
  })
  scenario('evidence that was asked for, and other evidence: 409 conflict', {
    given: [...active, opened, { ...request_evidence, note: 'The certificate' }],
    when: { ...decide('request_evidence'), note: 'The will' },
    then: rejected('conflict', undefined, 'decided: approve, decline, close.'),
  })

  scenario('404 not_found: there is no such claim', {
    given: active,
    when: decide('approve'),
    then: rejected('not_found', undefined, 'no claim with this id'),
  })
  const otherId = ClaimId.parse('b4000000-0000-5000-8000-000000000002')
  scenario('of two claims, the one that is named', {
    given: [...active, { ...opened, claim_id: otherId }, close, opened],
    when: { ...decide('decline'), claim_id },
    then: [decline],
  })

  scenario('422 validation_failed: nothing can be approved without an amount', {
    given: [...active, openedFor(null)],
    when: decide('approve'),
    then: rejected('validation_failed', { amount_pence: 'required' }),
  })
  scenario('422 validation_failed: no more can be approved than is covered', {
    given: [...active, opened],
    when: decide('approve', 25_000_001),
    then: rejected('validation_failed', { amount_pence: 'at most 25000000, what is left of what is covered' }),
  })
  scenario('422 validation_failed: nor what was claimed, when it is more', {
    given: [...active, openedFor(99_999_999)],
    when: decide('approve'),
    then: rejected('validation_failed', { amount_pence: 'at most 25000000' }),
  })
  scenario('422 validation_failed: nor can more be paid than is covered', {
    given: [...active, opened, approve],
    when: decide('pay', 25_000_001),
    then: rejected('validation_failed', { amount_pence: 'at most 25000000' }),
  })
  const [life] = bound.components
  if (!life) throw new Error('The sample covers nothing.')
  const covering = (changes: Partial<typeof life>): readonly PolicyEvent[] => [
    { ...bound, components: [{ ...life, ...changes }] },
    ...active.slice(1),
  ]
  scenario('422 validation_failed: nor more of a monthly benefit than that of a month', {
    given: [...covering({ cover_amount_pence: 2_400_000, monthly_benefit_pence: 200_000 }), opened],
    when: decide('approve', 200_001),
    then: rejected('validation_failed', { amount_pence: 'at most 200000, the benefit of a month' }),
  })
  scenario('a plan without an amount sets none', {
    given: [...covering({ cover_amount_pence: null }), opened],
    when: decide('approve'),
    then: [approve],
  })
  scenario('a claim on no cover in particular is up to all covers of its type', {
    given: [
      { ...bound, components: [life, { ...life, cover_index: 1, cover_amount_pence: 5_000_000 }] },
      ...active.slice(1),
      { ...opened, cover_index: null },
    ],
    when: decide('approve', 30_000_000),
    then: [{ ...approve, amount_pence: 30_000_000 }],
  })
  const illness = { ...life, cover_type: 'critical_illness', cover_index: 1, cover_amount_pence: 5_000_000 } as const
  const both: readonly PolicyEvent[] = [{ ...bound, components: [life, illness] }, ...active.slice(1)]
  scenario('422 validation_failed: but not of another type', {
    given: [...both, { ...opened, cover_index: null }],
    when: decide('approve', 25_000_001),
    then: rejected('validation_failed', { amount_pence: 'at most 25000000, what is left of what is covered' }),
  })
  scenario('422 validation_failed: a claim on one cover is up to that cover alone', {
    given: [
      { ...bound, components: [life, { ...life, cover_index: 1, cover_amount_pence: 5_000_000 }] },
      ...active.slice(1),
      opened,
    ],
    when: decide('approve', 25_000_001),
    then: rejected('validation_failed', { amount_pence: 'at most 25000000' }),
  })
  scenario('422 validation_failed: of a lump sum and a monthly benefit, their sum', {
    given: [
      { ...bound, components: [life, { ...life, cover_index: 1, monthly_benefit_pence: 100_000 }] },
      ...active.slice(1),
      { ...opened, cover_index: null },
    ],
    when: decide('approve', 25_100_001),
    then: rejected('validation_failed', { amount_pence: 'at most 25100000, the benefit of a month' }),
  })
  for (const decision of ['request_evidence', 'decline', 'close'] as const)
    scenario(`without an amount: ${decision}`, {
      given: [...active, openedFor(null)],
      when: decide(decision),
      then: [{ ...eventOf[decision], amount_pence: null }],
    })
  for (const decision of ['request_evidence', 'decline', 'close'] as const)
    scenario(`of a claim of more than is covered: ${decision}`, {
      given: [...active, openedFor(99_999_999)],
      when: decide(decision),
      then: [{ ...eventOf[decision], amount_pence: 99_999_999 }],
    })
  scenario('another amount may be approved than was claimed', {
    given: [...active, opened],
    when: decide('approve', 10_000_000),
    then: [{ ...approve, amount_pence: 10_000_000 }],
  })
})

describe('several claims on one cover', () => {
  const other_id = ClaimId.parse('b4000000-0000-5000-8000-000000000002')
  const of = <Event extends ClaimEvent>(event: Event, changes: Partial<Event> = {}): Event => ({
    ...event,
    claim_id: other_id,
    ...changes,
  })
  const paid = (amount_pence: number) => [of(opened), of(approve, { amount_pence }), of(pay, { amount_pence })]
  const left = (pence: number) =>
    rejected('validation_failed', { amount_pence: `must be at most ${pence}, what is left of what is covered` })
  const [life] = bound.components
  if (!life) throw new Error('The sample covers nothing.')
  const illness = { ...life, cover_index: 1, cover_type: 'critical_illness' as const, cover_amount_pence: 10_000_000 }
  const onIllness = { claim_type: 'critical_illness', cover_index: 1 } as const
  const withIllness = (ci_payout_basis: 'additional' | 'accelerated'): readonly PolicyEvent[] => [
    { ...bound, components: [life, { ...illness, ci_payout_basis }] },
    ...active.slice(1),
  ]
  const paidIllness = [
    of(opened, onIllness),
    of(approve, { claim_type: 'critical_illness', amount_pence: 10_000_000 }),
    of(pay, { claim_type: 'critical_illness', amount_pence: 10_000_000 }),
  ]

  scenario('422 validation_failed: more than others have left', {
    given: [...active, ...paid(20_000_000), opened],
    when: decide('approve', 5_000_001),
    then: left(5_000_000),
  })
  scenario('all that others have left', {
    given: [...active, ...paid(20_000_000), opened],
    when: decide('approve', 5_000_000),
    then: [{ ...approve, amount_pence: 5_000_000 }],
  })
  scenario('422 validation_failed: what is approved and not paid yet counts', {
    given: [...active, of(opened), of(approve), opened],
    when: decide('approve', 1),
    then: left(0),
  })
  scenario('what was declined does not', {
    given: [...active, of(opened), of(approve), of(decline), opened],
    when: decide('approve'),
    then: [approve],
  })
  scenario('422 validation_failed: what was paid counts also once the claim is closed', {
    given: [...active, ...paid(25_000_000), of(close), opened],
    when: decide('approve', 1),
    then: left(0),
  })
  scenario('422 validation_failed: and when it is reopened it is not paid twice', {
    given: [...active, opened, approve, pay, close, { type: 'ClaimReopened', ...about }],
    when: decide('approve'),
    then: left(0),
  })
  scenario('422 validation_failed: a claim on all covers of a type counts for each', {
    given: [
      { ...bound, components: [life, { ...life, cover_index: 1, cover_amount_pence: 5_000_000 }] },
      ...active.slice(1),
      ...paid(28_000_000).map((event) => (event.type === 'ClaimOpened' ? { ...event, cover_index: null } : event)),
      opened,
    ],
    when: decide('approve', 2_000_001),
    then: left(2_000_000),
  })
  scenario('422 validation_failed: what accelerated critical illness cover has paid comes out of the life cover', {
    given: [...withIllness('accelerated'), ...paidIllness, opened],
    when: decide('approve', 15_000_001),
    then: left(15_000_000),
  })
  scenario('what additional critical illness cover has paid does not', {
    given: [...withIllness('additional'), ...paidIllness, opened],
    when: decide('approve'),
    then: [approve],
  })
  scenario('422 validation_failed: accelerated critical illness cover pays no more than is left of the life cover', {
    given: [...withIllness('accelerated'), ...paid(20_000_000), { ...opened, ...onIllness }],
    when: decide('approve', 5_000_001),
    then: left(5_000_000),
  })
  scenario('a benefit is claimed month by month', {
    given: [
      {
        ...bound,
        components: [{ ...life, cover_amount_pence: 2_400_000, monthly_benefit_pence: 200_000 }],
      },
      ...active.slice(1),
      ...paid(200_000),
      opened,
    ],
    when: decide('approve', 200_000),
    then: [{ ...approve, amount_pence: 200_000 }],
  })

  test('what was paid of a claim is counted in all', () => {
    const again = [close, eventOf.reopen, { ...approve, amount_pence: 1_000 }, { ...pay, amount_pence: 1_000 }]
    const state = stateOf(policy, [...active, ...paid(2_000), opened, approve, pay, ...again])
    expect(state?.claims.map(({ paid_pence }) => paid_pence)).toEqual([2_000, 25_001_000])
  })
})

describe('what can be claimed', () => {
  const open = (changes: object = {}) =>
    ({
      type: 'OpenClaim',
      claim_id,
      claim_type: 'life',
      cover_index: 0,
      happened_on: '2026-05-01',
      amount_pence: 25_000_000,
      note: about.note,
      today,
      ...changes,
    }) as const
  const cancelled: PolicyEvent = {
    type: 'PolicyCancelled',
    application_id: bound.application_id,
    card_payment_id: null,
    reason: 'customer_request',
    note: null,
    effective_on: '2026-04-15',
    cooling_off: false,
    refund_pence: 0,
  }

  scenario('what happened on the first day of cover', {
    given: active,
    when: open({ happened_on: '2026-02-02' }),
    then: [{ ...opened, happened_on: '2026-02-02' }],
  })
  scenario('a second time, under another id', {
    given: [...active, { ...opened, claim_id: ClaimId.parse('b4000000-0000-5000-8000-000000000002') }],
    when: open(),
    then: [opened],
  })
  scenario('once', { given: [...active, opened], when: open(), then: [] })
  scenario('what happened today', {
    given: active,
    when: open({ happened_on: today }),
    then: [{ ...opened, happened_on: today }],
  })
  scenario('what happened on the last day of cover, although it has ended since', {
    given: [...active, cancelled],
    when: open({ happened_on: '2026-04-14' }),
    then: [{ ...opened, happened_on: '2026-04-14' }],
  })
  const lapsed: PolicyEvent = { type: 'PolicyLapsed', customer_id, lapsed_on: '2026-04-15', overdue_pence: 0 }
  const reinstated: PolicyEvent = {
    type: 'PolicyReinstated',
    from: 'lapsed',
    next_collection_on: null,
    next_collection_at: null,
    end_at: null,
    review_at: null,
    indexation_at: null,
  }
  for (const [happened_on, isCovered] of [
    ['2026-04-14', true],
    ['2026-04-15', false],
    ['2026-05-01', false],
    ['2026-05-02', true],
  ] as const)
    scenario(
      `${isCovered ? 'what' : '422 validation_failed: nothing that'} happened on ${happened_on}, where there was no cover from 15 April until it was reinstated on 2 May`,
      {
        given: [...active, lapsed, reinstated],
        at: '2026-05-02T09:00:00.000Z',
        when: open({ happened_on }),
        then: isCovered
          ? [{ ...opened, happened_on }]
          : rejected('validation_failed', { happened_on: 'no cover from 2026-04-15 until 2026-05-02' }),
      },
    )
  scenario('422 validation_failed: what happened after another claim had ended cover', {
    given: [...active, opened, approve, pay, { type: 'PolicyEndedByClaim', claim_id, ended_on: '2026-05-04' }],
    when: open({ claim_id: 'b4000000-0000-5000-8000-000000000002', happened_on: '2026-05-04' }),
    then: rejected('validation_failed', { happened_on: 'cover ended on 2026-05-04' }),
  })
  scenario('422 validation_failed: what happened after the term of its own cover', {
    given: [
      {
        ...bound,
        components: bound.components.map((component) => ({ ...component, expires_on: '2026-04-01' })),
      },
      ...active.slice(1),
    ],
    when: open({ happened_on: '2026-04-01' }),
    then: rejected('validation_failed', { happened_on: 'cover ended on 2026-04-01' }),
  })
  for (const [what, changes, field, reason] of [
    ['cover ended on that day', { happened_on: '2026-04-15' }, 'happened_on', 'cover ended on 2026-04-15'],
    ['it is still to come', { happened_on: '2026-05-11' }, 'happened_on', 'must not be after today'],
    ['it was before cover began', { happened_on: '2026-02-01' }, 'happened_on', 'before cover begins, on 2026-02-02'],
    ['it is not covered', { claim_type: 'critical_illness', happened_on: '2026-03-01' }, 'claim_type', 'not covered'],
    [
      'that cover is another one',
      { cover_index: 1, happened_on: '2026-03-01' },
      'cover_index',
      'not a cover of this type',
    ],
  ] as const)
    scenario(`422 validation_failed: ${what}`, {
      given: [...active, cancelled],
      when: open(changes),
      then: rejected('validation_failed', { [field]: reason }),
    })
})
