import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startReceiver } from '../../demo/receiver.ts'
import { organisation_id } from './applications.ts'
import { deliveryFixture, eventually, secret } from './fixture.ts'

test('a lifecycle webhook that would show an erased person is not sent, and says why; others are', async () => {
  await using fixture = await deliveryFixture()
  const hooks = await startReceiver({ secret })
  await fixture.setUp(hooks.url, ['quote.issued'])
  const [grace, henry] = [await fixture.startApplication(), await fixture.startApplication()]
  const saved = await grace.saveCustomer('Grace')
  await henry.saveCustomer('Henry')
  const stored = await fixture.eventLog.read(`application-${grace.application_id}`)
  const customer_id = String(stored.find(({ id }) => saved.ids.includes(id))?.data['customer_id'])
  await fixture.pool.query(
    'insert into data_key (id, organisation_id, subject, erased_at) values ($1, $2, $3, now())',
    [randomUUID(), organisation_id, `person:${customer_id}`],
  )

  const { event_id } = await grace.issueQuote()
  await henry.issueQuote()
  await fixture.startWorker()
  await hooks.untilReceived(1)
  await eventually(async () => (await fixture.deliveries()).every(({ state }) => state !== 'pending'))

  const ended = (await fixture.deliveries()).map((each) => [each.event_id === event_id, each.state, each.reason])
  expect(ended).toEqual(
    expect.arrayContaining([
      [true, 'failed', 'not sent: the person was erased'],
      [false, 'delivered', null],
    ]),
  )
  expect(hooks.requests.map(({ raw_body }) => raw_body.includes('Grace'))).toEqual([false])
  await hooks.close()
})
