import type { CoverType } from '../values.ts'
import { isMet, type Answers } from './answers.ts'
import { decimalUnits } from './decimal.ts'
import { EndingDecision, type Loading, type UnderwritingRules } from './events.ts'

export type Ending = {
  readonly decision: EndingDecision
  readonly reason: { readonly code: string; readonly message: string }
}

export type Underwriting = {
  /** Set when this life cannot have this cover, or not yet. */
  readonly ending: Ending | undefined
  readonly loadings: readonly Loading[]
  readonly extraPercent: number
  /** Pence a year for each £1,000 of cover. */
  readonly extraPerMillePence: number
}

/** Judges one life for one type of cover, by its answers with what is derived from them. */
export const underwrite = (rules: UnderwritingRules, answers: Answers, coverType: CoverType): Underwriting => {
  const loadings: Loading[] = []
  const endings: Ending[] = []
  let extraPercent = 0
  let extraPerMillePence = 0

  for (const rule of rules.rules) {
    if (rule.cover_types && !rule.cover_types.includes(coverType)) continue
    if (!(Array.isArray(rule.when) ? rule.when.every((when) => isMet(when, answers)) : isMet(rule.when, answers)))
      continue

    const { code, label, extra_percent, extra_per_mille, decision, message = label } = rule
    if (decision !== undefined) endings.push({ decision, reason: { code, message } })
    if (extra_percent !== undefined) {
      extraPercent += extra_percent
      loadings.push({ code, label, basis: 'percent', value: String(extra_percent) })
    }
    if (extra_per_mille !== undefined) {
      extraPerMillePence += Number(decimalUnits(extra_per_mille, 2))
      loadings.push({ code, label, basis: 'per_mille', value: extra_per_mille })
    }
  }
  endings.push(...endingByExtra(rules, extraPercent))
  return { ending: mostSevere(endings), loadings, extraPercent, extraPerMillePence }
}

/** A judgement in which people have taken the place of the rules that end an application. */
export const onTerms = (judged: Underwriting, added: readonly Loading[]): Underwriting => {
  const sumOf = (basis: Loading['basis'], places: number) =>
    added.reduce(
      (sum, loading) => (loading.basis === basis ? sum + Number(decimalUnits(loading.value, places)) : sum),
      0,
    )
  return {
    ending: undefined,
    loadings: [...judged.loadings, ...added.map(({ code, label, basis, value }) => ({ code, label, basis, value }))],
    extraPercent: judged.extraPercent + sumOf('percent', 0),
    extraPerMillePence: judged.extraPerMillePence + sumOf('per_mille', 2),
  }
}

const endingByExtra = (rules: UnderwritingRules, extraPercent: number): readonly Ending[] => {
  const { refer_above_percent, decline_above_percent } = rules
  const ending = (decision: EndingDecision, message: string) => [
    { decision, reason: { code: 'extra_premium_limit', message } },
  ]
  if (extraPercent > decline_above_percent)
    return ending('decline', 'We cannot offer this cover at a price we think fair.')
  if (extraPercent > refer_above_percent) return ending('refer', 'Our underwriters need to look at your answers first.')
  return []
}

/** Decline comes before postpone, and postpone before refer; of equal ones, the first. */
export const mostSevere = (endings: readonly Ending[]): Ending | undefined => {
  if (endings.length === 0) return undefined
  for (const severe of EndingDecision.options) {
    const found = endings.find(({ decision }) => decision === severe)
    if (found) return found
  }
  return undefined
}

/** Rules of a plain life and health questionnaire, for a release that brings none of its own. */
export const standardUnderwriting: UnderwritingRules = {
  derived: [{ key: 'bmi', kind: 'bmi', height_cm: 'height_cm', weight_kg: 'weight_kg' }],
  rules: [
    {
      code: 'bmi_30',
      label: 'Body mass index 30 to 34.9',
      when: { key: 'bmi', min: 30, below: 35 },
      extra_percent: 25,
    },
    {
      code: 'bmi_35',
      label: 'Body mass index 35 to 39.9',
      when: { key: 'bmi', min: 35, below: 40 },
      extra_percent: 75,
    },
    {
      code: 'bmi_40',
      label: 'Body mass index 40 or more',
      when: { key: 'bmi', min: 40 },
      decision: 'refer',
      message: 'Our underwriters need to look at your height and weight first.',
    },
    {
      code: 'blood_pressure',
      label: 'Controlled high blood pressure',
      when: { key: 'blood_pressure', equals: 'controlled' },
      extra_percent: 25,
    },
    {
      code: 'family_history',
      label: 'Family history before the age of 60',
      when: { key: 'family_history', equals: true },
      cover_types: ['critical_illness'],
      extra_percent: 50,
    },
    {
      code: 'alcohol',
      label: 'More than 30 units of alcohol a week',
      when: { key: 'alcohol_units', above: 30 },
      decision: 'refer',
      message: 'Our underwriters need to look at how much you drink first.',
    },
    {
      code: 'hazardous_pursuits',
      label: 'Hazardous pursuits',
      when: { key: 'hazardous_pursuits', equals: true },
      extra_per_mille: '1.50',
    },
  ],
  refer_above_percent: 200,
  decline_above_percent: 350,
}
