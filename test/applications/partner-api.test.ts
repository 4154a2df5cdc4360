import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { fromStored } from '#domain/event.ts'
import { whenCustomerSavedRecordCustomer } from '../../command-api/customers/when-customer-saved-record-customer.ts'
import { contextOf } from '../../command-api/reactions/reaction.ts'
import { as, applicationApis, type Fixture } from './fixture.ts'
import { organisation_id } from './release.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await applicationApis()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const anna = { first_name: 'Anna', last_name: 'Ash', email: 'anna@example.org' }
const bert = { first_name: 'Bert', last_name: 'Ash', dob: '1990-03-10' }

const startForTwo = async (headers?: Record<string, string>) => {
  const { body } = await fixture.start({ product_slug: 'couple', answers: { cover_for: 'joint' } }, headers)
  return body.data
}

/** Lets the people's own records follow what applications received. */
const follow = async () => {
  const reaction = whenCustomerSavedRecordCustomer(fixture.writer)
  for (const recorded of await fixture.log.readAll()) {
    if (!Object.hasOwn(reaction.events, recorded.type)) continue
    const context = contextOf(reaction, recorded, new AbortController().signal)
    await reaction.react(fromStored(reaction.events, recorded), recorded, context)
  }
  const head = await fixture.log.head()
  if (head) await fixture.writer.seen('customer', head)
}
/** Waits until the person's record shows this. */
const recorded = (id: string | undefined, expected: object) =>
  vi.waitFor(
    async () => {
      await follow()
      expect(await recordOf(id)).toMatchObject(expected)
    },
    { timeout: 60_000 },
  )

const recordOf = async (id: string | undefined) => {
  const { rows } = await fixture.pool.query('select document from customers where id = $1', [id])
  return (rows[0] as { readonly document: object } | undefined)?.document
}

test('200: the second person is saved, and their answers are shown nowhere', async () => {
  const { id } = await startForTwo()
  const { status, body } = await fixture.savePartner(id, { partner: bert, answers: { smoker: true, brand: null } })
  expect([status, body.data.status]).toEqual([200, 'anonymous'])
  expect(body.data.joint_customer).toMatchObject({ ...bert, email: null, country: 'GB' })
  expect(body.data.joint_customer?.id[14], 'the id is random and tells no time').toBe('4')
  expect(body.data.risk_factors).toEqual({ cover_for: 'joint' })
  expect((await fixture.get(id)).body).toEqual(body)
})

test('200: they are a person with a record, who keeps the id when an email address is known later', async () => {
  for (const caller of ['server', 'browser'] as const) {
    const { id, share_token } = await startForTwo(as(caller))
    const headers = as(caller, { 'X-Share-Token': String(share_token) })
    const email = `bert.${caller}@example.org`
    const { body: first } = await fixture.savePartner(id, { partner: bert }, headers)
    const person = first.data.joint_customer?.id
    await recorded(person, { ...bert, email: null })

    const { body: named } = await fixture.savePartner(id, { partner: { email } }, headers)
    expect(named.data.joint_customer).toMatchObject({ ...bert, email, id: person })
    await recorded(person, { ...bert, email })

    const { body: own } = await fixture.start({ customer: { ...bert, email } })
    expect(own.data.customer?.id).toBe(person)
  }
})

test('200: a web page links a known person and is shown only what it sent', async () => {
  const { body: known } = await fixture.start({ customer: { ...anna, email: 'known@example.org', city: 'York' } })
  await follow()
  const { id, share_token } = await startForTwo(as('browser'))
  const typed = { partner: { ...bert, email: 'known@example.org' } }
  const headers = as('browser', { 'X-Share-Token': String(share_token) })
  const { body } = await fixture.savePartner(id, typed, headers)
  expect(body.data.joint_customer).toMatchObject({ ...typed.partner, id: known.data.customer?.id, city: null })
  await recorded(known.data.customer?.id, { ...anna, email: 'known@example.org', city: 'York' })
})

test('200: two saves at once make one second person', async () => {
  const { id } = await startForTwo()
  const answers = await Promise.all([
    fixture.savePartner(id, { partner: bert }),
    fixture.savePartner(id, { partner: bert }),
  ])
  const people = new Set(answers.map(({ body }) => body.data.joint_customer?.id))
  expect(people.size).toBe(1)
})

test('404: a web page without the share token', async () => {
  const { id } = await startForTwo(as('browser'))
  expect((await fixture.savePartner(id, { partner: bert }, as('browser'))).status).toBe(404)
})

test('409: an application that has ended', async () => {
  const { id } = await startForTwo()
  await fixture.save(id, { answers: { work: 'stuntman' } })
  const { status, body } = await fixture.savePartner(id, { partner: bert })
  expect([status, body.error.code]).toEqual([409, 'application_closed'])
})

test('422 not_joint_basis: an application for one person', async () => {
  const { body: started } = await fixture.start()
  const { status, body } = await fixture.savePartner(started.data.id, { partner: bert })
  expect([status, body.error.code]).toEqual([422, 'not_joint_basis'])
})

test.each([
  ['validation_failed', {}, ['partner']],
  ['validation_failed', { partner: null }, ['partner']],
  ['validation_failed', { partner: bert, answers: { smoker: 5 } }, ['answers.smoker']],
  ['partner_invalid', { partner: { first_name: 'Bert', dob: 'x' } }, ['partner.dob', 'partner.last_name']],
  ['partner_invalid', { partner: { ...bert, dob: '1900-01-01' } }, ['partner.dob']],
])('422 %s: %j', async (code, sent, fields) => {
  const { id } = await startForTwo()
  const { status, body } = await fixture.savePartner(id, sent)
  expect([status, body.error.code]).toEqual([422, code])
  expect(Object.keys(body.error.fields ?? {}).toSorted()).toEqual(fields)
})

test('200: who is saved after the second person was erased is another person, also without an email address', async () => {
  const { id } = await startForTwo()
  const { body: first } = await fixture.savePartner(id, { partner: bert, answers: { smoker: true } })
  const erased = first.data.joint_customer?.id
  await fixture.dataKeys.erase({ organisation_id, subject: `person:${erased}` })

  const { status, body } = await fixture.savePartner(id, { partner: { ...bert, first_name: 'Carl' } })
  expect([status, body.data.joint_customer?.first_name]).toEqual([200, 'Carl'])
  expect(body.data.joint_customer?.id).not.toBe(erased)
})
