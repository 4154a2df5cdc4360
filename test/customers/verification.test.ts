import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { customer } from '#domain/customers/customer.ts'
import type { CustomerEvent } from '#domain/customers/events.ts'
import { isVerified, nothingKnown } from '#domain/customers/record.ts'
import { ApplicationId, CustomerId } from '#domain/values.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { verificationAskedBy, verificationTokenOf } from '#infra/crypto/verification-tokens.ts'
import { organisation_id } from '../applications/release.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

const scenario = scenariosOf(customer)
const customer_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
const application_id = ApplicationId.parse('a0000000-0000-4000-8000-000000000001')
const details = { ...nothingKnown, email: 'anna@example.org' }
const created: CustomerEvent = { type: 'CustomerCreated', organisation_id, customer_id, details, application_id }
const moved = (email: string): CustomerEvent => ({ type: 'CustomerUpdated', changed: { email }, application_id })

const said = { detail: 'email', method: 'called back', source: { type: 'operator', id: null } } as const
const verify = { type: 'VerifyDetail', ...said, value: 'anna@example.org' } as const
const verified: CustomerEvent = { type: 'CustomerDetailVerified', ...said, value: 'anna@example.org' }
const withdraw = { type: 'WithdrawVerification', ...said } as const
const withdrawn: CustomerEvent = { type: 'CustomerVerificationWithdrawn', ...said }

scenario('the address that a person has is confirmed', { given: [created], when: verify, then: [verified] })
scenario('what is confirmed is not confirmed again', { given: [created, verified], when: verify, then: [] })
scenario('an address that the person does not have is not confirmed', {
  given: [created, moved('other@example.org')],
  when: verify,
  then: rejected('validation_failed', { value: 'is not the email address of the person' }, 'another email address'),
})
scenario('a number that the person does not have is not confirmed', {
  given: [created],
  when: { ...verify, detail: 'phone_number', value: '+447700900123' },
  then: rejected('validation_failed', { value: 'is not the telephone number of the person' }),
})
scenario('nothing of a person who is not known is confirmed', {
  given: [],
  when: verify,
  then: rejected('not_found', undefined, 'no person with this id'),
})
scenario('what was confirmed is taken back', { given: [created, verified], when: withdraw, then: [withdrawn] })
scenario('what was not confirmed is not taken back', { given: [created], when: withdraw, then: [] })
scenario('what was taken back can be confirmed again', {
  given: [created, verified, withdrawn],
  when: verify,
  then: [verified],
})

test('another address is not the one that was confirmed; the same one again is', () => {
  const isAfter = (...events: readonly CustomerEvent[]) => {
    const record = stateOf(customer, [created, ...events])
    return record && isVerified(record, 'email')
  }

  expect(isAfter()).toBe(false)
  expect(isAfter(verified)).toBe(true)
  expect(isAfter(verified, moved('other@example.org'))).toBe(false)
  expect(isAfter(verified, moved('other@example.org'), moved('anna@example.org'))).toBe(true)
  expect(isAfter(verified, withdrawn)).toBe(false)
  const record = stateOf(customer, [created, verified])
  expect(record && isVerified(record, 'phone_number')).toBe(false)
})

const [first = '', second = ''] = [1, 2].map(() => randomBytes(32).toString('base64'))
const asked = {
  organisation_id: '6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f',
  contact_id: customer_id,
  detail: 'phone_number',
  expires_at: new Date('2026-03-01T10:00:00.000Z'),
} as const

test('a link says whom it is about and is for one value, which cannot be read from it', () => {
  const keys = deriveKeys(first)
  const token = verificationTokenOf(keys, asked, '+447700900123')
  const { isFor, ...found } = verificationAskedBy(keys, token) ?? {}

  expect(found).toEqual(asked)
  expect([isFor?.('+447700900123'), isFor?.('+447700900124'), isFor?.('')]).toEqual([true, false, false])
  expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('7700900123')
})

test('a link of another key, or one that was changed, is for nothing; one of an earlier master key still works', () => {
  const token = verificationTokenOf(deriveKeys(first), asked, 'x')
  const changed = `${token.slice(0, 40)}${token[40] === 'A' ? 'B' : 'A'}${token.slice(41)}`

  expect(verificationAskedBy(deriveKeys(second), token)?.isFor('x')).toBe(false)
  expect(verificationAskedBy(deriveKeys(first), changed)?.isFor('x')).toBe(false)
  expect(verificationAskedBy(deriveKeys(second, [first]), token)?.isFor('x')).toBe(true)
  for (const other of ['', 'A'.repeat(71), token.slice(1), `${token}A`])
    expect(verificationAskedBy(deriveKeys(first), other)).toBeUndefined()
})
