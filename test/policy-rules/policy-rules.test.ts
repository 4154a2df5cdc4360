import { expect, test } from 'vitest'
import { defaultCollectionRules } from '#domain/policy-rules/events.ts'
import type { PolicyRules, PolicyRulesEvent } from '#domain/policy-rules/events.ts'
import { policyRules } from '#domain/policy-rules/policy-rules.ts'
import { defaultPolicyRules, policyRulesOf } from '#domain/policy-rules/record.ts'
import { organisation_id } from '../applications/release.ts'
import { scenariosOf } from '../scenario.ts'

const scenario = scenariosOf(policyRules)
const own: PolicyRules = { ...defaultPolicyRules, rpi: [{ year: 2026, percent: '3.4' }], rpi_cap_percent: '5' }
const declare = (rules: PolicyRules) => ({ type: 'DeclarePolicyRules', organisation_id, rules }) as const
const declared = (rules: PolicyRules): PolicyRulesEvent => ({ type: 'PolicyRulesDeclared', organisation_id, rules })

scenario('how an organisation keeps its policies is what it declares', {
  given: [],
  when: declare(own),
  then: [declared(own)],
})
scenario('declared as it is from the beginning, nothing changes', {
  given: [],
  when: declare(defaultPolicyRules),
  then: [],
})
scenario('declared as it was last, nothing changes', { given: [declared(own)], when: declare(own), then: [] })
scenario('what was declared can be taken back', {
  given: [declared(own)],
  when: declare(defaultPolicyRules),
  then: [declared(defaultPolicyRules)],
})

test('without a declaration no year has its figure yet, and nothing grows by more than 10 % in a year', () => {
  expect(defaultPolicyRules).toEqual({
    collection_rules: defaultCollectionRules,
    rpi: [],
    rpi_cap_percent: '10',
    contact: { address: null, phone: null, email: null },
  })
})

test('the rules are those of the organisation, or those of one that has declared nothing', () => {
  const rulesOf = policyRulesOf(new Map([[organisation_id, own]]))

  expect(rulesOf(organisation_id)).toBe(own)
  expect(rulesOf('6f6c9e0a-3c1b-4d5e-8f70-000000000000' as typeof organisation_id)).toBe(defaultPolicyRules)
})
