import { describe } from 'vitest'
import { policy } from '#domain/policies/policy.ts'
import type { PolicyEvent } from '#domain/policies/events.ts'
import { termRelease } from '../quotes/builders.ts'
import { scenariosOf } from '../scenario.ts'
import { active, bound, cancelledOn } from '../premiums/premium-builders.ts'

/** A policy whose cover of £250,000 for £27.25 follows prices; its fee of £1.50 does not. First on 2 February 2027. */

const scenario = scenariosOf(policy)
const [life] = bound.components
if (!life) throw new Error('The sample covers nothing.')

type Component = typeof life
const index_on = '2027-02-02'
const indexed = (changes: Partial<typeof bound> = {}, ...components: readonly Partial<Component>[]): PolicyEvent => ({
  ...bound,
  next_indexation_on: index_on,
  ...changes,
  components: (components.length === 0 ? [{ indexation_method: 'rpi' } as const] : components).map(
    (component, cover_index) => ({ ...life, cover_index, ...component }),
  ),
})
const [, activated] = active
if (!activated) throw new Error('The policy is not active.')

const release = termRelease
const [cover] = release.covers
if (!cover) throw new Error('The release has no cover.')
const index = (percent: string | null, now = '2027-02-02T00:00:00.000Z', covers = release.covers) =>
  ({
    type: 'IndexPolicy',
    now,
    rules: {
      rpi:
        percent === null
          ? [{ year: 2026, percent: '9.9' }]
          : [
              { year: 2026, percent: '9.9' },
              { year: 2027, percent },
            ],
      rpi_cap_percent: '10',
    },
    release: { ...release, covers },
  }) as const

const term = (changes: object = {}) => ({
  cover_index: 0,
  cover_amount_pence: 25_000_000,
  monthly_benefit_pence: null,
  premium_pence: 2725,
  ...changes,
})
const then = (premium_pence: number, ...components: readonly ReturnType<typeof term>[]): PolicyEvent => ({
  type: 'PolicyIndexed',
  index_on,
  premium_pence,
  annual_premium_pence: premium_pence * 12,
  components: [...components],
  next_indexation_on: '2028-02-02',
  next_indexation_at: '2028-02-02T00:00:00.000Z',
})

describe('cover follows retail prices', () => {
  for (const [percent, cover_amount_pence, premium_pence] of [
    ['3.4', 25_850_000, 2864],
    ['3.45', 25_862_500, 2866],
    ['0', 25_000_000, 2725],
    ['6.6', 26_650_000, 2995],
    ['6.7', 26_675_000, 2998],
    ['9.999', 27_499_750, 2998],
    ['10', 27_500_000, 2998],
    ['12.5', 27_500_000, 2998],
  ] as const)
    scenario(`by ${percent} %, and the premium by half as much again, by 10 % at most`, {
      given: [indexed(), activated],
      when: index(percent),
      then: [then(premium_pence + 150, term({ cover_amount_pence, premium_pence }))],
    })
  scenario('half a penny up', {
    given: [
      indexed({ premium_pence: 100 }, { indexation_method: 'rpi', premium_pence: 100, cover_amount_pence: 50 }),
      activated,
    ],
    when: index('3'),
    then: [then(105, term({ cover_amount_pence: 52, premium_pence: 105 }))],
  })
  scenario('not a moment before its day', {
    given: [indexed(), activated],
    when: index('3.4', '2027-02-01T23:59:59.999Z'),
    then: [],
  })
  scenario('not when it never does', {
    given: [indexed({ next_indexation_on: null }), activated],
    when: index('3.4'),
    then: [],
  })
  scenario('not when it has ended', {
    given: [indexed(), activated, cancelledOn('2026-08-01')],
    when: index('3.4'),
    then: [],
  })
  scenario('waits a week for the figure of its year', {
    given: [indexed(), activated],
    when: index(null),
    then: [{ type: 'PolicyIndexationDelayed', index_on, reason: 'no_figure', retry_at: '2027-02-09T00:00:00.000Z' }],
  })
  scenario('without an amount the premium alone grows', {
    given: [indexed({}, { indexation_method: 'rpi', cover_amount_pence: null }), activated],
    when: index('3.4'),
    then: [then(3014, term({ cover_amount_pence: null, premium_pence: 2864 }))],
  })
  scenario('with its monthly benefit', {
    given: [
      indexed({}, { indexation_method: 'rpi', cover_amount_pence: 12_000, monthly_benefit_pence: 1000 }),
      activated,
    ],
    when: index('1'),
    then: [then(2916, term({ cover_amount_pence: 12_120, monthly_benefit_pence: 1010, premium_pence: 2766 }))],
  })
})

describe('cover grows by a fixed percentage', () => {
  const covers = (indexation_percent: number | null) => [{ ...cover, indexation_percent }]
  const fixed = indexed({}, { indexation_method: 'fixed_percent' })

  scenario('and its premium alike, whatever retail prices do', {
    given: [fixed, activated],
    when: index(null, undefined, covers(3)),
    then: [then(2957, term({ cover_amount_pence: 25_750_000, premium_pence: 2807 }))],
  })
  scenario('and waits where the release names none', {
    given: [fixed, activated],
    when: index('3.4', undefined, covers(null)),
    then: [{ type: 'PolicyIndexationDelayed', index_on, reason: 'no_figure', retry_at: '2027-02-09T00:00:00.000Z' }],
  })
  scenario('and waits where the release has no such cover', {
    given: [fixed, activated],
    when: index('3.4', undefined, []),
    then: [{ type: 'PolicyIndexationDelayed', index_on, reason: 'no_figure', retry_at: '2027-02-09T00:00:00.000Z' }],
  })
})

describe('of several covers', () => {
  const others = [
    { indexation_method: 'none' },
    { indexation_method: 'decreasing', premium_pence: 100 },
    { indexation_method: 'rpi', premium_pence: 1000, cover_amount_pence: 1_000_000 },
  ] as const

  scenario('only those that follow prices change', {
    given: [indexed({ premium_pence: 3975 }, ...others), activated],
    when: index('2'),
    then: [
      then(
        4005,
        term(),
        term({ cover_index: 1, premium_pence: 100 }),
        term({ cover_index: 2, cover_amount_pence: 1_020_000, premium_pence: 1030 }),
      ),
    ],
  })
  scenario('one without a figure keeps all waiting', {
    given: [indexed({}, { indexation_method: 'fixed_percent' }, { indexation_method: 'rpi' }), activated],
    when: index('2', undefined, [{ ...cover, indexation_percent: null }]),
    then: [{ type: 'PolicyIndexationDelayed', index_on, reason: 'no_figure', retry_at: '2027-02-09T00:00:00.000Z' }],
  })
})

describe('the next time is a year later', () => {
  const last = (end_date: string | null) => ({
    given: [indexed({ end_date }), activated],
    when: index('0'),
  })
  const once = (next_indexation_on: string | null) =>
    ({
      ...then(2875, term()),
      next_indexation_on,
      next_indexation_at: next_indexation_on && `${next_indexation_on}T00:00:00.000Z`,
    }) as PolicyEvent

  scenario('while cover goes on then', { ...last('2028-02-03'), then: [once('2028-02-02')] })
  scenario('and never when cover ends on that day', { ...last('2028-02-02'), then: [once(null)] })
  scenario('always where cover has no end', { ...last(null), then: [once('2028-02-02')] })
})
