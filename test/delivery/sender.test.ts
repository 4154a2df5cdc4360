import { expect, test } from 'vitest'
import { makeLog } from '#infra/log.ts'
import { capabilities } from '../../delivery-worker/capabilities.ts'
import type { Capabilities } from '../../delivery-worker/capability.ts'
import type { Claimed } from '../../delivery-worker/queue.ts'
import { startSender, type SenderParts } from '../../delivery-worker/sender.ts'
import { eventually } from './fixture.ts'
import { connect, deliveryQueue, planned, success, type DeliveryQueue } from './queue-fixture.ts'

/** The subjects of all deliveries can be shown; `read` is called whenever they are. */
const shown = (read: () => void = () => undefined): Capabilities => ({
  ...capabilities,
  subjects: capabilities.subjects.map((subject) => ({
    ...subject,
    readSnapshots: () => {
      read()
      return Promise.resolve(() => ({}))
    },
  })),
})

const sending = (own: DeliveryQueue, parts: Pick<SenderParts, 'capabilities' | 'send'> & Partial<SenderParts>) => {
  const sender = startSender({
    pool: own.pool,
    log: makeLog('silent', 'test'),
    now: () => new Date(),
    concurrency: 32,
    ...parts,
  })
  return { ...sender, [Symbol.asyncDispose]: sender.stop }
}

const standings = async ({ pool }: DeliveryQueue) =>
  (await pool.query<{ state: string }>('select state from delivery_endpoint')).rows.map(({ state }) => state)

test('a worker that was paused after its claim gives it up: another may have claimed it since', async () => {
  await using own = await deliveryQueue()
  await own.enqueue(planned(await connect(own.pool)))
  const sent: number[] = []
  let clockMs = 0
  let reads = 0
  await using _sender = sending(own, {
    monotonicMs: () => clockMs,
    capabilities: shown(() => {
      if (++reads === 1) clockMs += 2_501
    }),
    send: (claimed) => {
      sent.push(claimed.number)
      return Promise.resolve(success(claimed))
    },
  })

  await eventually(() => Promise.resolve(reads === 1))
  await own.passTime(40)
  await eventually(() => Promise.resolve(sent.length > 0))

  expect(sent).toEqual([2])
})

test('a connection that succeeds slowly keeps a share of the places, and one that fails slowly its probe', async () => {
  await using own = await deliveryQueue()
  const connection = await connect(own.pool)
  await own.enqueue(...Array.from({ length: 20 }, () => planned(connection)))
  const waiting: { claimed: Claimed; succeed: () => void }[] = []
  let isSlow = true
  await using _sender = sending(own, {
    slowMs: 20,
    capabilities: shown(),
    send: (claimed) =>
      isSlow
        ? new Promise((resolve) => waiting.push({ claimed, succeed: () => resolve(success(claimed)) }))
        : Promise.resolve(success(claimed)),
  })

  await eventually(async () => (await standings(own))[0] === 'open')
  for (const { succeed } of waiting.splice(0)) succeed()
  await eventually(async () => (await standings(own))[0] === 'slow')
  await eventually(() => Promise.resolve(waiting.length === 4))
  isSlow = false
  for (const { succeed } of waiting.splice(0)) succeed()
  await eventually(async () => (await standings(own))[0] === 'closed')

  await eventually(async () => (await own.rows()).every(({ state }) => state === 'delivered'))
  expect((await standings(own))[0]).toBe('closed')
})
