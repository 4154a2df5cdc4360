import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { LeaseLost, requireLease, whenLeaseLost } from '#infra/consumers/required-lease.ts'
import { makeLog } from '#infra/log.ts'
import { capabilities } from '../../delivery-worker/capabilities.ts'
import type { Capabilities } from '../../delivery-worker/capability.ts'
import { candidateSearch } from '../../delivery-worker/endpoints/endpoints.ts'
import { releaseUnsent } from '../../delivery-worker/sending/leases.ts'
import { startSender, type SenderParts } from '../../delivery-worker/sending/sender.ts'
import { eventually } from './fixture.ts'
import { connect, deliveryQueue, only, planned, success, type DeliveryQueue } from './queue-fixture.ts'

/** The subjects of all deliveries can be shown; `read` is called whenever they are. */
const shown = (
  read: () => void = () => undefined,
  people: (subject_id: string) => readonly string[] = () => [],
): Capabilities => ({
  ...capabilities,
  subjects: capabilities.subjects.map((subject) => ({
    ...subject,
    people,
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

test('a worker that was paused after its claim, or could not read, gives it back: that was no attempt', async () => {
  await using own = await deliveryQueue()
  await own.enqueue(planned(await connect(own.pool)))
  const sent: number[] = []
  let clockMs = 0
  let reads = 0
  await using _sender = sending(own, {
    monotonicMs: () => clockMs,
    capabilities: shown(
      () => {
        if (++reads === 1) clockMs += 2_501
      },
      (subject_id) => {
        if (reads === 2) throw new Error(`nobody knows the people of ${subject_id}`)
        return []
      },
    ),
    send: (claimed) => {
      sent.push(claimed.number)
      return Promise.resolve(success(claimed))
    },
  })

  await eventually(() => Promise.resolve(sent.length > 0))

  expect(reads).toBe(3)
  expect(sent).toEqual([1])
  await eventually(async () => (await own.rows()).every(({ state }) => state === 'delivered'))
  expect(await own.attempts()).toHaveLength(1)
})

test('a worker that was stopped while it prepared a request sends nothing, and records nothing of it', async () => {
  await using own = await deliveryQueue()
  await own.enqueue(planned(await connect(own.pool)))
  const { promise: refused, resolve: refuse } = Promise.withResolvers<unknown>()
  let clockMs = 0
  await using _sender = sending(own, {
    monotonicMs: () => clockMs,
    capabilities: shown(),
    send: async (claimed) => {
      clockMs += 8_000
      try {
        requireLease()
      } catch (error) {
        refuse(error)
        throw error
      }
      return success(claimed)
    },
  })

  expect(await refused).toBeInstanceOf(LeaseLost)
  expect((await own.rows()).map(({ state }) => state)).toEqual(['pending'])
})

test('what is still being sent ends when it could not be renewed for so long that another may send it', async () => {
  await using own = await deliveryQueue()
  await own.enqueue(planned(await connect(own.pool)))
  const { promise: given, resolve: give } = Promise.withResolvers<unknown>()
  let clockMs = 0
  await using _sender = sending(own, {
    monotonicMs: () => clockMs,
    renewMs: 1_000_000,
    capabilities: shown(),
    send: (claimed) => {
      if (claimed.number > 1) return Promise.resolve(success(claimed))
      clockMs += 7_600
      return new Promise((_resolve, reject) => {
        whenLeaseLost(() => {
          give(claimed.number)
          reject(new LeaseLost('lost'))
        })
      })
    },
  })

  expect(await given).toBe(1)
  expect(await own.attempts()).toEqual([])
})

test('a worker that was paused so long that another has claimed it leaves it to that one', async () => {
  await using own = await deliveryQueue()
  const connection = await connect(own.pool)
  await own.enqueue(planned(connection))
  const first = only(await own.claim([connection]))
  await own.passTime(40)
  const second = only(await own.claim([connection]))

  await releaseUnsent(own.pool, [first])

  expect(await own.claim([connection])).toEqual([])
  await releaseUnsent(own.pool, [second])
  expect(await own.claim([connection])).toMatchObject([{ number: 2 }])
})

test('a connection that succeeds slowly keeps a share of the places, and one that fails slowly its probe', async () => {
  await using own = await deliveryQueue()
  const connection = await connect(own.pool)
  await own.enqueue(...Array.from({ length: 20 }, () => planned(connection)))
  const slowMs = 200
  const waiting: { since: number; succeed: () => void }[] = []
  /** Only what the sender has seen to be slow: what ended sooner would say that the connection is well. */
  const succeedSlowly = () => {
    for (const { since, succeed } of waiting.splice(0))
      if (performance.now() - since > 2 * slowMs) succeed()
      else waiting.push({ since, succeed })
  }
  let isSlow = true
  await using _sender = sending(own, {
    slowMs,
    capabilities: shown(),
    send: (claimed) =>
      isSlow
        ? new Promise((resolve) => waiting.push({ since: performance.now(), succeed: () => resolve(success(claimed)) }))
        : Promise.resolve(success(claimed)),
  })

  await eventually(async () => (await standings(own))[0] === 'open')
  await eventually(async () => {
    succeedSlowly()
    return (await standings(own))[0] === 'slow'
  })
  await eventually(() => Promise.resolve(waiting.length === 4))
  isSlow = false
  for (const { succeed } of waiting.splice(0)) succeed()
  await eventually(async () => (await standings(own))[0] === 'closed')

  await eventually(async () => (await own.rows()).every(({ state }) => state === 'delivered'))
  expect((await standings(own))[0]).toBe('closed')
})

test('what is planned next to connections that hang is sent at once, and does not wait until they are looked for again', async () => {
  await using own = await deliveryQueue()
  const hostile = randomUUID()
  const hanging = await Promise.all(Array.from({ length: 20 }, () => connect(own.pool, hostile)))
  await own.enqueue(...hanging.map((connection) => planned(connection, { organisation_id: hostile })))
  const begun: string[] = []
  const hung: (() => void)[] = []
  let isHanging = true
  await using _sender = sending(own, {
    // What was found before stays so for ever.
    monotonicMs: () => 0,
    slowMs: 600_000,
    capabilities: shown(),
    send: (claimed) => {
      begun.push(claimed.organisation_id)
      if (claimed.organisation_id !== hostile || !isHanging) return Promise.resolve(success(claimed))
      return new Promise((resolve) => hung.push(() => resolve(success(claimed))))
    },
  })
  // The places that one organisation may have for connections that are new.
  await eventually(() => Promise.resolve(begun.length === 6))

  await own.enqueue(planned(await connect(own.pool)))
  await eventually(() => Promise.resolve(begun.length === 7))

  expect(begun.filter((organisation) => organisation !== hostile)).toHaveLength(1)
  isHanging = false
  for (const answer of hung) answer()
})

test('of an organisation that has all the places it may have for connections that are not proven, no other is looked at', async () => {
  await using own = await deliveryQueue()
  const [full, other] = [randomUUID(), randomUUID()]
  const [proven = '', unproven = '', elsewhere = ''] = await Promise.all(
    [full, full, other].map((organisation) => connect(own.pool, organisation)),
  )
  await own.enqueue(
    planned(proven, { organisation_id: full }),
    planned(unproven, { organisation_id: full }),
    planned(elsewhere, { organisation_id: other }),
  )
  await own.pool.query(`insert into delivery_endpoint (connection_id, state) values ($1, 'closed')`, [proven])
  const found = async (...fulls: readonly string[]) =>
    (await candidateSearch(own.pool).find(true, fulls)).map(({ connection_id }) => connection_id).toSorted()

  expect(await found()).toEqual([proven, unproven, elsewhere].toSorted())
  expect(await found(full)).toEqual([proven, elsewhere].toSorted())
})

test('one proven connection has nearly all places, and whoever comes next is served while all of them hang', async () => {
  await using own = await deliveryQueue()
  const another = randomUUID()
  const [lone, next] = [await connect(own.pool), await connect(own.pool, another)]
  await own.enqueue(...Array.from({ length: 60 }, () => planned(lone)), planned(next, { organisation_id: another }))
  const answering = new Set([lone, next])
  const hanging: (() => void)[] = []
  const sent: string[] = []
  await using _sender = sending(own, {
    monotonicMs: () => 0,
    slowMs: 60_000,
    capabilities: shown(),
    send: (claimed) => {
      sent.push(claimed.connection_id)
      if (answering.has(claimed.connection_id)) return Promise.resolve(success(claimed))
      return new Promise((resolve) => hanging.push(() => resolve(success(claimed))))
    },
  })
  await eventually(async () => (await own.rows()).every(({ state }) => state === 'delivered'))

  answering.delete(lone)
  await own.enqueue(...Array.from({ length: 40 }, () => planned(lone)))
  await eventually(() => Promise.resolve(hanging.length === 28))
  await own.enqueue(...Array.from({ length: 100 }, () => planned(next, { organisation_id: another })))
  await eventually(() => Promise.resolve(sent.filter((each) => each === next).length === 101))

  expect(hanging).toHaveLength(28)
  answering.add(lone)
  for (const answer of hanging.splice(0)) answer()
  await eventually(async () => (await own.rows()).every(({ state }) => state === 'delivered'))
})
