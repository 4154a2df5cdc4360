import { describe, expect, test } from 'vitest'
import { deliveryFixture, eventually } from '../delivery/fixture.ts'
import { findKafka } from './broker.ts'
import { allDelivered, onTopic, readTopic, receiver } from './fixture.ts'

const found = await findKafka()
const why = 'why' in found ? ` (skipped: ${found.why})` : ''
const brokers = 'kafka' in found ? found.kafka.brokers : ''

describe.skipIf(why !== '')(`planning through Kafka from a log that is sealed${why}`, () => {
  test('opens what it plans from, while neither the log nor the topic holds a name that can be read', async () => {
    const environment = onTopic(brokers)
    await using fixture = await deliveryFixture({ environment, sealed: true })
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started', 'application.customer_saved', 'quote.issued'])
    await fixture.startWorker()

    const names = ['Griselda', 'Hildegard', 'Isambard']
    for (const name of names) {
      const application = await fixture.startApplication()
      await application.saveCustomer(name)
      await application.issueQuote()
    }
    await allDelivered(fixture, 3 * names.length)

    const bodies = hooks.requests.map(({ raw_body }) => raw_body)
    for (const name of names) expect(bodies.some((body) => body.includes(name))).toBe(true)
    const messages = (await readTopic(environment)).flat()
    expect(messages.filter(({ type }) => type === 'CustomerSaved')).toHaveLength(names.length)
    const stored = await fixture.storedLog.readAll({ limit: 1_000 })
    for (const name of names) {
      expect(JSON.stringify(messages)).not.toContain(name)
      expect(JSON.stringify(stored)).not.toContain(name)
    }
  })

  test('goes on when a person was erased: nothing shows the name, and others are told of as before', async () => {
    const environment = onTopic(brokers)
    await using fixture = await deliveryFixture({ environment, sealed: true })
    await using hooks = await receiver()
    await fixture.setUp(hooks.url, ['application.started', 'quote.issued'])
    const application = await fixture.startApplication()
    await application.saveCustomer('Griselda')
    const { rows } = await fixture.pool.query<{ organisation_id: string; subject: string }>(`
      select organisation_id, subject from data_key where subject like 'person:%'`)
    for (const person of rows) await fixture.dataKeys.erase(person)
    const other = await fixture.startApplication()
    await other.saveCustomer('Hildegard')

    await fixture.startWorker()
    await application.issueQuote()
    await other.issueQuote()
    await eventually(async () => {
      const states = (await fixture.deliveries()).map(({ state }) => state)
      return states.length === 4 && !states.includes('pending')
    }, 25_000)

    expect(hooks.requests.filter(({ raw_body }) => raw_body.includes('Griselda'))).toEqual([])
    expect((await fixture.deliveries()).map(({ type }) => type).toSorted()).toEqual([
      'application.started',
      'application.started',
      'quote.issued',
      'quote.issued',
    ])
  })
})
