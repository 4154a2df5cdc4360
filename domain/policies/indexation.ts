import type { Release } from '../catalogue/events.ts'
import type { PolicyRules } from '../policy-rules/events.ts'
import { dateIn, startOfDayIn } from '../time-zone.ts'
import { daysAfter, yearsAfter } from '../dates.ts'
import { hasEnded } from './ended.ts'
import type { PolicyEvent } from './events.ts'
import type { PolicyComponent } from './record.ts'
import type { PolicyState } from './state.ts'
import { termsWith } from './terms.ts'

/** Sent when the day has come on which covers follow prices. */
export type IndexPolicy = {
  readonly type: 'IndexPolicy'
  readonly now: string
  readonly rules: Pick<PolicyRules, 'rpi' | 'rpi_cap_percent'>
  readonly release: Release
}

const waitDays = 7

/** Where a figure is missing nothing is indexed, and it is said why. */
export const indexPolicy = ({ now, rules, release }: IndexPolicy, policy: PolicyState): readonly PolicyEvent[] => {
  const { next_indexation_on: index_on, time_zone, end_date } = policy
  if (hasEnded(policy) || index_on === null || index_on > dateIn(time_zone, now)) return []
  const year = Number(index_on.slice(0, 4))
  const indexed = policy.components
    .filter(
      ({ indexation_method: method, status, expires_on }) =>
        (method === 'rpi' || method === 'fixed_percent') &&
        status === 'active' &&
        (expires_on === null || expires_on > index_on),
    )
    .map((component) => ({ component, growth: growthOf(component, { rules, release, year }) }))
  if (indexed.some(({ growth }) => growth === undefined)) {
    const retry_at = startOfDayIn(time_zone, daysAfter(dateIn(time_zone, now), waitDays))
    return [{ type: 'PolicyIndexationDelayed', index_on, reason: 'no_figure', retry_at }]
  }
  const changes = indexed.map(({ component, growth = { cover: 0, premium: 0 } }) => ({
    cover_index: component.cover_index,
    cover_amount_pence:
      component.cover_amount_pence === null ? null : grown(component.cover_amount_pence, growth.cover),
    premium_pence: grown(component.premium_pence, growth.premium),
  }))
  const next = yearsAfter(index_on, 1)
  const next_indexation_on = end_date !== null && next >= end_date ? null : next
  const next_indexation_at = next_indexation_on === null ? null : startOfDayIn(time_zone, next_indexation_on)
  return [{ type: 'PolicyIndexed', index_on, ...termsWith(policy, changes), next_indexation_on, next_indexation_at }]
}

const whole = 100_000

/** `3.4` is 3,400 of 100,000. */
const thousandths = (percent: string): number => {
  const [units = '0', part = ''] = percent.split('.')
  return Number(units) * 1000 + Number(part.padEnd(3, '0'))
}

/** Half a penny up. */
const grown = (pence: number, growth: number): number => Math.floor((pence * (whole + growth) + whole / 2) / whole)

type Growth = { readonly cover: number; readonly premium: number }
type By = Pick<IndexPolicy, 'rules' | 'release'> & { readonly year: number }

/**
 * The yearly growth of a cover and its premium, in thousandths of a percent; undefined: there is no figure yet. The added
 * cover is bought at a greater age: the premium grows by half as much again as the retail prices.
 */
const growthOf = (component: PolicyComponent, { rules, release, year }: By): Growth | undefined => {
  if (component.indexation_method === 'fixed_percent') {
    const percent = release.covers[component.cover_index]?.indexation_percent
    return percent === undefined || percent === null ? undefined : { cover: percent * 1000, premium: percent * 1000 }
  }
  const figure = rules.rpi.find((each) => each.year === year)
  if (!figure) return undefined
  const [rpi, cap] = [thousandths(figure.percent), thousandths(rules.rpi_cap_percent)]
  return { cover: Math.min(rpi, cap), premium: Math.min(rpi * 1.5, cap) }
}
