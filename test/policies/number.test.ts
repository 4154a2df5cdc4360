import { expect, test } from 'vitest'
import { luhnDigit, policyNumber, policyNumberOf } from '#domain/policies/number.ts'
import { PolicyId } from '#domain/values.ts'
import { organisation_id } from '../applications/release.ts'
import { rejected, scenariosOf } from '../scenario.ts'

/** Each number is one policy's, and a mistyped one is known by its last digit. */

test.each([
  ['12345678', '2'],
  ['01234567', '4'],
  ['00000000', '0'],
  ['99999999', '8'],
  ['7992739871', '3'],
])('the check digit of %s is %s', (digits, digit) => {
  expect(luhnDigit(digits)).toBe(digit)
  expect(policyNumberOf('NLT', digits)).toBe(`NLT-${digits}${digit}`)
})

const scenario = scenariosOf(policyNumber)
const idOf = (number: number) => PolicyId.parse(`b0000000-0000-4000-8000-00000000000${number}`)
const claim = (number: number) =>
  ({ type: 'ClaimPolicyNumber', organisation_id, policy_number: 'NLT-123456782', policy_id: idOf(number) }) as const
const { type: _type, ...first } = claim(1)
const claimed = { type: 'PolicyNumberClaimed', ...first } as const

scenario('a number is the policy’s that claims it first', { given: [], when: claim(1), then: [claimed] })
scenario('once', { given: [claimed], when: claim(1), then: [] })
scenario('409 conflict: it is another policy’s', {
  given: [claimed],
  when: claim(2),
  then: rejected('conflict', undefined, 'taken'),
})
