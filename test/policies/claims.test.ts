import { describe } from 'vitest'
import { ClaimId, type ClaimEvent } from '#domain/claims/events.ts'
import type { ClaimStatus } from '#domain/claims/record.ts'
import { fromStored } from '#domain/event.ts'
import type { ClaimDecision } from '#domain/policies/claims.ts'
import { policyEvents, type PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { samples } from '../stored-events/samples.ts'

const scenario = scenariosOf(policy)
const sample = samples.find(({ name }) => name === 'PolicyBound.v1')?.event
if (!sample) throw new Error('There is no sample of PolicyBound.')

/** £250,000 of life cover from 2 February 2026. */
const bound = fromStored(policyEvents, sample) as Extract<PolicyEvent, { type: 'PolicyBound' }>
const active: readonly PolicyEvent[] = [bound, { type: 'PolicyActivated', start_date: '2026-02-02' }]
const { customer_id } = bound
const claim_id = ClaimId.parse('b4000000-0000-5000-8000-000000000001')
const today = '2026-05-10'
const about = { claim_id, claim_type: 'life', customer_id, amount_pence: 25_000_000, note: null } as const
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
  ({ type: 'DecideClaim', claim_id, decision, amount_pence, note: null, ends_policy: false, today }) as const

describe('what can be decided about a claim', () => {
  for (const status of statuses)
    for (const decision of decisions) {
      const isPossible = possible[status].includes(decision)
      const isSame = same[status] === decision
      scenario(`${decision} of one that is ${status}: ${isPossible ? 'yes' : isSame ? 'it is so' : '409 conflict'}`, {
        given: [...active, ...histories[status]],
        when: decide(decision),
        then: isPossible ? [eventOf[decision]] : isSame ? [] : rejected('conflict', undefined, status),
      })
    }

  scenario('404 not_found: there is no such claim', {
    given: active,
    when: decide('approve'),
    then: rejected('not_found'),
  })

  scenario('422 validation_failed: nothing can be approved without an amount', {
    given: [...active, openedFor(null)],
    when: decide('approve'),
    then: rejected('validation_failed', { amount_pence: 'required' }),
  })
  scenario('another amount may be approved than was claimed', {
    given: [...active, opened],
    when: decide('approve', 10_000_000),
    then: [{ ...approve, amount_pence: 10_000_000 }],
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
      note: null,
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
  for (const [what, changes, field] of [
    ['cover ended on that day', { happened_on: '2026-04-15' }, 'happened_on'],
    ['it is still to come', { happened_on: '2026-05-11' }, 'happened_on'],
    ['it was before cover began', { happened_on: '2026-02-01' }, 'happened_on'],
    ['it is not covered', { claim_type: 'critical_illness', happened_on: '2026-03-01' }, 'claim_type'],
    ['that cover is another one', { cover_index: 1, happened_on: '2026-03-01' }, 'cover_index'],
  ] as const)
    scenario(`422 validation_failed: ${what}`, {
      given: [...active, cancelled],
      when: open(changes),
      then: rejected('validation_failed', { [field]: '' }),
    })
})
