import { expect, test } from 'vitest'
import type { Position } from '#domain/event.ts'
import { openCheckpoint, resetCheckpoint } from '#infra/consumers/checkpoint.ts'
import type { ConsumerStatus } from '#infra/consumers/consumer.ts'
import { standstills } from '#infra/consumers/standstill.ts'
import { checkConsumer } from '#infra/role-parts.ts'
import { fixture } from './fixture.ts'

const statusOf = (name: string, state: ConsumerStatus['state'] = 'standing by'): ConsumerStatus => ({
  name,
  state,
  position: undefined,
  setAside: 0,
})

test('a consumer on standby says since when an event waits for the process that works but does not move', async () => {
  await using the = await fixture()
  const opened = async (name: string, position?: Position) => {
    const described = { name, version: 1, categories: ['tally'], awaited: false }
    await openCheckpoint(the.pool, described)
    await resetCheckpoint(the.pool, described, position)
  }
  const first = await the.append(1, { type: 'TallyOpened', title: 'One' })
  const last = await the.append(1, { type: 'TallyRaised', by: 1 })
  await opened('stuck', first)
  await opened('at the end', last)
  await opened('moving', first)
  await opened('worked here', first)
  await the.pool.query(`update event_log.event set recorded_at = recorded_at - interval '1 minute'`)
  const [, waiting] = await the.eventLog.readAll({})
  const of = [statusOf('stuck'), statusOf('at the end'), statusOf('moving'), statusOf('worked here', 'live')]
  const look = async () => standstills({ pool: the.pool, storedLog: the.eventLog }, of)
  expect(await look()).toEqual(new Map())

  await the.pool.query(
    `update consumer_checkpoint set updated_at = now() - interval '31 seconds' where name <> 'moving'`,
  )

  const still = await look()
  expect(still).toEqual(new Map([['stuck', waiting?.recorded_at]]))
  expect(checkConsumer({ status: () => statusOf('stuck') }, still)).toEqual({
    name: 'consumer stuck',
    ok: true,
    detail: `standing by, but the process that does this work makes no progress: an event waits since ${waiting?.recorded_at.toISOString()}`,
  })
  expect(checkConsumer({ status: () => statusOf('moving') }, still)).toMatchObject({ detail: 'standing by' })
})
