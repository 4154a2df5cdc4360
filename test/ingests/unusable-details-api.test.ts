import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { makePeople } from '../../command-api/customers/people.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { leadService, stranger, type LeadService } from './fixture.ts'

let service: LeadService
beforeAll(async () => {
  service = await leadService()
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

type Lead = { readonly person: Readonly<Record<string, unknown>>; readonly facts: Readonly<Record<string, unknown>> }

/** The lead and what is known of the person, as the team sees them. */
const leadOf = async (contact_id: string | undefined): Promise<Lead> => {
  // What is finished with may be shown a moment later.
  const { body } = await vi.waitFor(
    async () => {
      const read = await service.send<Lead>('GET', `${service.admin}/leads/${contact_id}`)
      expect(read).toMatchObject({ status: 200, body: { data: { person: {} } } })
      return read
    },
    { timeout: 60_000, interval: 20 },
  )
  const facts = (await service.parts.eventLog.read(`lead-${contact_id}`)).map(({ data }) => data['facts'] ?? {})
  return { person: body.data.person, facts: Object.assign({}, ...facts) as Lead['facts'] }
}

/** As ids were claimed while what nobody sees was part of them. */
const claimedFormerly = async (value: string, contact_id: string | undefined) => {
  const { eventLog, dataKeys } = service.parts
  const writer = makeWriter({ log: eventLog, seen: async () => {} })
  const organisation_id = OrganisationId.parse(service.organisation_id)
  await makePeople({ writer, digest: dataKeys.digest }).claim(
    { organisation_id, kind: 'external_id', value },
    CustomerId.parse(contact_id),
    { organisation_id, actor: { type: 'system', id: 'test' }, correlation_id: 'test', now: '2026-01-15T10:00:00.000Z' },
  )
}

describe('a detail of the person that cannot be used', () => {
  test('is told of, and kept as a fact as it came', async () => {
    const { email } = stranger()
    const shown = await service.process({
      identity: { email, phone: 'call my wife' },
      data: { 'Date of birth': '31/02/1990', address: { Postcode: 'nowhere' } },
    })

    expect(shown).toMatchObject({ status: 'applied' })
    expect(shown.explanation).toContain(
      'What was sent as phone cannot be used and is kept as a fact, as it came: must be a telephone number.',
    )
    expect(shown.explanation).toContain('What was sent as Date of birth cannot be used')
    expect(shown.explanation).toContain('What was sent as address.Postcode cannot be used')
    const { person, facts } = await leadOf(shown.contact_id)
    expect(person).toMatchObject({ email, phone_number: null, dob: null, postal_code: null })
    expect(facts).toEqual({
      phone: 'call my wife',
      date_of_birth: '31/02/1990',
      address_postcode: 'nowhere',
    })
  })

  test('is also a name that is only punctuation, as one or in its parts', async () => {
    const { email } = stranger()
    for (const [identity, told, fact] of [
      [{ email, name: ', ' }, 'What was sent as name cannot be used', { name: ', ' }],
      [{ email, first_name: '-', last_name: 'Li' }, 'What was sent as first_name cannot be used', { first_name: '-' }],
    ] as const) {
      const shown = await service.process({ identity })
      expect(shown.explanation).toContain(told)
      const { person, facts } = await leadOf(shown.contact_id)
      expect([person['first_name'], facts]).toEqual([null, expect.objectContaining(fact)])
    }
  })

  test('is a fact of its own where a line of a text names it', async () => {
    const { email } = stranger()
    const shown = await service.process({ identity: { email }, text: 'Phone: ask my wife\nCover: 250000' })

    expect(shown.explanation).toContain('What was sent as Phone cannot be used')
    expect((await leadOf(shown.contact_id)).facts).toMatchObject({ phone: 'ask my wife', cover: '250000' })
  })

  test('is told of where nothing else says who it is about', async () => {
    const shown = await service.process({ identity: { phone: 'call my wife' } })

    expect(shown).toMatchObject({ status: 'needs_review' })
    expect(shown.explanation).toContain('What was sent as phone cannot be used: must be a telephone number.')
  })

  test('does not meet a rule that requires it', async () => {
    const [missing, unusable] = [stranger(), stranger()]
    const held = await service.process({
      campaign: 'spring',
      identity: { ...unusable, phone: '4.47911E+11' },
      data: { dob: '1988-03-14', postcode: 'LS1 4AP' },
    })
    expect(held).toMatchObject({
      status: 'held',
      validation_failures: [
        { field: 'phone', rule: 'required', reason: expect.stringContaining('a spreadsheet has rounded') as unknown },
      ],
    })
    const without = await service.process({ campaign: 'spring', identity: { email: missing.email } })
    expect(without).toMatchObject({ status: 'held' })
  })
})

test.each([
  ['0113 245 0100 ext 5', '5'],
  ['0113 245 0101 x12', '12'],
  ['tel: 0113 245 0102 (ext. 7)', '7'],
  ['+44 113 245 0103#9', '9'],
])('of %j the extension is kept apart from the number', async (phone, phone_extension) => {
  const { email, first_name } = stranger()
  const shown = await service.process({ identity: { email, first_name, phone } })

  expect(shown.explanation).not.toContain('cannot be used')
  const { person, facts } = await leadOf(shown.contact_id)
  expect(person['phone_number']).toMatch(/^\+44113245010\d$/)
  expect(facts).toEqual({ phone_extension })
})

describe('characters that nobody sees', () => {
  test('are no part of what a person is called and known by, and stay in what was declared', async () => {
    const { email, phone } = stranger()
    const shown = await service.process({
      identity: {
        email: `\u200B${email}\uFEFF`,
        phone: `\u202A${phone}\u202C`,
        first_name: 'A\u00ADda\u200B',
        last_name: 'می\u200Cنا',
        external_id: `A-${email}\u2060`,
      },
      declared: { note: 'so\u200Bft' },
    })

    expect(shown.explanation).not.toContain('cannot be used')
    const { person, facts } = await leadOf(shown.contact_id)
    expect(person).toMatchObject({ email, first_name: 'Ada', last_name: 'می\u200Cنا' })
    expect(person['phone_number']).toMatch(/^\+44/)
    expect(facts).toEqual({ note: 'so\u200Bft' })
    const again = await service.process({ identity: { external_id: `A-${email}` } })
    expect(again.contact_id).toBe(shown.contact_id)
  })

  test('do not make somebody new of a person who was known by an id that holds them', async () => {
    const { email } = stranger()
    const known = await service.process({ identity: { email, first_name: 'Ada' } })
    const former = `F-${email}\u200B`
    await claimedFormerly(former, known.contact_id)

    const again = await service.process({ identity: { external_id: former, first_name: 'Ada' } })

    expect(again).toMatchObject({ status: 'applied', contact_id: known.contact_id })
    expect(again.explanation).toContain('by the external id')
  })

  test('do not hide the lead that an outcome is about, or the person whom the team gives an id', async () => {
    const { email, phone } = stranger()
    const lead = await service.process({ identity: { email, phone } })
    const external_system_id = `T-${email}`
    await service.send('POST', `${service.admin}/leads/${lead.contact_id}/acts`, {
      body: { acts: [{ act: 'mark', external_system_id: `${external_system_id}\u200B` }] },
    })
    const report = async (named: object) =>
      service.send<{ contact_id: string }>('POST', '/api/v1/crm/outcomes', {
        token: service.sender.token,
        body: { lead: named, type: 'quoted', occurred_at: '2026-01-10' },
      })
    for (const named of [
      { external_id: `\u2060${external_system_id}` },
      { email: `${email}\u200B`, match_on_details: true },
      { phone: `\u200E${phone}`, match_on_details: true },
    ]) {
      const { status, body } = await report(named)
      expect({ named, status, about: body.data.contact_id }).toEqual({ named, status: 201, about: lead.contact_id })
    }
  })

  test('are no answer to a rule that requires a detail', async () => {
    const { email } = stranger()
    const shown = await service.process({ campaign: 'spring', identity: { email, phone: '\u200B' } })
    expect(shown.validation_failures).toContainEqual({ field: 'phone', rule: 'required', reason: 'is missing' })
  })
})
