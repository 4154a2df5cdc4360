import { describe, expect, test } from 'vitest'
import { ClaimId, type ClaimEvent } from '#domain/claims/events.ts'
import { policyEvents, type PolicyEvent } from '#domain/policies/events.ts'
import { policy } from '#domain/policies/policy.ts'
import { termRelease } from '../quotes/builders.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { sampleEvent } from '../stored-events/samples.ts'
import { everyDay } from './calendars.ts'

const scenario = scenariosOf(policy)
/** £28.75 a month for £250,000 from 2 February 2026; £27.25 of it is the cover’s, the rest is the fee. */
const bound = sampleEvent(policyEvents, 'PolicyBound')
const activated: PolicyEvent = { type: 'PolicyActivated', start_date: '2026-02-02' }
const customer_id = bound.customer_id
const [life] = bound.components
if (!life) throw new Error('The sample covers nothing.')

describe('an amendment', () => {
  const asked = { collection_days: [7, 15], note: null, now: '2026-02-02T09:00:00.000Z' }
  const amend = (premium_pence: number | null, collection_day: number | null = null) => {
    const components = premium_pence === null ? [] : [{ cover_index: 0, cover_amount_pence: 30_000_000, premium_pence }]
    return { type: 'AmendPolicy', calendar: everyDay, components, collection_day, ...asked } as const
  }
  const amended: PolicyEvent = {
    type: 'PolicyAmended',
    customer_id,
    premium_pence: 3150,
    annual_premium_pence: 37_800,
    components: [{ cover_index: 0, cover_amount_pence: 30_000_000, monthly_benefit_pence: null, premium_pence: 3000 }],
    collection_day: 15,
    next_collection_on: '2026-02-15',
    next_collection_at: '2026-02-15T00:00:00.000Z',
    note: null,
  }

  scenario('changes a cover, and the premium by as much', {
    given: [bound, activated],
    when: amend(3000),
    then: [amended],
  })
  scenario('once', { given: [bound, activated, amended], when: amend(3000), then: [] })
  test('the policy is for as much as the cover that was bought for its amount', () => {
    const other = { ...life, cover_index: 1, cover_amount_pence: 5_000_000 }
    const sold: PolicyEvent = { ...bound, components: [other, life] }
    expect(stateOf(policy, [bound, activated, amended])?.cover_amount_pence).toBe(30_000_000)
    expect(stateOf(policy, [sold, activated, amended])?.cover_amount_pence).toBe(30_000_000)
    const ofOther: PolicyEvent = {
      ...amended,
      components: [
        { cover_index: 1, cover_amount_pence: 6_000_000, monthly_benefit_pence: null, premium_pence: 3000 },
        { cover_index: 0, cover_amount_pence: 25_000_000, monthly_benefit_pence: null, premium_pence: 3000 },
      ],
    }
    expect(stateOf(policy, [sold, activated, ofOther])?.cover_amount_pence).toBe(25_000_000)
  })
  scenario('of the day collects never earlier than was told', {
    given: [bound, activated, amended],
    when: amend(3000, 7),
    then: [
      {
        ...amended,
        collection_day: 7,
        next_collection_on: '2026-03-07',
        next_collection_at: '2026-03-07T00:00:00.000Z',
      },
    ],
  })
  scenario('422 validation_failed: the product is not collected on such a day', {
    given: [bound, activated],
    when: amend(null, 8),
    then: rejected('validation_failed', { collection_day: 'must be one of 7, 15' }),
  })
  const ofCovers = (...covers: number[]) => {
    const components = covers.map((cover_index) => ({ cover_index, cover_amount_pence: null, premium_pence: 1 }))
    return { type: 'AmendPolicy', calendar: everyDay, components, collection_day: null, ...asked } as const
  }
  scenario('422 validation_failed: there is no such cover', {
    given: [bound],
    when: ofCovers(0, 7),
    then: rejected('validation_failed', { 'components[1].cover_index': 'no cover 7' }),
  })
  scenario('422 validation_failed: a cover is named twice', {
    given: [bound],
    when: ofCovers(0, 0),
    then: rejected('validation_failed', { 'components[1].cover_index': 'before' }),
  })
})

describe('indexation and review', () => {
  const indexed: PolicyEvent = {
    ...bound,
    next_indexation_on: '2027-02-02',
    components: [{ ...life, indexation_method: 'rpi' }],
  }
  const index = (percent?: string, release = termRelease) => {
    const rules = { rpi: percent === undefined ? [] : [{ year: 2027, percent }], rpi_cap_percent: '10' }
    return { type: 'IndexPolicy', now: '2027-02-02T00:00:00.000Z', rules, release } as const
  }
  const grown = (cover_amount_pence: number, premium_pence: number): PolicyEvent => ({
    type: 'PolicyIndexed',
    index_on: '2027-02-02',
    premium_pence: premium_pence + 150,
    annual_premium_pence: (premium_pence + 150) * 12,
    components: [{ cover_index: 0, cover_amount_pence, monthly_benefit_pence: null, premium_pence }],
    next_indexation_on: '2028-02-02',
    next_indexation_at: '2028-02-02T00:00:00.000Z',
  })

  // £27.25 × 1.051, and × 1.05025: half a penny up.
  for (const [percent, cover, premium] of [
    ['3.4', 25_850_000, 2864],
    ['3.35', 25_837_500, 2862],
    ['0', 25_000_000, 2725],
  ] as const)
    scenario(`cover grows by the retail prices, its premium by half as much again: ${percent} %`, {
      given: [indexed, activated],
      when: index(percent),
      then: [grown(cover, premium)],
    })
  for (const [percent, cover, premium] of [
    ['8', 27_000_000, 2998],
    ['14', 27_500_000, 2998],
  ] as const)
    scenario(`neither grows by more than 10 % in a year: ${percent} %`, {
      given: [indexed, activated],
      when: index(percent),
      then: [grown(cover, premium)],
    })
  scenario('by a fixed percentage both grow alike', {
    given: [{ ...indexed, components: [{ ...life, indexation_method: 'fixed_percent' }] }, activated],
    when: index(undefined, {
      ...termRelease,
      covers: termRelease.covers.map((cover) => ({ ...cover, indexation_percent: 5 })),
    }),
    then: [grown(26_250_000, 2861)],
  })
  scenario('without the figure of the year it waits, and says so', {
    given: [indexed, activated],
    when: index(),
    then: [
      {
        type: 'PolicyIndexationDelayed',
        index_on: '2027-02-02',
        reason: 'no_figure',
        retry_at: '2027-02-09T00:00:00.000Z',
      },
    ],
  })

  const reviewable: PolicyEvent = {
    ...bound,
    next_review_on: '2031-02-02',
    components: [{ ...life, premium_basis: 'reviewable', review_period_years: 5 }],
  }
  const components = [{ cover_index: 0, cover_amount_pence: null, premium_pence: 3000 }]

  scenario('the team concludes a review with the premium from then on', {
    given: [reviewable, activated, { type: 'PolicyReviewDue', review_on: '2031-02-02', reason: 'no_rate' }],
    when: { type: 'ReviewPolicy', components, now: '2031-03-01T00:00:00.000Z' },
    then: [
      {
        type: 'PolicyReviewed',
        premium_pence: 3150,
        annual_premium_pence: 37_800,
        components: [
          { cover_index: 0, cover_amount_pence: 25_000_000, monthly_benefit_pence: null, premium_pence: 3000 },
        ],
        next_review_on: '2036-02-02',
        next_review_at: '2036-02-02T00:00:00.000Z',
      },
    ],
  })
  scenario('409 conflict: not before its day', {
    given: [reviewable, activated],
    when: { type: 'ReviewPolicy', components, now: '2031-02-01T00:00:00.000Z' },
    then: rejected('conflict', undefined, '2031-02-02'),
  })
})

describe('a claim', () => {
  const claim_id = ClaimId.parse('b4000000-0000-5000-8000-000000000001')
  const about = { claim_id, claim_type: 'life', customer_id, amount_pence: 25_000_000, note: 'Proven.' } as const
  const opened: ClaimEvent = { type: 'ClaimOpened', ...about, cover_index: 0, happened_on: '2026-05-01' }
  const today = '2026-05-10'
  const { customer_id: _customer, ...asked } = about
  const open = (happened_on: string) => ({ type: 'OpenClaim', ...asked, cover_index: 0, happened_on, today }) as const
  const decide = (decision: 'approve' | 'pay' | 'reopen' | 'close', ends_policy = false) =>
    ({ type: 'DecideClaim', claim_id, decision, amount_pence: null, note: about.note, ends_policy, today }) as const
  const approved: ClaimEvent = { type: 'ClaimApproved', ...about }
  const paid: ClaimEvent = { type: 'ClaimPaid', ...about, paid_on: today }

  scenario('is opened', { given: [bound, activated], when: open('2026-05-01'), then: [opened] })
  scenario('once', { given: [bound, activated, opened], when: open('2026-05-01'), then: [] })
  scenario('422 validation_failed: nothing was covered before the start', {
    given: [bound, activated],
    when: open('2026-02-01'),
    then: rejected('validation_failed', { happened_on: 'before cover begins, on 2026-02-02' }),
  })
  scenario('is approved', { given: [bound, activated, opened], when: decide('approve'), then: [approved] })
  scenario('and then paid, with which cover may end', {
    given: [bound, activated, opened, approved],
    when: decide('pay', true),
    then: [paid, { type: 'PolicyEndedByClaim', claim_id, ended_on: today }],
  })
  scenario('or goes on', { given: [bound, activated, opened, approved], when: decide('pay'), then: [paid] })
  scenario('is paid once', { given: [bound, activated, opened, approved, paid], when: decide('pay'), then: [] })
  scenario('409 conflict: it is not approved', {
    given: [bound, activated, opened],
    when: decide('pay'),
    then: rejected('conflict', undefined, 'open'),
  })
})
