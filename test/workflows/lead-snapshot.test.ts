import { describe, expect, test } from 'vitest'
import { CustomerId } from '#domain/values.ts'
import type { Customer } from '#domain/customers/record.ts'
import type { FactValue, LeadEvent } from '#domain/leads/events.ts'
import { evolveLead, type LeadRecord } from '#domain/leads/record.ts'
import type { Pipeline } from '#domain/pipeline/events.ts'
import { leadSnapshot, personSnapshot } from '../../delivery-worker/leads/snapshot.ts'
import { about, contact_id, created, olive, pipeline } from '../leads/builders.ts'

type Shown = Readonly<Record<'contact' | 'lead' | 'facts', Readonly<Record<string, unknown>>>>

const ada = {
  id: CustomerId.parse(contact_id),
  first_name: 'Ada',
  last_name: 'Finch',
  email: 'ada@example.org',
  phone_number: '+447700900123',
  consent: [] as Customer['consent'],
  verified: {} as Customer['verified'],
}
const fields: Pipeline = {
  ...pipeline,
  custom_fields: [
    { key: 'name', label: 'Name', type: 'text', options: [] },
    { key: 'children', label: 'Children', type: 'number', options: [] },
    { key: 'budget', label: 'Budget', type: 'money', options: [] },
    { key: 'born', label: 'Born', type: 'date', options: [] },
    { key: 'smoker', label: 'Smoker', type: 'boolean', options: [] },
    { key: 'colour', label: 'Colour', type: 'choice', options: ['red', 'blue'] },
    { key: 'covers', label: 'Covers', type: 'choices', options: ['life', 'ci'] },
  ],
}

const leadAfter = (...events: readonly LeadEvent[]): LeadRecord => {
  const recorded = { occurred_at: '2026-01-15T12:00:00.000Z' }
  const lead = [created, ...events].reduce<LeadRecord | undefined>(
    (before, event) => evolveLead(before, event, recorded),
    undefined,
  )
  if (!lead) throw new Error('There is no lead.')
  return lead
}
const firm = { pipeline: fields, currency: 'GBP' }
const shown = (
  events: readonly LeadEvent[] = [],
  person: Parameters<typeof leadSnapshot>[1] = ada,
  currency = 'GBP',
): Shown => leadSnapshot(leadAfter(...events), person, { ...firm, currency }) as Shown
const told = (facts: Readonly<Record<string, FactValue>>) =>
  shown([{ type: 'LeadFactsRecorded', ...about, keys: Object.keys(facts), facts: { ...facts }, ingest_id: null }])

describe('the person', () => {
  test('has every key, and null where nothing is known', () => {
    const nobody = shown([], null)
    const silent = { email: 'unknown', sms: 'unknown', whatsapp: 'unknown', phone: 'unknown', post: 'unknown' }

    expect(nobody.contact).toEqual({
      contact_id,
      external_system_id: null,
      name: null,
      first_name: null,
      last_name: null,
      email: null,
      phone: null,
      email_verified: false,
      phone_verified: false,
      consent: { service: silent, first_party_marketing: silent },
      tps_status: null,
    })
  })

  test('has the name that is known of them', () => {
    expect(shown().contact['name']).toBe('Ada Finch')
    expect(shown([], { ...ada, last_name: null }).contact['name']).toBe('Ada')
  })

  test('is verified only as far as what they have now was confirmed to be theirs', () => {
    const confirmed = (value: string) => ({
      value,
      method: 'called back',
      verified_at: '2026-01-15T12:00:00.000Z',
      source: { type: 'operator', id: null },
    })
    const verified = { email: confirmed(ada.email), phone_number: confirmed('+447700900999') }

    const { contact, lead } = shown([], { ...ada, verified })

    for (const part of [contact, lead]) expect(part).toMatchObject({ email_verified: true, phone_verified: false })
  })

  test('is told of with what they said last, and third parties are not told of', () => {
    const said = {
      basis: 'consent',
      method: 'form',
      wording: null,
      said_at: '2026-01-15T12:00:00.000Z',
      source: { type: 'ingest', id: null },
    } as const
    const consent: Customer['consent'] = [
      { purpose: 'service', channel: 'email', state: 'granted', ...said },
      { purpose: 'first_party_marketing', channel: 'sms', state: 'withdrawn', ...said },
      { purpose: 'first_party_marketing', channel: 'post', state: 'refused', ...said },
      { purpose: 'third_party_marketing', channel: 'email', state: 'granted', ...said },
    ]

    expect(shown([], { ...ada, consent }).contact['consent']).toEqual({
      service: { email: 'granted', sms: 'unknown', whatsapp: 'unknown', phone: 'unknown', post: 'unknown' },
      first_party_marketing: {
        email: 'unknown',
        sms: 'withdrawn',
        whatsapp: 'unknown',
        phone: 'unknown',
        post: 'refused',
      },
    })
  })

  test('has the result of screening the number that they have now', () => {
    const screened: LeadEvent = {
      type: 'LeadTpsScreened',
      ...about,
      status: 'registered',
      phone_number: ada.phone_number,
      screened_at: '2026-01-15T12:00:00.000Z',
      expires_at: '2026-02-12T12:00:00.000Z',
    }

    expect(shown([screened]).contact['tps_status']).toBe('registered')
    expect(shown([screened], { ...ada, phone_number: '+447700900456' }).contact['tps_status']).toBeNull()
  })
})

describe('a person who has no lead record yet', () => {
  test('has the keys of a lead: their details as a contact, and null for what only a lead has', () => {
    const { contact, lead, facts } = personSnapshot(ada.id, ada, firm) as Shown
    const known = shown()

    expect(contact).toEqual(known.contact)
    expect(Object.keys(lead)).toEqual(Object.keys(known.lead))
    expect(lead).toMatchObject(contact)
    const { fields: own, ...rest } = lead
    const ofLead = Object.entries(rest).filter(([key]) => !(key in contact))
    expect(ofLead.map(([, value]) => value)).toEqual(ofLead.map(() => null))
    expect(own).toEqual(shown().lead['fields'])
    expect(facts).toEqual({})
  })
})

describe('the lead', () => {
  test('has the keys of the person and of its work', () => {
    const { contact, lead } = shown()

    expect(lead).toMatchObject(contact)
    expect(Object.keys(lead)).toEqual([
      ...Object.keys(contact),
      'stage',
      'status',
      'score',
      'owner_id',
      'owner',
      'last_touched_at',
      'buying_signal',
      'follow_up',
      'outcome_reason',
      'priority',
      'vulnerable',
      'snoozed_until',
      'archived',
      'next_action',
      'fields',
    ])
    expect(lead).toMatchObject({ stage: 'new', status: 'open', owner: null, vulnerable: false, archived: false })
  })

  test('has its owner with name and email address, as far as they are still of the team', () => {
    const assigned = (to: string): LeadEvent => ({
      type: 'LeadOwnerAssigned',
      ...about,
      from: null,
      to,
      from_name: null,
      to_name: 'Somebody',
    })
    const gone = '71000000-0000-4000-8000-000000000009'

    expect(shown([assigned(olive.id)]).lead['owner']).toEqual({
      id: olive.id,
      name: olive.full_name,
      email: olive.email,
    })
    expect(shown([assigned(gone)]).lead['owner']).toEqual({ id: gone, name: null, email: null })
  })

  test('has every field that was set up, null when unknown, and no other fact', () => {
    expect(told({ unheard_of: 'value' }).lead['fields']).toEqual({
      name: null,
      children: null,
      budget: null,
      born: null,
      smoker: null,
      colour: null,
      covers: null,
    })
    expect(told({ unheard_of: 'value' }).facts).toEqual({})
  })

  test('has its fields in their types, and its facts as text', () => {
    const { lead, facts } = told({
      name: 'Ada',
      children: 2,
      budget: 2550,
      born: '1990-03-14',
      smoker: true,
      colour: 'red',
      covers: ['life', 'ci'],
    })

    expect(lead['fields']).toEqual({
      name: 'Ada',
      children: 2,
      budget: 2550,
      born: '1990-03-14',
      smoker: true,
      colour: 'red',
      covers: ['life', 'ci'],
    })
    expect(facts).toEqual({
      name: 'Ada',
      children: '2',
      budget: '25.50',
      born: '1990-03-14',
      smoker: 'Yes',
      colour: 'red',
      covers: 'life, ci',
    })
  })

  test.each([
    ['GBP', '25.50'],
    ['JPY', '2550'],
    ['KWD', '2.550'],
  ])('facts are display text, an amount with the decimals that its currency has: %s', (currency, budget) => {
    const known = { type: 'LeadFactsRecorded', ...about, keys: ['budget'], facts: { budget: 2550 }, ingest_id: null }
    const { lead, facts } = shown([known as LeadEvent], ada, currency)

    expect(lead['fields']).toMatchObject({ budget: 2550 })
    expect(facts).toMatchObject({ budget })
  })

  test('reads values that came in another form, and leaves out what is no value of the type', () => {
    const { lead, facts } = told({ children: '2', budget: 'plenty', smoker: 'false', covers: 'life', name: 12 })

    expect(lead['fields']).toMatchObject({ children: 2, budget: null, smoker: false, covers: ['life'], name: '12' })
    expect(facts).toEqual({ children: '2', smoker: 'No', covers: 'life', name: '12' })
  })
})
