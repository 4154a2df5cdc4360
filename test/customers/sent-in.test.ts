import { describe, expect, test } from 'vitest'
import { customer } from '#domain/customers/customer.ts'
import type { ConsentEntry, CustomerDetails, CustomerEvent } from '#domain/customers/events.ts'
import { Customer, nameKey, nothingKnown } from '#domain/customers/record.ts'
import type { ConsentSaid, SendCustomerIn } from '#domain/customers/send-in.ts'
import { ApplicationId, CustomerId, IngestId } from '#domain/values.ts'
import { organisation_id } from '../applications/release.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'

/** What leads tell of a person, what the team makes of it, and what the person says to being contacted. */

const scenario = scenariosOf(customer)
const customer_id = CustomerId.parse('c0000000-0000-4000-8000-000000000001')
const application_id = ApplicationId.parse('a0000000-0000-4000-8000-000000000001')
const ingest_id = IngestId.parse('a5000000-0000-4000-8000-000000000001')
const otherIngest = IngestId.parse('a5000000-0000-4000-8000-000000000002')
const anna = { first_name: 'Anna', email: 'anna@example.org' }

const created = (details: Partial<CustomerDetails> = anna): CustomerEvent => ({
  type: 'CustomerCreated',
  organisation_id,
  customer_id,
  details: { ...nothingKnown, ...details },
  application_id,
})
const sendIn = (details: Partial<CustomerDetails>, changes: Partial<SendCustomerIn> = {}): SendCustomerIn => ({
  type: 'SendCustomerIn',
  organisation_id,
  customer_id,
  ingest_id,
  details,
  contested: [],
  consent: null,
  ...changes,
})
const sentIn = (details: Partial<CustomerDetails>): CustomerEvent => ({
  type: 'CustomerSentIn',
  organisation_id,
  customer_id,
  details: { ...nothingKnown, ...details },
  ingest_id,
})
const filled = (changed: Partial<CustomerDetails>, from: IngestId | null = ingest_id): CustomerEvent => ({
  type: 'CustomerDetailsFilled',
  changed,
  ingest_id: from,
})
const proposed = (values: Partial<CustomerDetails>, from = ingest_id): CustomerEvent => ({
  type: 'CustomerDetailsProposed',
  proposed: values,
  ingest_id: from,
})
const recordOf = (...events: readonly CustomerEvent[]) => {
  const record = stateOf(customer, events)
  if (!record) throw new Error('Nobody is known.')
  return record
}

describe('a lead tells of a person', () => {
  scenario('who was not known', { given: [], when: sendIn(anna), then: [sentIn(anna)] })
  scenario('who was not known, with a detail that is another person’s', {
    given: [],
    when: sendIn(anna, { contested: ['email'] }),
    then: [sentIn({ first_name: 'Anna' }), proposed({ email: 'anna@example.org' })],
  })
  scenario('of whom something is filled in that was not known', {
    given: [created()],
    when: sendIn({ ...anna, city: 'York', last_name: 'Ash' }),
    then: [filled({ city: 'York', last_name: 'Ash' })],
  })
  scenario('and what differs from what is held is proposed, and never overwrites', {
    given: [created()],
    when: sendIn({ first_name: 'Ann', city: 'York' }),
    then: [filled({ city: 'York' }), proposed({ first_name: 'Ann' })],
  })
  scenario('and what is another person’s is proposed, and never filled in', {
    given: [created()],
    when: sendIn({ phone_number: '+447700900123', city: 'York' }, { contested: ['phone_number'] }),
    then: [filled({ city: 'York' }), proposed({ phone_number: '+447700900123' })],
  })
  scenario('and what is held already is no news, whoever else has it', {
    given: [created()],
    when: sendIn(anna, { contested: ['email'] }),
    then: [],
  })
  scenario('and what it does not know takes nothing away', {
    given: [created()],
    when: sendIn({ first_name: null, city: null }),
    then: [],
  })

  test('what it filled in and proposed is held apart', () => {
    const record = recordOf(created(), filled({ city: 'York' }), proposed({ first_name: 'Ann' }))

    expect(record).toMatchObject({ city: 'York', first_name: 'Anna', proposed: { [ingest_id]: { first_name: 'Ann' } } })
    expect(Customer.parse(record)).toEqual(record)
  })
})

describe('the team settles what was proposed', () => {
  const two = proposed({ first_name: 'Ann', city: 'Leeds' })
  const settle = (
    accept: (keyof CustomerDetails)[],
    refuse: (keyof CustomerDetails)[],
    source_id: string = ingest_id,
  ) => ({ type: 'SettleProposals', source_id, accept, refuse }) as const
  const settled = (...fields: (keyof CustomerDetails)[]): CustomerEvent => ({
    type: 'CustomerProposalsSettled',
    source_id: ingest_id,
    fields,
  })

  scenario('what is accepted becomes the person’s own', {
    given: [created(), two],
    when: settle(['first_name'], []),
    then: [filled({ first_name: 'Ann' }, null), settled('first_name')],
  })
  scenario('what is refused does not', {
    given: [created(), two],
    when: settle([], ['city']),
    then: [settled('city')],
  })
  scenario('one is accepted and another refused', {
    given: [created(), two],
    when: settle(['city'], ['first_name']),
    then: [filled({ city: 'Leeds' }, null), settled('city', 'first_name')],
  })
  scenario('what is named twice is settled once', {
    given: [created(), two],
    when: settle(['city'], ['city']),
    then: [filled({ city: 'Leeds' }, null), settled('city')],
  })
  scenario('what the person has by now is not filled in again', {
    given: [created(), two, { type: 'CustomerUpdated', changed: { city: 'Leeds' }, application_id }],
    when: settle(['city'], []),
    then: [settled('city')],
  })
  scenario('of two that are accepted, one of which the person has by now, both are filled in', {
    given: [created(), two, { type: 'CustomerUpdated', changed: { city: 'Leeds' }, application_id }],
    when: settle(['city', 'first_name'], []),
    then: [filled({ first_name: 'Ann', city: 'Leeds' }, null), settled('city', 'first_name')],
  })
  scenario('what was not proposed is not settled', {
    given: [created(), two],
    when: settle(['last_name'], ['title']),
    then: [],
  })
  scenario('and what was proposed with it is', {
    given: [created(), two],
    when: settle(['last_name', 'city'], []),
    then: [filled({ city: 'Leeds' }, null), settled('city')],
  })
  scenario('nothing was proposed by another lead', {
    given: [created(), two],
    when: settle(['city'], [], otherIngest),
    then: [],
  })
  scenario('404 not_found: nobody has this id', {
    given: [],
    when: settle(['city'], []),
    then: rejected('not_found', undefined, 'no person with this id'),
  })

  test('what was settled is proposed no more, what was not still is', () => {
    expect(recordOf(created(), two, settled('city')).proposed).toEqual({ [ingest_id]: { first_name: 'Ann' } })
    expect(recordOf(created(), two, settled('city', 'first_name')).proposed).toEqual({})
  })
})

describe('consent', () => {
  const entry = (changes: Partial<ConsentEntry> = {}): ConsentEntry => ({
    purpose: 'first_party_marketing',
    channel: 'email',
    state: 'granted',
    basis: 'consent',
    ...changes,
  })
  const said = (changes: Partial<ConsentSaid> = {}): ConsentSaid => ({
    entries: [entry()],
    method: 'form',
    wording: 'May we write to you?',
    said_at: '2026-03-01T00:00:00.000Z',
    source: { type: 'ingest', id: ingest_id },
    ...changes,
  })
  const recorded = (changes: Partial<ConsentSaid> = {}): CustomerEvent => ({
    type: 'CustomerConsentRecorded',
    ...said(changes),
  })
  const record = (changes: Partial<ConsentSaid> = {}) => ({ type: 'RecordConsent', said: said(changes) }) as const
  const given = [created(), recorded()]
  const [before, later] = ['2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00.001Z']
  const refused = [entry({ state: 'refused' })]
  const softly = [entry({ basis: 'soft_opt_in' })]

  scenario('is recorded with how and when it was said', { given: [created()], when: record(), then: [recorded()] })
  scenario('comes with a lead', {
    given: [],
    when: sendIn(anna, { consent: said() }),
    then: [sentIn(anna), recorded()],
  })
  scenario('that a lead repeats is not recorded again', { given, when: sendIn(anna, { consent: said() }), then: [] })
  scenario('is recorded once', { given, when: record(), then: [] })
  scenario('of a person who is not known is not recorded', { given: [], when: record(), then: [] })
  scenario('that was said later counts', {
    given,
    when: record({ entries: refused, said_at: later }),
    then: [recorded({ entries: refused, said_at: later })],
  })
  scenario('that was said at the same time otherwise counts', {
    given,
    when: record({ entries: refused }),
    then: [recorded({ entries: refused })],
  })
  scenario('that was said earlier does not', { given, when: record({ entries: refused, said_at: before }), then: [] })
  scenario('that was said again later is recorded again', {
    given,
    when: record({ said_at: later }),
    then: [recorded({ said_at: later })],
  })
  scenario('on another basis at the same time is recorded', {
    given: [created(), recorded({ entries: softly })],
    when: record(),
    then: [recorded()],
  })
  scenario('that nobody said is not set against what somebody did', {
    given: [created(), recorded({ entries: refused })],
    when: record({ entries: softly, said_at: later }),
    then: [],
  })
  scenario('that nobody said is recorded where nothing is known', {
    given: [created()],
    when: record({ entries: softly }),
    then: [recorded({ entries: softly })],
  })
  scenario('that is refused by a box is said', {
    given,
    when: record({ entries: [entry({ state: 'refused', basis: 'soft_opt_in' })], said_at: later }),
    then: [recorded({ entries: [entry({ state: 'refused', basis: 'soft_opt_in' })], said_at: later })],
  })
  scenario('to another channel, or for another purpose, is another', {
    given,
    when: record({ entries: [entry(), entry({ channel: 'sms' }), entry({ purpose: 'service' })], said_at: before }),
    then: [recorded({ entries: [entry({ channel: 'sms' }), entry({ purpose: 'service' })], said_at: before })],
  })

  test('the last that was said for a purpose over a channel is held', () => {
    const { consent } = recordOf(
      created(),
      recorded({ entries: [entry(), entry({ channel: 'sms' }), entry({ purpose: 'service' })] }),
      recorded({ entries: refused, said_at: later }),
    )
    const { entries: _entries, ...how } = said()

    expect(consent).toEqual([
      { ...entry({ channel: 'sms' }), ...how },
      { ...entry({ purpose: 'service' }), ...how },
      { ...entry({ state: 'refused' }), ...how, said_at: later },
    ])
  })
})

test('what is shown of a person is what is known of them, with nothing left out', () => {
  const source = { type: 'operator', id: null } as const
  const record = recordOf(
    created(),
    { type: 'CustomerDetailVerified', detail: 'email', method: 'called back', source, value: 'anna@example.org' },
    {
      type: 'CustomerConsentRecorded',
      entries: [{ purpose: 'service', channel: 'post', state: 'withdrawn', basis: 'consent' }],
      method: 'letter',
      wording: null,
      said_at: '2026-03-01T00:00:00.000Z',
      source,
    },
  )

  expect(Customer.parse(record)).toEqual(record)
})

test.each([
  ['Anna', 'Ash', 'anna ash'],
  ['ÁNNA ', 'O’Brien-Smith', 'anna obriensmith'],
  ['Anna2', 'Ash', 'anna2 ash'],
  [null, 'Ash', null],
  ['Anna', null, null],
  ['—', 'Ash', null],
  ['Anna', '?', null],
])('people are compared by name without case, accents, spaces and signs: %s %s is %s', (first_name, last_name, key) => {
  expect(nameKey({ first_name, last_name })).toBe(key)
})
