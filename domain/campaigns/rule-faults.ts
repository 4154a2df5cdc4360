import { patternFault } from '../pattern.ts'
import { Rejection } from '../rejection.ts'
import type { LeadRule } from './events.ts'

/** Refuses rules that no lead could meet, or that nobody can check. */
export const refuseUnusableRules = (rules: readonly LeadRule[]): void => {
  const faults = rules.flatMap((rule, index) => {
    const reason = faultOf(rule)
    return reason === undefined ? [] : [[`rules[${index}]`, reason] as const]
  })
  const [first] = faults
  if (!first) return
  const [place, reason] = first
  throw new Rejection('validation_failed', `Correct ${place}: it ${reason}.`, Object.fromEntries(faults))
}

const faultOf = (rule: LeadRule): string | undefined => {
  switch (rule.rule) {
    case 'format':
      if (rule.format !== 'pattern')
        return rule.pattern === undefined ? undefined : 'has a pattern, which belongs to format pattern'
      return rule.pattern === undefined ? 'needs a pattern' : patternFault(rule.pattern)
    case 'age_range':
      if (rule.min === undefined && rule.max === undefined) return 'needs min, max or both'
      return (rule.min ?? 0) <= (rule.max ?? Infinity) ? undefined : 'has a min above its max'
    case 'postcode_range':
      return postcodeFault([...(rule.allowed ?? []), ...(rule.excluded ?? [])])
    case 'required':
    case 'allowed_values':
    case 'consent':
    case 'no_duplicate':
      return undefined
  }
}

/** An area (`LS`), a district (`LS1`) or a whole postcode. */
const place = /^[A-Z]{1,2}(\d[A-Z\d]?(\d[A-Z]{2})?)?$/

const postcodeFault = (places: readonly string[]): string | undefined => {
  if (places.length === 0) return 'needs allowed or excluded postcodes'
  const unknown = places.find((each) => !place.test(each.replaceAll(/\s/g, '').toUpperCase()))
  return unknown === undefined
    ? undefined
    : `names ${unknown}, which is no postcode, nor the beginning of one such as LS or LS1`
}
