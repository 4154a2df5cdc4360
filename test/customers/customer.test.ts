import { expect, test } from 'vitest'
import { customer, type RecordCustomer } from '#domain/customers/customer.ts'
import { customerEvents, type CustomerEvent, type CustomerDetails } from '#domain/customers/events.ts'
import { Customer, detailsOf, evolveCustomer, nothingKnown } from '#domain/customers/record.ts'
import { ApplicationId, CustomerId } from '#domain/values.ts'
import { organisation_id } from '../applications/release.ts'
import { scenariosOf, stateOf } from '../scenario.ts'

const scenario = scenariosOf(customer)
const customer_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
const application_id = ApplicationId.parse('a0000000-0000-4000-8000-000000000001')
const other = ApplicationId.parse('a0000000-0000-4000-8000-000000000002')
const anna: CustomerDetails = {
  ...nothingKnown,
  first_name: 'Anna',
  last_name: 'Ash',
  email: 'anna@example.org',
  city: 'York',
}

const created: CustomerEvent = { type: 'CustomerCreated', organisation_id, customer_id, details: anna, application_id }
const updated = (changed: Partial<CustomerDetails>): CustomerEvent => ({
  type: 'CustomerUpdated',
  changed,
  application_id,
})
const proposed = (values: Partial<CustomerDetails>): Extract<CustomerEvent, { type: 'CustomerValuesProposed' }> => ({
  type: 'CustomerValuesProposed',
  proposed: values,
  application_id,
})
const told = (by: RecordCustomer['by'], sent: Partial<CustomerDetails>): RecordCustomer => ({
  type: 'RecordCustomer',
  organisation_id,
  customer_id,
  application_id,
  details: { ...anna, ...sent },
  sent,
  by,
})

for (const by of ['server', 'browser'] as const) {
  scenario(`a ${by} application tells of a new customer, who is created`, {
    given: [],
    when: told(by, anna),
    then: [created],
  })
  scenario(`what a ${by} application tells is known already`, { given: [created], when: told(by, anna), then: [] })
}
scenario('a server-only application updates the fields it sent', {
  given: [created],
  when: told('server', { city: 'Leeds', first_name: 'Anna' }),
  then: [updated({ city: 'Leeds' })],
})
scenario('a browser application never changes an existing customer: the differences are proposed', {
  given: [created],
  when: told('browser', { city: 'Leeds', first_name: 'Anna' }),
  then: [proposed({ city: 'Leeds' })],
})
scenario('the same is proposed once', {
  given: [created, proposed({ city: 'Leeds' })],
  when: told('browser', { city: 'Leeds' }),
  then: [],
})
scenario('what is told later is proposed beside what was told before', {
  given: [created, proposed({ city: 'Leeds' })],
  when: told('browser', { title: 'Dr' }),
  then: [proposed({ city: 'Leeds', title: 'Dr' })],
})
scenario('an application that agrees in the end proposes nothing any more', {
  given: [created, proposed({ city: 'Leeds' })],
  when: told('browser', { city: 'York' }),
  then: [proposed({})],
})
scenario('a person who had no email address has the one that was claimed for them', {
  given: [{ ...created, details: { ...anna, email: null } }],
  when: told('browser', { email: 'anna@example.org', city: 'Leeds' }),
  then: [updated({ email: 'anna@example.org' })],
})
scenario('a person without an email address stays so when a web page tells of none', {
  given: [{ ...created, details: { ...anna, email: null } }],
  when: told('browser', { city: 'Leeds' }),
  then: [proposed({ city: 'Leeds' })],
})
scenario('what was updated is not updated again', {
  given: [created, updated({ city: 'Leeds' })],
  when: told('server', { city: 'Leeds' }),
  then: [],
})

test('proposals stand beside the record, by application', () => {
  const fromOther: CustomerEvent = { ...proposed({ title: 'Dr' }), application_id: other }
  expect(stateOf(customer, [created, updated({ title: 'Ms' }), proposed({ city: 'Leeds' }), fromOther])).toMatchObject({
    ...anna,
    title: 'Ms',
    proposed: { [application_id]: { city: 'Leeds' }, [other]: { title: 'Dr' } },
  })
})

test('the latest fifty proposals are kept, and none that was taken back', () => {
  const idOf = (index: number) => ApplicationId.parse(`a0000000-0000-4000-8000-${String(index).padStart(12, '0')}`)
  const many = Array.from({ length: 60 }, (_, index) => ({ ...proposed({ title: 'Dr' }), application_id: idOf(index) }))
  const takenBack = { ...proposed({}), application_id: idOf(59) }
  const held = stateOf(customer, [created, ...many, takenBack])?.proposed ?? {}
  expect(Object.keys(held)).toEqual(Array.from({ length: 49 }, (_, index) => idOf(index + 10)))
})

test('a customer is what was told when they were created, with what changed and when', () => {
  const at = '2026-01-15T12:00:00.000Z'
  const later = '2026-02-01T09:00:00.000Z'
  const record = {
    ...anna,
    id: customer_id,
    organisation_id,
    proposed: {},
    consent: [],
    verified: {},
    created_at: at,
    updated_at: at,
  }
  const evolved = (event: CustomerEvent) => evolveCustomer(stateOf(customer, [created]), event, { occurred_at: later })

  expect(stateOf(customer, [created])).toEqual(record)
  expect(evolved(updated({ city: 'Leeds' }))).toEqual({ ...record, city: 'Leeds', updated_at: later })
  expect(evolved(proposed({ city: 'Leeds' }))).toEqual({
    ...record,
    proposed: { [application_id]: { city: 'Leeds' } },
    updated_at: later,
  })
  for (const event of [updated({}), proposed({})])
    expect(evolveCustomer(undefined, event, { occurred_at: later })).toBeUndefined()
  expect(Customer.parse(record)).toEqual(record)
  expect(detailsOf(record)).toEqual(anna)
  expect(customer.category).toBe('customer')
})

test('what is told of a customer is encrypted under their own key', () => {
  for (const event of Object.values(customerEvents)) expect(event.subject({}, customer_id)).toBe(customer_id)
})
