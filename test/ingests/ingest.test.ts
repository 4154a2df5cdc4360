import { describe, expect, test } from 'vitest'
import { ingestEvents, type IngestEvent } from '#domain/ingests/events.ts'
import { fillsTrap, sentFields } from '#domain/ingests/fields.ts'
import { ingest, isIngest, mostAttempts } from '#domain/ingests/ingest.ts'
import { explain, renderIngest } from '#domain/ingests/record.ts'
import { whoIsIt, type Findings } from '#domain/ingests/who.ts'
import type { FieldType } from '#domain/pipeline/events.ts'
import { CustomerId } from '#domain/values.ts'
import { readDeterministically } from '../../command-api/ingests/reader.ts'
import { rejected, scenariosOf, stateOf } from '../scenario.ts'
import { contact_id, content, ingest_id, received, started } from './builders.ts'

const scenario = scenariosOf(ingest)

const { organisation_id } = received
const other = CustomerId.parse('c0000000-0000-4000-8000-000000000002')
const written = { facts_written: 2, fields_proposed: 1, activities_written: 0 }
const resolved: IngestEvent = {
  type: 'IngestResolved',
  contact_id,
  matched_by: 'email',
  is_new_lead: false,
  ...written,
}
const retry_after = '2026-01-15T12:00:10.000Z'
const deferred = (attempt: number): IngestEvent => ({
  type: 'IngestDeferred',
  step: 'extracting',
  attempt,
  reason: 'The reader did not answer.',
  retry_after,
})
const retried = (attempt: number): IngestEvent => ({ type: 'IngestRetried', step: 'extracting', attempt })
const defer = {
  type: 'DeferIngest',
  step: 'extracting',
  reason: 'The reader did not answer.',
  retry_after,
  isTry: true,
} as const

const recordOf = (...events: readonly IngestEvent[]) => {
  const state = stateOf(ingest, events)
  if (!isIngest(state)) throw new Error('There is no ingest.')
  return state.record
}

describe('an ingest', () => {
  scenario('is received once', {
    given: [received],
    when: { ...received, type: 'ReceiveIngest', source: 'other' },
    then: [],
  })

  scenario('starts with its first step', {
    given: [received],
    when: { type: 'HoldIngest', failures: [] },
    then: [started, { type: 'IngestHeld', failures: [] }],
  })

  scenario('whose first step has to wait has started', {
    given: [received],
    when: { ...defer, step: 'resolving' },
    then: [
      started,
      { type: 'IngestDeferred', step: 'resolving', attempt: 1, reason: 'The reader did not answer.', retry_after },
    ],
  })

  scenario('is read in the step that finds out who it is about, where nobody must be asked', {
    given: [received],
    when: { ...resolved, type: 'ResolveIngest', read: { ...written, truncated: false } },
    then: [started, resolved, { type: 'IngestApplied', ...written, truncated: false }],
  })

  scenario('is not read before it is known who it is about', {
    given: [received],
    when: { type: 'ApplyIngest', ...written, truncated: false },
    then: [],
  })

  scenario('that is deferred goes back to the step that it left', {
    given: [received, started, resolved, deferred(1)],
    when: { type: 'RetryIngest', now: retry_after },
    then: [retried(2)],
  })

  scenario('is not tried again before its time', {
    given: [received, started, resolved, deferred(1)],
    when: { type: 'RetryIngest', now: '2026-01-15T12:00:09.999Z' },
    then: [],
  })

  scenario('is deferred while there are tries left', {
    given: [received, started, resolved, deferred(1), retried(2)],
    when: defer,
    then: [deferred(2)],
  })

  scenario('has failed after five tries, with the reason', {
    given: [received, started, resolved, deferred(4), retried(mostAttempts)],
    when: defer,
    then: [{ type: 'IngestFailed', step: 'extracting', reason: 'The reader did not answer.' }],
  })

  scenario('that had to wait is deferred without using up a try', {
    given: [received, started, resolved, deferred(4), retried(mostAttempts)],
    when: { ...defer, isTry: false },
    then: [deferred(4)],
  })

  scenario('that is applied is not applied again', {
    given: [received, started, resolved, { type: 'IngestApplied', ...written, truncated: false }],
    when: { type: 'ApplyIngest', ...written, truncated: false },
    then: [],
  })

  scenario('that nobody received cannot be accepted', {
    given: [],
    when: { type: 'AcceptIngest' },
    then: rejected('not_found'),
  })

  scenario('that is applied cannot be discarded', {
    given: [received, started, resolved],
    when: { type: 'DiscardIngest', note: null },
    then: rejected('invalid_transition', undefined, 'extracting'),
  })

  test('that is deferred says why, and when it carries on', () => {
    const shown = renderIngest(recordOf(received, started, resolved, deferred(1)))
    expect(shown).toMatchObject({
      status: 'deferred',
      error: 'The reader did not answer.',
      retry_after,
      contact_id,
      facts_written: 2,
    })
    expect(shown.explanation).toBe(
      `We could not read the lead just now and will try again by ourselves at ${retry_after}.`,
    )
    expect(renderIngest(recordOf(received, started, resolved, deferred(1), retried(2)))).not.toHaveProperty('error')
  })

  test('that failed while it was read is still on the lead', () => {
    const failed: IngestEvent = { type: 'IngestFailed', step: 'extracting', reason: 'The reader cannot read it.' }
    const shown = renderIngest(recordOf(received, started, resolved, failed))
    expect(shown).toMatchObject({ status: 'failed', contact_id, error: 'The reader cannot read it.' })
    expect(shown.explanation).toContain('recorded with what was declared')
  })

  test('adds up what both steps wrote', () => {
    const record = recordOf(received, started, resolved, { type: 'IngestApplied', ...written, truncated: true })
    expect(record).toMatchObject({ facts_written: 4, fields_proposed: 2, truncated: true })
    expect(explain(record)).toBe(
      'The lead is about somebody we know by the email address. We recorded 4 facts and put 2 values that differ to the team. It was too long to be read in full.',
    )
  })

  test('keeps what was sent under a key of its own', () => {
    expect(ingestEvents.IngestReceived.personal).toEqual(['source_reference', 'content'])
    expect(ingestEvents.IngestReceived.subject({}, ingest_id)).toBeNull()
  })
})

describe('who a lead is about', () => {
  const nobody: Findings = {
    contact_id: undefined,
    external_id: undefined,
    email: undefined,
    phone: [],
    name: [],
    sent: { email: null, external_id: null, isAnybody: true },
    heldExternalId: () => null,
  }
  const known = { contact_id, email: 'ada@example.com' }

  test.each<[string, Partial<Findings>, unknown]>([
    ['nobody known', {}, { known: undefined }],
    ['our id', { contact_id }, { known: contact_id, matched_by: 'contact_id' }],
    [
      'their id before the email address',
      { external_id: contact_id, email: contact_id },
      { matched_by: 'external_id' },
    ],
    [
      'an email address before a phone',
      { email: contact_id, phone: [{ contact_id: other, email: null }] },
      { known: contact_id, matched_by: 'email' },
    ],
    [
      'ids of different people',
      { external_id: contact_id, email: other },
      { review: 'conflicting_identifiers', candidates: [contact_id, other] },
    ],
    [
      'another external id than the one held',
      { email: contact_id, sent: { email: null, external_id: 'b', isAnybody: true }, heldExternalId: () => 'a' },
      { review: 'conflicting_identifiers' },
    ],
    [
      'another external id than the one held: it names who it is',
      { email: contact_id, sent: { email: null, external_id: 'b', isAnybody: true }, heldExternalId: () => 'a' },
      { candidates: [contact_id] },
    ],
    [
      'the external id that is held',
      { email: contact_id, sent: { email: null, external_id: 'a', isAnybody: true }, heldExternalId: () => 'a' },
      { known: contact_id, matched_by: 'email' },
    ],
    [
      'an external id where none is held',
      { email: contact_id, sent: { email: null, external_id: 'a', isAnybody: true } },
      { known: contact_id, matched_by: 'email' },
    ],
    [
      'no external id where one is held',
      { email: contact_id, heldExternalId: () => 'a' },
      { known: contact_id, matched_by: 'email' },
    ],
    [
      'an external id that leads to somebody with another main one',
      {
        external_id: contact_id,
        sent: { email: null, external_id: 'b', isAnybody: true },
        heldExternalId: () => 'a',
      },
      { known: contact_id, matched_by: 'external_id' },
    ],
    [
      'a phone of somebody without an email address',
      { phone: [{ contact_id, email: null }], sent: { email: 'b@example.com', external_id: null, isAnybody: true } },
      { known: contact_id, matched_by: 'phone' },
    ],
    ['a phone', { phone: [known] }, { known: contact_id, matched_by: 'phone' }],
    [
      'a phone, with the same email',
      { phone: [known], sent: { email: known.email, external_id: null, isAnybody: true } },
      { matched_by: 'phone' },
    ],
    [
      'a phone, with different emails',
      { phone: [known], sent: { email: 'b@example.com', external_id: null, isAnybody: true } },
      { review: 'different_emails', candidates: [contact_id] },
    ],
    [
      'a phone, with another external id than the one held',
      { phone: [known], sent: { email: null, external_id: 'b', isAnybody: true }, heldExternalId: () => 'a' },
      { review: 'conflicting_identifiers', candidates: [contact_id] },
    ],
    [
      'a name, with another external id than the one held',
      { name: [known], sent: { email: null, external_id: 'b', isAnybody: true }, heldExternalId: () => 'a' },
      { review: 'conflicting_identifiers', candidates: [contact_id] },
    ],
    [
      'a phone, with the external id that is held',
      { phone: [known], sent: { email: null, external_id: 'a', isAnybody: true }, heldExternalId: () => 'a' },
      { known: contact_id, matched_by: 'phone' },
    ],
    [
      'a phone, with an external id where none is held',
      { phone: [known], sent: { email: null, external_id: 'a', isAnybody: true } },
      { known: contact_id, matched_by: 'phone' },
    ],
    [
      'a phone of two people',
      { phone: [known, { contact_id: other, email: null }] },
      { review: 'several_people', candidates: [contact_id, other] },
    ],
    [
      'a phone before a name',
      { phone: [known], name: [{ contact_id: other, email: null }] },
      { known: contact_id, matched_by: 'phone' },
    ],
    ['a name', { name: [known] }, { known: contact_id, matched_by: 'name' }],
    ['a name of two people', { name: [known, { contact_id: other, email: null }] }, { review: 'several_people' }],
    [
      'nothing at all',
      { sent: { email: null, external_id: null, isAnybody: false } },
      { review: 'nobody_named', candidates: [] },
    ],
  ])('%s', (_name, findings, expected) => {
    expect(whoIsIt({ ...nobody, ...findings })).toMatchObject(expected as object)
  })
})

describe('what was sent', () => {
  test('is known by the usual names of its fields, at any depth of a person, and by those of the campaign', () => {
    const { details, others } = sentFields(
      {
        ...content,
        identity: null,
        data: {
          Contact: { 'E-Mail': 'a@example.com', Mobile: '07700 900123' },
          product: { name: 'Life', sumAssured: 250000 },
          geb: '1988-03-14',
          list: [1, 2],
          empty: '',
        },
      },
      { dob: 'Geb' },
    )
    expect([...details].map(([name, { value, sender }]) => [name, value, sender])).toEqual([
      ['email', 'a@example.com', 'Contact.E-Mail'],
      ['phone_number', '07700 900123', 'Contact.Mobile'],
      ['dob', '1988-03-14', 'geb'],
    ])
    expect([...others].map(([key, { value }]) => [key, value])).toEqual([
      ['product_name', 'Life'],
      ['product_sum_assured', 250000],
      ['list', 1],
      ['list_2', 2],
    ])
  })

  test('with more values than are read is truncated', () => {
    const data = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`field_${index}`, index]))
    expect(sentFields({ ...content, data }).truncated).toBe(true)
  })

  test('never becomes a property that every object has', () => {
    const data = JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3, "fine": 4}') as Record<string, unknown>
    expect([...sentFields({ ...content, data }).others.keys()]).toEqual(['proto', 'to_string', 'fine'])
  })

  test('fills a trap only with something', () => {
    expect(fillsTrap({ ...content, data: { 'Web-Site': 'x' } }, ['website'])).toBe(true)
    expect(fillsTrap({ ...content, data: { website: '' } }, ['website'])).toBe(false)
  })
})

describe('the deterministic reader', () => {
  const field = (key: string, type: FieldType, options: string[] = []) => ({ key, label: key, type, options })
  const read = (data: Record<string, unknown>, text: string | null = null, currency = 'GBP') =>
    readDeterministically({
      organisation_id,
      content: { data, text },
      fields: sentFields({ ...content, data }),
      wanted: [
        field('budget', 'money'),
        field('children', 'number'),
        field('moves_on', 'date'),
        field('smoker', 'boolean'),
        field('product', 'choice', ['Life', 'Critical illness']),
        field('pets', 'choices', ['Cat', 'Dog, large', 'Horse']),
      ],
      currency,
      today: '2026-01-15',
    })

  test('reads values as the types that the organisation has set up', () => {
    expect(
      read({
        Budget: '£1,250.50',
        children: '2',
        'Moves on': '3 March 2026',
        smoker: 'No',
        product: 'critical-illness',
      }),
    ).toMatchObject({
      facts: { budget: 125050, children: 2, moves_on: '2026-03-03', smoker: false, product: 'Critical illness' },
    })
  })

  test.each<[title: string, data: Record<string, unknown>, facts: object]>([
    ['sent as a list', { Pets: ['dog, large', 'CAT', 'parrot'] }, { pets: ['Cat', 'Dog, large'] }],
    [
      'after an empty choice, as forms send it',
      { pets: ['', ' ', 'dog, large', 'cat'] },
      { pets: ['Cat', 'Dog, large'] },
    ],
    ['after null, and a number that is none', { pets: [null, Infinity, 'cat', 'horse'] }, { pets: ['Cat', 'Horse'] }],
    ['sent as a text', { pets: 'horse, cat' }, { pets: ['Cat', 'Horse'] }],
    ['beside another of that name', { pets: ['Cat'], 'pets.2': 'Horse' }, { pets: ['Cat'], pets_2: 'Horse' }],
    ['and any other list is its items', { list: ['a', 'b'] }, { list: 'a', list_2: 'b' }],
  ])('what holds several is one fact, a list for multi-value fields: %s', (_title, data, facts) => {
    expect(read(data)).toMatchObject({ facts })
  })

  test.each([
    ['GBP', '£1,250.50', 125_050],
    ['JPY', '¥1,250', 1_250],
    ['KWD', '1,250.505', 1_250_505],
  ])('counts an amount in the smallest unit of the currency of the organisation: %s %s', (currency, budget, amount) => {
    expect(read({ budget }, null, currency)).toMatchObject({ facts: { budget: amount } })
  })

  test('leaves out what is no value of the type', () => {
    expect(read({ children: 'some', smoker: 'perhaps', product: 'boat' })).toMatchObject({ facts: {} })
  })

  test('reads 200 facts, and of more the first 200', () => {
    const readMany = (count: number) => {
      const found = read(Object.fromEntries(Array.from({ length: count }, (_, index) => [`field_${index}`, index])))
      return found.outcome === 'read' && [Object.keys(found.facts).length, found.truncated]
    }

    expect([readMany(200), readMany(201)]).toEqual([
      [200, false],
      [200, true],
    ])
  })

  test('reads lines of a form in free text', () => {
    expect(read({}, 'Cover wanted: life\nPostcode: ls1 4ap\nsee https://example.com')).toMatchObject({
      facts: { cover_wanted: 'life' },
      details: { postal_code: 'LS1 4AP' },
      truncated: false,
    })
  })

  test('says when a text was too long to be read in full', () => {
    expect(read({}, 'a'.repeat(20_001))).toMatchObject({ truncated: true })
  })
})
