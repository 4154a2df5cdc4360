import { expect, test } from 'vitest'
import type { Customer } from '#domain/customers/record.ts'
import { fromStored } from '#domain/event.ts'
import { whenCustomerSavedRecordCustomer } from '../../command-api/customers/when-customer-saved-record-customer.ts'
import { contextOf } from '../../command-api/reactions/reaction.ts'
import { as, applicationApis, type Fixture } from '../applications/fixture.ts'

const anna = { first_name: 'Anna', last_name: 'Ash', email: 'anna@example.org', phone_number: '+441134960000' }

/** Lets the customers' own records follow what applications were told so far, from the first event on. */
const follow = async (fixture: Fixture) => {
  const reaction = whenCustomerSavedRecordCustomer(fixture.writer)
  for (const recorded of await fixture.log.readAll()) {
    if (recorded.type !== 'CustomerSaved') continue
    const event = fromStored(reaction.events, recorded)
    await reaction.react(event, recorded, contextOf(reaction, recorded, new AbortController().signal))
  }
  const head = await fixture.log.head()
  if (head) await fixture.writer.seen('customer', head)
}

const recordOf = async ({ pool }: Fixture, id = '') => {
  const { rows } = await pool.query<{ document: Customer }>('select document from customers where id = $1', [id])
  return rows[0]?.document
}

test('a customer whose email matches an existing customer is that customer, and a server updates the fields it sends', async () => {
  await using fixture = await applicationApis()
  const { body: first } = await fixture.start({ customer: { ...anna, city: 'York' } })
  await follow(fixture)

  const { body: second } = await fixture.start({ customer: { ...anna, last_name: 'Oak' } }, as('anotherServer'))
  expect(second.data.customer).toEqual({ ...first.data.customer, last_name: 'Oak' })
  expect((await fixture.get(first.data.id)).body.data.customer).toEqual(first.data.customer)

  await follow(fixture)
  expect(await recordOf(fixture, first.data.customer?.id)).toMatchObject({
    last_name: 'Oak',
    city: 'York',
    proposed: {},
    consent: [],
  })
})

test('a browser application links a known customer, is shown only what it sent, and changes nothing of theirs', async () => {
  await using fixture = await applicationApis()
  const { body: known } = await fixture.start({ customer: { ...anna, city: 'York', dob: '1990-01-15' } })
  await follow(fixture)
  const record = await recordOf(fixture, known.data.customer?.id)

  const typed = { first_name: 'Ann', last_name: 'Ash', email: 'Anna@Example.org' }
  const { body: visited } = await fixture.start({ customer: typed }, as('browser'))
  expect(visited.data.customer).toEqual({
    id: known.data.customer?.id,
    ...typed,
    email: 'anna@example.org',
    title: null,
    phone_number: null,
    dob: null,
    postal_code: null,
    address_line1: null,
    address_line2: null,
    city: null,
    country: 'GB',
  })
  const token = { 'X-Share-Token': String(visited.data.share_token) }
  await fixture.saveCustomer(visited.data.id, { customer: { city: 'Leeds' } }, as('browser', token))
  // A server that works on the visitor's application does not open the customer's record to the visitor.
  const { body: helped } = await fixture.saveCustomer(visited.data.id, { customer: { title: 'Ms' } })
  expect(helped.data.customer).toMatchObject({ title: 'Ms', city: 'Leeds', phone_number: null, dob: null })

  await follow(fixture)
  const { title, proposed, ...unchanged } = (await recordOf(fixture, known.data.customer?.id)) ?? {}
  expect(unchanged).toMatchObject({ ...anna, city: 'York', dob: '1990-01-15', created_at: record?.created_at })
  expect(title).toBe('Ms')
  expect(proposed).toEqual({ [visited.data.id]: { first_name: 'Ann', city: 'Leeds' } })
})

test('a reaction that sees its events again changes nothing', async () => {
  await using fixture = await applicationApis()
  const { body } = await fixture.start({ customer: anna })
  for (const city of ['York', 'Leeds', 'York', 'Hull']) await fixture.saveCustomer(body.data.id, { customer: { city } })
  await follow(fixture)
  const once = await recordOf(fixture, body.data.customer?.id)
  expect(once).toMatchObject({ ...anna, city: 'Hull' })
  await follow(fixture)
  expect(await recordOf(fixture, body.data.customer?.id)).toEqual(once)
})
