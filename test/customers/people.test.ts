import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { customerEvents } from '#domain/customers/events.ts'
import { fromStored } from '#domain/event.ts'
import { OrganisationId } from '#domain/values.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys, type Keys } from '#infra/crypto/keys.ts'
import { makePeople } from '../../command-api/customers/people.ts'
import { whenCustomerSavedRecordCustomer } from '../../command-api/customers/when-customer-saved-record-customer.ts'
import { contextOf } from '../../command-api/reactions/reaction.ts'
import { annaId, bertId } from '../applications/builders.ts'
import { as, applicationApis, type Fixture } from '../applications/fixture.ts'

const anna = { first_name: 'Anna', last_name: 'Ash', email: 'anna@example.org' }
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const typesIn = async ({ log }: Fixture) => (await log.readAll()).map(({ type }) => type)

test('a person has a random id, the same in every application that names the email address', async () => {
  await using fixture = await applicationApis()
  const { body: first } = await fixture.start({ customer: anna })
  const { body: second } = await fixture.start({ customer: { ...anna, email: ' ANNA@Example.org ' } }, as('browser'))
  const { body: third } = await fixture.start()
  const { body: saved } = await fixture.saveCustomer(third.data.id, { customer: anna })

  expect(first.data.customer?.id).toMatch(uuidV7)
  expect(second.data.customer?.id).toBe(first.data.customer?.id)
  expect(saved.data.customer?.id).toBe(first.data.customer?.id)
  expect((await typesIn(fixture)).filter((type) => type === 'IdentityClaimed')).toHaveLength(1)
})

test('another email address is another person’s, also when it replaces one', async () => {
  await using fixture = await applicationApis()
  const { body: first } = await fixture.start({ customer: anna })
  const { body: other } = await fixture.start({ customer: { ...anna, email: 'bert@example.org' } })
  expect(other.data.customer?.id).not.toBe(first.data.customer?.id)
  const { body: changed } = await fixture.saveCustomer(first.data.id, { customer: { email: 'bert@example.org' } })
  expect(changed.data.customer?.id).toBe(other.data.customer?.id)
})

test('nothing of an email address can be read from the name of its stream, or in it', async () => {
  await using fixture = await applicationApis()
  await fixture.start({ customer: anna })
  const claim = (await fixture.log.readAll()).find(({ type }) => type === 'IdentityClaimed')
  expect(claim?.stream).toMatch(/^identity-[0-9a-f]{64}$/)
  expect(
    JSON.stringify(claim, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  ).not.toMatch(/anna|example/i)
})

test('identities of two organisations, two kinds or two values are not the same, and a new master key finds them again', async () => {
  await using fixture = await applicationApis()
  const masterKeys = [randomBytes(32), randomBytes(32)].map((key) => key.toString('base64'))
  const [first = '', second = ''] = masterKeys
  const peopleWith = (keys: Keys) =>
    makePeople({ writer: fixture.writer, digest: makeDataKeys({ pool: fixture.pool, keys }).digest })
  const organisation_id = OrganisationId.parse('99999999-0000-4000-8000-000000000002')
  const email = { organisation_id, kind: 'email', value: 'anna@example.org' } as const
  const context = {
    organisation_id,
    actor: { type: 'system', id: null },
    correlation_id: 'test',
    now: new Date().toISOString(),
  } as const
  const people = peopleWith(deriveKeys(first))
  expect(await people.claim(email, annaId, context)).toBe(annaId)

  const rotated = peopleWith(deriveKeys(second, [first]))
  expect(await rotated.find(email)).toBe(annaId)
  expect(await rotated.claim(email, bertId, context)).toBe(annaId)
  const others = [
    { ...email, organisation_id: OrganisationId.parse('99999999-0000-4000-8000-000000000001') },
    { ...email, kind: 'external_id' } as const,
    { ...email, value: 'bert@example.org' },
  ]
  for (const other of others) expect(await rotated.find(other)).toBeUndefined()
  for (const other of others) expect(await rotated.claim(other, bertId, context)).toBe(bertId)
})

test('what is refused claims no email address', async () => {
  await using fixture = await applicationApis()
  const { body: application } = await fixture.start()
  const before = await typesIn(fixture)
  const [invalid, unfit] = [{ customer: { ...anna, dob: '2199-01-01' } }, { customer: anna, answers: { unheard: 1 } }]
  expect((await fixture.start(invalid)).status).toBe(422)
  expect((await fixture.start(unfit)).status).toBe(422)
  expect((await fixture.start({ product_slug: 'unheard', customer: anna })).status).toBe(404)
  expect((await fixture.saveCustomer(application.data.id, invalid)).status).toBe(422)
  expect((await fixture.saveCustomer(application.data.id, { customer: anna, consent_answers: { x: 1 } })).status).toBe(
    422,
  )
  expect(await typesIn(fixture)).toEqual(before)
})

test('a process that dies after the claim leaves nothing broken: the next save finds the person and makes the record', async () => {
  await using fixture = await applicationApis()
  const { append } = fixture.log
  const { body: application } = await fixture.start()
  // The process dies before the application is written.
  Object.assign(fixture.log, {
    append: async (...given: Parameters<typeof append>) => {
      if (given[0].startsWith('application-')) throw new Error('The process is gone.')
      return append(...given)
    },
  })
  expect((await fixture.saveCustomer(application.data.id, { customer: anna })).status).toBe(500)
  Object.assign(fixture.log, { append })
  const claim = (await fixture.log.readAll()).at(-1)
  expect(claim?.type).toBe('IdentityClaimed')

  const { status, body } = await fixture.saveCustomer(application.data.id, { customer: anna })
  expect([status, body.data.customer?.id]).toEqual([200, claim?.data['customer_id']])

  const reaction = whenCustomerSavedRecordCustomer(fixture.writer)
  const saved = (await fixture.log.readAll()).find(({ type }) => type === 'CustomerSaved')
  if (!saved) throw new Error('No customer was saved.')
  await reaction.react(
    fromStored(reaction.events, saved),
    saved,
    contextOf(reaction, saved, new AbortController().signal),
  )
  const recorded = (await fixture.log.readAll()).at(-1)
  expect(recorded && fromStored(customerEvents, recorded)).toMatchObject({
    type: 'CustomerCreated',
    customer_id: claim?.data['customer_id'],
    details: anna,
  })
})
