import { expect, test } from 'vitest'
import { customer } from '#domain/customers/customer.ts'
import { customerEvents } from '#domain/customers/events.ts'
import { fromStored } from '#domain/event.ts'
import { countSetAside } from '#infra/consumers/set-aside.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { followErasures } from '#infra/crypto/follow-erasures.ts'
import { makeLog } from '#infra/log.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { runReactions } from '../../command-api/reactions/reaction.ts'
import { whenCustomerSavedRecordCustomer } from '../../command-api/customers/when-customer-saved-record-customer.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { applicationApis, type Fixture } from '../applications/fixture.ts'
import { organisation_id } from '../applications/release.ts'
import { soon } from '../projections/fixture.ts'

const anna = { first_name: 'Anna', last_name: 'Ash', email: 'anna@example.org' }
const bert = { first_name: 'Bert', last_name: 'Birch', email: 'bert@example.org' }
const silent = makeLog('silent', 'test')

const started = async (fixture: Fixture, given: object) => {
  const { body } = await fixture.start({ customer: given })
  return { id: body.data.id, customer_id: String(body.data.customer?.id) }
}

/** Runs the reaction as a process does, until it has come to the end of the log. */
const react = async ({ log: eventLog, pool, writer }: Fixture) => {
  const ending = new AbortController()
  const leases = makeLeases(pool, { pollMs: 20 })
  const parts = { eventLog, pool, leases, log: silent, signal: ending.signal }
  const [reaction] = runReactions([whenCustomerSavedRecordCustomer(writer)], parts)
  const head = await eventLog.head()
  await soon(() => expect((reaction?.status().position ?? '') >= (head ?? 'none')).toBe(true))
  ending.abort()
  await reaction?.finished
}

const namesOf = async ({ log }: Fixture, customer_id: string) =>
  (await log.read(`customer-${customer_id}`)).map((recorded) => {
    const event = fromStored(customerEvents, recorded)
    return event.type === 'CustomerCreated' ? event.details.last_name : event.type
  })

test('what is about an erased person is answered as an unknown record; everything else of the application goes on', async () => {
  await using fixture = await applicationApis()
  const { id, customer_id } = await started(fixture, anna)

  await fixture.dataKeys.erase({ organisation_id, subject: `person:${customer_id}` })

  const { status, body } = await fixture.saveCustomer(id, { customer: { ...anna, city: 'York' } })
  expect([status, body.error.code]).toEqual([404, 'not_found'])
  expect(JSON.stringify(body)).not.toContain('Anna')
  expect((await fixture.save(id, { cover_amount_pence: 10_000_000 })).status).toBe(200)
  expect((await fixture.get(id)).status).toBe(200)
  expect((await fixture.start({ customer: bert })).status).toBe(201)
})

test('a reaction to what was told of an erased person does nothing and goes on', async () => {
  await using fixture = await applicationApis()
  const [annas, berts] = [await started(fixture, anna), await started(fixture, bert)]
  await fixture.dataKeys.erase({ organisation_id, subject: `person:${annas.customer_id}` })

  await react(fixture)

  expect(await namesOf(fixture, annas.customer_id)).toEqual([])
  expect(await namesOf(fixture, berts.customer_id)).toEqual(['Birch'])
  expect(await countSetAside(fixture.pool, 'when-customer-saved-record-customer')).toBe(0)
})

test('what a process remembers of a person is forgotten when they are erased in another', async () => {
  await using fixture = await applicationApis()
  const { id } = await started(fixture, anna)
  const ending = new AbortController()
  const writer = makeWriter({ log: fixture.log, seen: async () => undefined })
  const dataKeys = makeDataKeys({ pool: fixture.pool, keys: fixture.keys })
  let times = 0
  dataKeys.onForget(writer.forget)
  writer.onForget(() => times++)
  const following = followErasures({ pool: fixture.pool, dataKeys, log: silent, signal: ending.signal })
  await soon(() => expect(times).toBe(1))
  await commandHandler(writer, customer).load(id)
  await fixture.saveCustomer(id, { customer: { city: 'York' } })
  expect(fixture.writer.cache().size).toBeGreaterThan(0)

  await fixture.dataKeys.erase({ organisation_id, subject: `application-${id}` })

  expect(fixture.writer.cache().size).toBe(0)
  await soon(() => expect(times).toBe(2))
  ending.abort()
  await following
})
