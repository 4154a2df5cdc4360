import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { leadService, stranger, type LeadService } from './fixture.ts'

let service: LeadService
beforeAll(async () => {
  service = await leadService()
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[45][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** What the log says of a lead, newest last. */
const leadEventsOf = async (contact_id: string | undefined) =>
  (await service.parts.eventLog.read(`lead-${contact_id}`)).map(({ type, data }) => ({ type, ...data }))
const personOf = async (contact_id: string | undefined) => {
  const { rows } = await service.parts.pool.query<{ document: Record<string, unknown> }>(
    'select document from customers where id = $1',
    [contact_id],
  )
  return rows[0]?.document
}

describe('a lead about somebody new', () => {
  test('is applied: identity, data, text and declared values become theirs', async () => {
    const who = stranger()
    const shown = await service.process({
      identity: who,
      data: {
        DateOfBirth: '14/03/1988',
        address: { Postcode: 'ls14ap' },
        cover_amount: 250000,
        product: { name: 'Life' },
      },
      text: 'Please call me after 5 pm.',
      declared: { newsletter: true, tags: ['a', 'b'] },
      consent: { method: 'checkbox', service: { phone: true }, first_party_marketing: { email: false } },
    })

    expect(shown).toMatchObject({
      status: 'applied',
      contact_id: expect.stringMatching(uuid) as unknown,
      processed_at: expect.any(String) as unknown,
      // first name, last name, email, phone, birthday, postcode; two declared, two read
      facts_written: 10,
      fields_proposed: 0,
      // the text, and consent
      activities_written: 2,
      truncated: false,
      explanation: 'The lead is about somebody new. We recorded 10 facts and wrote 2 activities to the timeline.',
    })
    expect(await personOf(shown.contact_id)).toMatchObject({
      first_name: who.first_name,
      last_name: who.last_name,
      email: who.email,
      phone_number: `+44${who.phone.replaceAll(/\D/g, '').slice(1)}`,
      dob: '1988-03-14',
      postal_code: 'LS1 4AP',
      consent: [
        expect.objectContaining({ purpose: 'service', channel: 'phone', state: 'granted', method: 'checkbox' }),
        expect.objectContaining({ purpose: 'first_party_marketing', channel: 'email', state: 'refused' }),
      ],
    })
    const events = await leadEventsOf(shown.contact_id)
    expect(events[0]).toMatchObject({ type: 'LeadCreated', source: 'website', ingest_id: shown.id })
    const facts = events.filter(({ type }) => type === 'LeadFactsRecorded').map((event) => event)
    expect(facts).toMatchObject([
      { facts: { newsletter: true, tags: ['a', 'b'] } },
      { facts: { cover_amount: 250000, product_name: 'Life' } },
    ])
  })

  test('is told in declared by our own names only: it is stored exactly as given, and never interpreted', async () => {
    const who = stranger()
    const { email } = who
    const declared = {
      email,
      first_name: 'ada',
      surname: 'Finch',
      name: 'Dr Ada Finch',
      dob: '14/03/1988',
      postcode: 'ls14ap',
    }
    const { contact_id } = await service.process({ declared })
    const dated = await service.process({ declared: { email: stranger().email, dob: '1988-03-14', phone: who.phone } })

    expect(await personOf(contact_id)).toMatchObject({
      email,
      first_name: 'ada',
      last_name: null,
      title: null,
      dob: null,
      postal_code: null,
    })
    const facts = (await leadEventsOf(contact_id)).filter(({ type }) => type === 'LeadFactsRecorded')
    expect(facts).toMatchObject([{ facts: declared }])
    expect(await personOf(dated.contact_id)).toMatchObject({
      dob: '1988-03-14',
      phone_number: expect.any(String) as unknown,
    })
  })

  test('whose consent is told to be of the future can withdraw it', async () => {
    const consent = { method: 'checkbox', recorded_at: '9999-12-31T00:00:00Z', first_party_marketing: { email: true } }
    const { contact_id } = await service.process({ identity: stranger(), consent })
    const withdrawn = { purpose: 'first_party_marketing', channel: 'email', state: 'withdrawn' }

    const { body } = await service.send('POST', `${service.admin}/people/${contact_id}/consent`, {
      body: { entries: [withdrawn], method: 'by phone' },
    })

    expect(body.data).toMatchObject({ consent: [withdrawn] })
  })

  test('whose consent has no time of its own gave it when the lead happened', async () => {
    const consent = { method: 'checkbox', first_party_marketing: { email: true } }
    const said = async (when: object) => {
      const { contact_id } = await service.process({
        identity: stranger(),
        occurred_at: '2026-01-02T03:04:05Z',
        ...when,
      })
      return personOf(contact_id)
    }

    expect(await said({ consent })).toMatchObject({ consent: [{ said_at: '2026-01-02T03:04:05.000Z' }] })
    const own = { ...consent, recorded_at: '2026-01-02T03:00:00Z' }
    expect(await said({ consent: own })).toMatchObject({ consent: [{ said_at: '2026-01-02T03:00:00.000Z' }] })
  })

  test('who is named by an id is nobody else whom the text mentions', async () => {
    const [who, mentioned] = [stranger(), stranger()]
    const known = await service.process({ identity: mentioned })
    const shown = await service.process({
      identity: { external_id: `CRM-${who.email}`, first_name: 'Ada' },
      text: `My name is Ben Oak. My brother is ${mentioned.email}.`,
    })

    expect(shown).toMatchObject({ status: 'applied' })
    expect(shown.contact_id).not.toBe(known.contact_id)
  })

  test('whose name was sent keeps it, whatever else they write', async () => {
    const { email } = stranger()
    const shown = await service.process({
      identity: { first_name: 'Ada', last_name: 'Lovelace' },
      text: `My name is Ben Oak. ${email}`,
    })

    expect(await personOf(shown.contact_id)).toMatchObject({ first_name: 'Ada', last_name: 'Lovelace', email })
  })

  test('is known by what they wrote, when nothing else says who it is', async () => {
    const who = stranger()
    const shown = await service.process({
      text: `My name is Ada Lovelace, born 10 December 1985. ${who.email}, ${who.phone}`,
    })

    expect(shown).toMatchObject({ status: 'applied' })
    expect(await personOf(shown.contact_id)).toMatchObject({
      first_name: 'Ada',
      last_name: 'Lovelace',
      dob: '1985-12-10',
      email: who.email,
    })
  })
})

describe('a lead about somebody known', () => {
  test('is theirs by our id, also where the sender keeps that as its own', async () => {
    const known = await service.process({ identity: stranger() })

    for (const identity of [{ contact_id: known.contact_id }, { external_id: known.contact_id }]) {
      const again = await service.process({ identity })
      expect(again).toMatchObject({ status: 'applied', contact_id: known.contact_id })
      expect(again.explanation).toContain('by the id that was sent')
    }
  })

  test.each([
    ['by email address', ({ email }: ReturnType<typeof stranger>) => ({ email: email.toUpperCase() }), 'email'],
    ['by phone', ({ phone }: ReturnType<typeof stranger>) => ({ phone: phone.replace(/^0/, '+44 ') }), 'phone'],
  ])('is theirs %s, and leaves activity.form', async (_name, identity, how) => {
    const who = stranger()
    const first = await service.process({ identity: who })
    const again = await service.process({ identity: identity(who), declared: { asked_again: true } })

    expect(again).toMatchObject({
      status: 'applied',
      contact_id: first.contact_id,
      facts_written: 1,
      activities_written: 1,
    })
    expect(again.explanation).toContain(`by the ${how}`)
    const events = await leadEventsOf(first.contact_id)
    expect(events.filter(({ type }) => type === 'LeadCreated')).toHaveLength(1)
    const forms = events.filter((event) => 'kind' in event && event.kind === 'form')
    expect(forms).toMatchObject([{ related: { type: 'ingest', id: again.id } }])
  })

  test('is theirs by our id, and by their id in the organisation’s own CRM', async () => {
    const who = stranger()
    const external_id = `crm-${who.email}`
    const first = await service.process({ identity: { ...who, external_id } })
    const byTheirs = await service.process({ identity: { external_id }, data: { a: 1 } })
    const byOurs = await service.process({ identity: { contact_id: first.contact_id }, data: { b: 1 } })

    expect([byTheirs.contact_id, byOurs.contact_id]).toEqual([first.contact_id, first.contact_id])
  })

  test('is theirs by our id that one sender keeps as its own, and by the id that another has for them', async () => {
    const [one, other] = [stranger(), stranger()]
    const crmFirst = await service.process({ identity: { ...one, external_id: `crm-${one.email}` } })
    const ours = await service.process({ identity: { external_id: crmFirst.contact_id }, data: { a: 1 } })
    const plain = await service.process({ identity: other })
    const oursFirst = await service.process({ identity: { external_id: plain.contact_id?.toUpperCase() } })
    const crm = await service.process({ identity: { ...other, external_id: `crm-${other.email}` } })

    expect([ours, oursFirst, crm].map(({ contact_id }) => contact_id)).toEqual(
      [crmFirst, plain, plain].map(({ contact_id }) => contact_id),
    )
  })

  test('two ids of another system contradict each other, also where our id has come as one before', async () => {
    const one = stranger()
    const first = await service.process({ identity: one })
    await service.process({ identity: { ...one, external_id: first.contact_id } })
    const theirs = await service.process({ identity: { ...one, external_id: `crm-${one.email}` } })
    const others = await service.process({ identity: { ...one, external_id: `other-${one.email}` } })

    expect(theirs.contact_id).toBe(first.contact_id)
    expect(others.status).toBe('needs_review')
  })

  test('is theirs by name with birthday, or with postcode', async () => {
    const { first_name, last_name } = stranger()
    const first = await service.process({
      identity: { name: `Ms ${first_name} ${last_name}` },
      data: { dob: '1 May 1970', postcode: 'M1 1AE' },
    })
    const byBirthday = await service.process({
      identity: { first_name: first_name.toUpperCase(), last_name },
      data: { birth_date: '1970-05-01' },
    })
    const byPostcode = await service.process({
      identity: { name: `${last_name}, ${first_name}` },
      data: { zip: 'm11ae' },
    })
    const elsewhere = await service.process({
      identity: { name: `${first_name} ${last_name}` },
      data: { zip: 'LS1 4AP' },
    })

    expect(byBirthday).toMatchObject({ status: 'applied', contact_id: first.contact_id })
    expect(byPostcode).toMatchObject({ status: 'applied', contact_id: first.contact_id })
    expect(elsewhere.contact_id).not.toBe(first.contact_id)
  })

  test('is nobody’s by a number, or by a name, that was only proposed of them', async () => {
    const [who, others] = [stranger(), stranger()]
    const postcode = 'LS1 4AP'
    const first = await service.process({ identity: who, data: { postcode } })
    const again = await service.process({ identity: { ...others, email: who.email }, data: { postcode } })
    expect(again).toMatchObject({ contact_id: first.contact_id, fields_proposed: 2 })

    const byPhone = await service.process({ identity: { phone: others.phone } })
    const { first_name, last_name } = others
    const byName = await service.process({ identity: { first_name, last_name }, data: { postcode } })
    for (const { status, contact_id } of [byPhone, byName]) {
      expect(status).toBe('applied')
      expect(contact_id).not.toBe(first.contact_id)
    }
  })

  test('never overwrites: a value that differs from the one held is proposed', async () => {
    const who = stranger()
    const first = await service.process({ identity: who, declared: { plan: 'gold' }, data: { budget: 20 } })
    const again = await service.process({
      identity: { ...who, last_name: 'Other' },
      declared: { plan: 'silver', colour: 'red' },
      data: { budget: 30 },
    })

    expect(again).toMatchObject({ contact_id: first.contact_id, facts_written: 1, fields_proposed: 3 })
    expect(again.explanation).toContain('put 3 values that differ to the team')
    expect(await personOf(first.contact_id)).toMatchObject({
      last_name: who.last_name,
      proposed: { [again.id]: { last_name: 'Other' } },
    })
    const proposed = (await leadEventsOf(first.contact_id)).filter(({ type }) => type === 'LeadFactsProposed')
    expect(proposed).toMatchObject([{ proposed: { plan: 'silver' } }, { proposed: { budget: 30 } }])
  })

  test('sent by two applications, stands in the feed of both', async () => {
    const who = stranger()
    const first = await service.process({ identity: who })
    const again = await service.process({ identity: who }, service.another)

    expect(again.contact_id).toBe(first.contact_id)
    const last = (await leadEventsOf(first.contact_id)).findLast(({ type }) => type === 'LeadSentAgain')
    expect(last).toMatchObject({ seen_by: [service.sender.client_id, service.another.client_id] })
  })
})

describe('needs_review', () => {
  test('conflicting strong identifiers: email and external id of different people', async () => {
    const [one, other] = [stranger(), stranger()]
    const first = await service.process({ identity: { ...one, external_id: one.email } })
    const second = await service.process({ identity: other })
    const shown = await service.process({ identity: { email: other.email, external_id: one.email } })

    expect(shown).toMatchObject({ status: 'needs_review', facts_written: 0 })
    expect(shown).not.toHaveProperty('contact_id')
    expect(shown.explanation).toBe(
      'What was sent points to different people. Somebody must decide who the lead is about.',
    )
    expect(first.contact_id).not.toBe(second.contact_id)
  })

  test('conflicting strong identifiers: the phone of somebody who has another external id', async () => {
    const { phone } = stranger()
    const [ada, ben] = [`CRM-${crypto.randomUUID()}`, `CRM-${crypto.randomUUID()}`]
    const first = await service.process({ identity: { external_id: ada, phone, first_name: 'Ada' } })
    const second = await service.process({ identity: { external_id: ben, phone, first_name: 'Ben' } })
    const again = await service.process({ identity: { external_id: ada, phone }, text: 'Call me.' })

    expect(second).toMatchObject({ status: 'needs_review', facts_written: 0 })
    expect(again).toMatchObject({ status: 'applied', contact_id: first.contact_id })
  })

  test('a match on phone alone where both sides hold different emails', async () => {
    const [one, other] = [stranger(), stranger()]
    await service.process({ identity: one })
    const shown = await service.process({ identity: { email: other.email, phone: one.phone } })

    expect(shown.status).toBe('needs_review')
    expect(shown.explanation).toContain('another email address')
  })

  test('two candidates with the same phone', async () => {
    const [one, other] = [stranger(), stranger()]
    await service.process({ identity: one })
    await service.process({ identity: { ...other, phone: undefined } })
    // Known by their email address, they have the same phone from now on.
    await service.process({ identity: { email: other.email, phone: one.phone } })
    const shown = await service.process({ identity: { phone: one.phone } })

    expect(shown.status).toBe('needs_review')
    expect(shown.explanation).toContain('More than one person')
  })

  test('nothing says who it is about', async () => {
    const shown = await service.process({ data: { colour: 'red' } })

    expect(shown.status).toBe('needs_review')
    expect(shown.explanation).toContain('Nothing in the lead says who it is about')
  })
})

describe('at once', () => {
  test.each([
    ['email address', ({ email }: ReturnType<typeof stranger>) => ({ email })],
    ['phone', ({ phone }: ReturnType<typeof stranger>) => ({ phone })],
  ])('leads about one person by %s make one lead', async (_name, identity) => {
    const who = identity(stranger())
    const sent = await Promise.all(
      Array.from({ length: 8 }, async () => (await service.post({ identity: who })).body.data.id),
    )
    const shown = await Promise.all(sent.map((id) => service.settled(id)))

    expect(new Set(shown.map(({ contact_id }) => contact_id)).size).toBe(1)
    expect(shown.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 'applied'))
    const events = await leadEventsOf(shown[0]?.contact_id)
    expect(events.filter(({ type }) => type === 'LeadCreated')).toHaveLength(1)
    expect(events.filter(({ type }) => type === 'LeadSentAgain')).toHaveLength(7)
  })
})

test('a lead that is said to have happened later than it was received has happened when it was received', async () => {
  const identity = stranger()
  await service.process({ identity })
  const past = await service.process({ identity, occurred_at: '2026-01-02T03:04:05Z' })
  const { received_at } = await service.process({ identity, occurred_at: '9999-12-31T23:59:59Z' })

  const forms = (await leadEventsOf(past.contact_id)).filter(({ type }) => type === 'LeadActivityRecorded')
  expect(forms).toMatchObject([{ happened_at: '2026-01-02T03:04:05.000Z' }, { happened_at: received_at }])
})

test('an email address of somebody who was erased makes somebody new, and a new lead', async () => {
  const email = `${crypto.randomUUID()}@example.com`
  const sent = { identity: { email, first_name: 'Ada', external_id: `CRM-${email}` } }
  const { contact_id } = await service.process(sent)
  const erased = CustomerId.parse(contact_id)
  const organisation_id = OrganisationId.parse(service.organisation_id)
  await service.parts.dataKeys.erase({ organisation_id, subject: `person:${erased}` })

  const again = await service.process(sent)
  expect(again).toMatchObject({ status: 'applied', explanation: expect.stringContaining('somebody new') as unknown })
  expect(again.contact_id).not.toBe(erased)
  expect((await service.process(sent)).contact_id).toBe(again.contact_id)
  const byOldId = await service.process({ identity: { contact_id: erased, email } })
  expect(byOldId).toMatchObject({ status: 'applied', contact_id: again.contact_id })
})
