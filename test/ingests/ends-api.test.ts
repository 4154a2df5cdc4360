import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { idOf } from '#domain/event.ts'
import { alwaysShown } from './builders.ts'
import { leadService, stranger, type LeadService } from './fixture.ts'

/** What ingests end as: which rules decide it, and what is shown then. */

let service: LeadService
beforeAll(async () => {
  service = await leadService()
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

describe('campaign rules', () => {
  test('held: failures are told in the sender’s field names', async () => {
    const { email } = stranger()
    const shown = await service.process({
      campaign: 'spring',
      identity: { email },
      data: { BirthDate: '01/02/2020', Zip: 'BT1 5GS' },
    })

    expect(shown).toMatchObject({
      status: 'held',
      validation_failures: [
        { field: 'phone', rule: 'required', reason: 'is missing' },
        { field: 'BirthDate', rule: 'age_range', reason: 'is the birthday of somebody under 18' },
        { field: 'Zip', rule: 'postcode_range', reason: 'is in an area that is excluded' },
      ],
    })
    expect(shown.explanation).toContain('phone is missing; BirthDate is the birthday')
    expect(shown).not.toHaveProperty('contact_id')
  })

  test('held: what the campaign and the organisation both demand is told once', async () => {
    const rules = [{ rule: 'format', field: 'email', format: 'email' }]
    const body = { key: 'both', name: 'Both', rules }
    await service.send('POST', `${service.admin}/campaigns`, { body })
    const shown = await service.process({ campaign: 'both', identity: { ...stranger(), email: 'no address' } })

    expect(shown.validation_failures).toEqual([{ field: 'email', rule: 'format', reason: 'is not an email address' }])
  })

  test('applied: a lead that meets them', async () => {
    const shown = await service.process({
      campaign: 'spring',
      identity: stranger(),
      data: { BirthDate: '01/02/1980', Zip: 'LS1 4AP' },
    })
    expect(shown.status).toBe('applied')
  })

  test('held: without a campaign only organisation-wide rules apply', async () => {
    const shown = await service.process({ identity: { ...stranger(), email: 'not an address' } })
    expect(shown).toMatchObject({
      status: 'held',
      validation_failures: [{ field: 'email', rule: 'format', reason: 'is not an email address' }],
    })
  })

  test('held: the same person on the same campaign within so many days', async () => {
    const who = stranger()
    const first = await service.process({ campaign: 'once', identity: who })
    const again = await service.process({ campaign: 'once', identity: who })
    const onAnother = await service.process({ campaign: 'plain', identity: who })

    expect(first.status).toBe('applied')
    expect(again).toMatchObject({
      status: 'held',
      validation_failures: [
        { field: 'contact', rule: 'no_duplicate', reason: 'was sent already within the last 30 days' },
      ],
    })
    expect(onAnother).toMatchObject({ status: 'applied', contact_id: first.contact_id })
  })

  test('discarded: a blocked source, and a field that only machines fill', async () => {
    const blocked = await service.process({ source: 'bulk-lists', identity: stranger() })
    const trapped = await service.process({ identity: stranger(), data: { Website_URL: 'http://spam.example' } })

    expect(blocked.status).toBe('discarded')
    expect(blocked.explanation).toBe('The lead was discarded because leads from bulk-lists are blocked.')
    expect(trapped.status).toBe('discarded')
    expect(trapped.explanation).toContain('spam')
  })
})

test('a lead passes through its states in order', async () => {
  const shown = await service.process({ identity: stranger() })
  const stream = await service.parts.eventLog.read(`ingest-${shown.id}`)

  expect(idOf(stream[0]?.stream ?? '')).toBe(shown.id)
  expect(stream.map(({ type }) => type)).toEqual([
    'IngestReceived',
    'IngestResolutionStarted',
    'IngestResolved',
    'IngestApplied',
  ])
})

const done = [...alwaysShown, 'source_reference', 'processed_at']

test.each<readonly [status: string, body: () => object, fields: readonly string[]]>([
  ['applied', () => ({ identity: stranger() }), [...done, 'contact_id']],
  [
    'applied',
    () => ({
      identity: stranger(),
      provenance: { page_url: 'https://example.com/?utm_source=a', page_title: 'Quote' },
    }),
    [...done, 'contact_id', 'provenance'],
  ],
  ['applied', () => ({ identity: stranger(), source_reference: null }), [...alwaysShown, 'processed_at', 'contact_id']],
  ['held', () => ({ identity: { first_name: 'Ada' }, campaign: 'spring' }), [...done, 'validation_failures']],
  ['needs_review', () => ({ data: { colour: Math.random() } }), done],
  ['discarded', () => ({ identity: stranger(), source: 'bulk-lists' }), done],
])(
  'an ingest that is %s has the fields of the specification, and none with nothing to say',
  async (status, body, fields) => {
    const sent = await service.post(body())
    const shown = await service.settled(sent.body.data.id)

    expect(shown.status).toBe(status)
    expect(Object.keys(shown).toSorted()).toEqual([...fields].toSorted())
    const first = [
      ...alwaysShown,
      'duplicate',
      ...fields.filter((each) => ['source_reference', 'provenance'].includes(each)),
    ]
    expect(Object.keys(sent.body.data).toSorted()).toEqual(first.toSorted())
    expect(sent.headers.get('location')).toMatch(new RegExp(`/api/v1/crm/ingests/${shown.id}$`))
    for (const failure of shown.validation_failures ?? [])
      expect(Object.keys(failure).toSorted()).toEqual(['field', 'reason', 'rule'])
  },
)
