import { describe } from 'vitest'
import { ClaimId, type ClaimEvent } from '#domain/claims/events.ts'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyStreamEvent } from '#domain/policies/record.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { bound, cancelledOn, customer_id } from '../premiums/premium-builders.ts'

/** What a claim can be for where a policy has more than one cover. */

const scenario = scenariosOf(policy)

const claim_id = ClaimId.parse('b4000000-0000-5000-8000-000000000001')
const other_id = ClaimId.parse('b4000000-0000-5000-8000-000000000002')
const third_id = ClaimId.parse('b4000000-0000-5000-8000-000000000003')
const today = '2026-05-10'

type Component = (typeof bound.components)[number]
type ClaimType = Component['cover_type']

const cover = (cover_index: number, cover_type: ClaimType, pence: number, changes: Partial<Component> = {}) => {
  const [life] = bound.components
  if (!life) throw new Error('The sample covers nothing.')
  return { ...life, cover_index, cover_type, cover_amount_pence: pence, ...changes }
}
const selling = (...components: readonly Component[]): readonly PolicyStreamEvent[] => [
  { ...bound, components: [...components] },
  { type: 'PolicyActivated', start_date: '2026-02-02' },
]

type Claimed = { readonly id?: ClaimId; readonly on: ClaimType; readonly cover_index?: number | null }
const about = ({ id = claim_id, on }: Claimed, amount_pence: number) => ({
  claim_id: id,
  claim_type: on,
  customer_id,
  amount_pence,
  note: null,
})
const opened = (claimed: Claimed, amount_pence: number): ClaimEvent => ({
  type: 'ClaimOpened',
  ...about(claimed, amount_pence),
  cover_index: claimed.cover_index ?? null,
  happened_on: '2026-05-01',
})
const approved = (claimed: Claimed, pence: number): ClaimEvent => ({ type: 'ClaimApproved', ...about(claimed, pence) })
const paid = (claimed: Claimed, pence: number): readonly ClaimEvent[] => [
  opened(claimed, pence),
  approved(claimed, pence),
  { type: 'ClaimPaid', ...about(claimed, pence), paid_on: today },
]
const approve = (amount_pence: number) =>
  ({
    type: 'DecideClaim',
    claim_id,
    decision: 'approve',
    amount_pence,
    note: null,
    ends_policy: false,
    today,
  }) as const
const atMost = (pence: number, what = 'what is left of what is covered') =>
  rejected('validation_failed', { amount_pence: `must be at most ${pence}, ${what}` }, 'Correct amount_pence and send')

const life = cover(0, 'life', 25_000_000)
const illness = cover(1, 'critical_illness', 10_000_000)
const onLife = { on: 'life' } as const
const onIllness = { on: 'critical_illness' } as const

describe('a claim that names no cover', () => {
  const open = (happened_on: string) =>
    ({
      type: 'OpenClaim',
      claim_id,
      claim_type: 'life',
      cover_index: null,
      happened_on,
      amount_pence: 1,
      note: null,
      today,
    }) as const

  scenario('is on all covers of its type', {
    given: selling(life, illness),
    when: open('2026-05-01'),
    then: [opened(onLife, 1)],
  })
  scenario('can be of a day on which one of them still covered', {
    given: selling({ ...life, expires_on: '2026-04-01' }, cover(1, 'life', 5_000_000, { expires_on: '2026-05-02' })),
    when: open('2026-05-01'),
    then: [opened(onLife, 1)],
  })
  for (const [which, ...expiries] of [
    ['first', null, '2026-04-01'],
    ['last', '2026-04-01', null],
  ] as const)
    scenario(`can be of any day while one of them, the ${which}, has no end`, {
      given: selling(...expiries.map((expires_on, index) => cover(index, 'life', 5_000_000, { expires_on }))),
      when: open('2026-05-01'),
      then: [opened(onLife, 1)],
    })
  scenario('422 validation_failed: not of a day on which all had ended', {
    given: selling({ ...life, expires_on: '2026-04-01' }, cover(1, 'life', 5_000_000, { expires_on: '2026-04-20' })),
    when: open('2026-05-01'),
    then: rejected('validation_failed', { happened_on: 'cover ended on 2026-04-20' }, 'Correct happened_on and send'),
  })
  scenario('422 validation_failed: is for what they are for together, and not for what others are', {
    given: [...selling(life, illness), opened(onLife, 1)],
    when: approve(25_000_001),
    then: atMost(25_000_000),
  })
  scenario('422 validation_failed: leaves each of them no more than all have left', {
    given: [
      ...selling(life, illness),
      ...paid({ ...onLife, id: other_id }, 20_000_000),
      opened({ ...onLife, cover_index: 0 }, 1),
    ],
    when: approve(5_000_001),
    then: atMost(5_000_000),
  })
  scenario('422 validation_failed: takes from two covers of a type, whatever covers of other types there are', {
    given: [
      ...selling(cover(0, 'critical_illness', 25_000_000), cover(1, 'critical_illness', 5_000_000), {
        ...life,
        cover_index: 2,
      }),
      ...paid({ ...onIllness, id: other_id }, 28_000_000),
      opened({ ...onIllness, cover_index: 0 }, 1),
    ],
    when: approve(2_000_001),
    then: atMost(2_000_000),
  })
})

describe('a claim of the day on which the policy was cancelled', () => {
  const onThatDay = { ...opened({ ...onLife, id: other_id }, 25_000_000), happened_on: '2026-05-10' }
  scenario('takes nothing from what others can be paid: cover had ended', {
    given: [
      ...selling(life),
      onThatDay,
      approved({ ...onLife, id: other_id }, 25_000_000),
      opened(onLife, 1),
      cancelledOn('2026-05-10'),
    ],
    when: approve(25_000_000),
    then: [approved(onLife, 25_000_000)],
  })
})

describe('critical illness cover', () => {
  scenario('that is additional pays in full, whatever the life cover has paid', {
    given: [...selling(life, illness), ...paid({ ...onLife, id: other_id }, 25_000_000), opened(onIllness, 1)],
    when: approve(10_000_000),
    then: [approved(onIllness, 10_000_000)],
  })
  scenario('that is accelerated pays in full where the policy has no life cover', {
    given: [...selling({ ...illness, ci_payout_basis: 'accelerated' }), opened(onIllness, 1)],
    when: approve(10_000_000),
    then: [approved(onIllness, 10_000_000)],
  })
})

describe('accelerated critical illness cover beside an additional one', () => {
  const accelerated = cover(1, 'critical_illness', 10_000_000, { ci_payout_basis: 'accelerated' })
  const additional = cover(2, 'critical_illness', 5_000_000)
  const sold = selling({ ...life, cover_amount_pence: 10_000_000 }, accelerated, additional)
  const first = { ...onIllness, id: other_id }

  scenario(
    '422 validation_failed: a claim that names neither leaves no more of the life cover than both can have paid',
    {
      given: [...sold, ...paid(first, 12_000_000), opened(onLife, 1)],
      when: approve(3_000_001),
      then: atMost(3_000_000),
    },
  )
  scenario('pays together what the life cover has left, and the additional cover', {
    given: [...sold, ...paid({ ...onLife, id: other_id }, 4_000_000), opened(onIllness, 1)],
    when: approve(11_000_000),
    then: [approved(onIllness, 11_000_000)],
  })
  scenario('422 validation_failed: and no more than that', {
    given: [...sold, ...paid({ ...onLife, id: other_id }, 4_000_000), opened(onIllness, 1)],
    when: approve(11_000_001),
    then: atMost(11_000_000),
  })
  scenario('422 validation_failed: the additional cover alone pays what all have left', {
    given: [
      ...sold,
      ...paid({ ...onLife, id: other_id }, 10_000_000),
      ...paid({ ...onIllness, id: third_id }, 4_000_000),
      opened({ ...onIllness, cover_index: 2 }, 1),
    ],
    when: approve(1_000_001),
    then: atMost(1_000_000),
  })
  scenario('the additional cover pays in full what the life cover has paid before', {
    given: [...sold, ...paid({ ...onLife, id: other_id }, 10_000_000), opened({ ...onIllness, cover_index: 2 }, 1)],
    when: approve(5_000_000),
    then: [approved({ ...onIllness, cover_index: 2 }, 5_000_000)],
  })
})

describe('a cover that had ended on the day that is claimed for', () => {
  const ended = { ...life, expires_on: '2026-04-01' }

  scenario('422 validation_failed: pays nothing towards a claim on all covers of its type', {
    given: [...selling(ended, cover(1, 'life', 5_000_000)), opened(onLife, 1)],
    when: approve(5_000_001),
    then: atMost(5_000_000),
  })
  scenario('422 validation_failed: nor towards what was paid on all covers of its type before', {
    given: [
      ...selling(ended, cover(1, 'life', 10_000_000), cover(2, 'life', 10_000_000)),
      ...paid({ ...onLife, id: other_id }, 15_000_000),
      opened({ ...onLife, cover_index: 1 }, 1),
    ],
    when: approve(5_000_001),
    then: atMost(5_000_000),
  })
  scenario('422 validation_failed: nor towards the benefit of a month', {
    given: [
      ...selling(
        cover(0, 'income_protection', 2_400_000, { monthly_benefit_pence: 200_000, expires_on: '2026-04-01' }),
        cover(1, 'income_protection', 600_000, { monthly_benefit_pence: 50_000 }),
      ),
      opened({ on: 'income_protection' }, 1),
    ],
    when: approve(50_001),
    then: atMost(50_000, 'the benefit of a month'),
  })
})

describe('a benefit of a month', () => {
  const monthly = (cover_index: number, monthly_benefit_pence: number) =>
    cover(cover_index, 'income_protection', 12 * monthly_benefit_pence, { monthly_benefit_pence })
  const onIncome = { on: 'income_protection' } as const
  const ofMonth = 'the benefit of a month'

  scenario('422 validation_failed: is that of the cover that the claim names', {
    given: [...selling(monthly(0, 200_000), monthly(1, 50_000)), opened({ ...onIncome, cover_index: 1 }, 1)],
    when: approve(50_001),
    then: atMost(50_000, ofMonth),
  })
  scenario('422 validation_failed: is that of all covers of the type, and of no other', {
    given: [...selling(monthly(0, 200_000), monthly(1, 50_000), { ...life, cover_index: 2 }), opened(onIncome, 1)],
    when: approve(250_001),
    then: atMost(250_000, ofMonth),
  })
  scenario('is paid in full', {
    given: [...selling(monthly(0, 200_000), monthly(1, 50_000)), opened(onIncome, 1)],
    when: approve(250_000),
    then: [approved(onIncome, 250_000)],
  })
  scenario('422 validation_failed: does not limit a sum that is paid once', {
    given: [...selling(life, monthly(1, 200_000)), opened(onLife, 1)],
    when: approve(25_000_001),
    then: atMost(25_000_000),
  })
})

describe('cover ends with a claim', () => {
  const note = 'The certificate was seen.'
  const deciding = (decision: 'approve' | 'pay') => ({ ...approve(1), decision, note, ends_policy: true }) as const
  const approvedClaim = [...selling(life), opened(onLife, 1), approved(onLife, 1)]
  const payment: ClaimEvent = { type: 'ClaimPaid', ...about(onLife, 1), note, paid_on: today }

  scenario('once it is paid, not when it is approved', {
    given: [...selling(life), opened(onLife, 1)],
    when: deciding('approve'),
    then: [{ ...approved(onLife, 1), note }],
  })
  scenario('at once when it is paid', {
    given: approvedClaim,
    when: deciding('pay'),
    then: [payment, { type: 'PolicyEndedByClaim', claim_id, ended_on: today }],
  })
  scenario('only where it has not ended before', {
    given: [...approvedClaim, cancelledOn('2026-05-02')],
    when: deciding('pay'),
    then: [payment],
  })
})
