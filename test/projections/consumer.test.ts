import { once } from 'node:events'
import type { PoolClient } from 'pg'
import { expect, test } from 'vitest'
import { NewerEvent, type RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { consumerHealth } from '#infra/consumers/checkpoint.ts'
import { consume, type Consumer, type ConsumerParts, type Consuming } from '#infra/consumers/consumer.ts'
import type { Leases } from '#infra/consumers/lease.ts'
import { listSetAside, requestResume } from '#infra/consumers/set-aside.ts'
import { checkConsumer } from '#infra/role-parts.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { newEvent } from './tally.ts'
import { barrier, raised, soon, tallyId, through, fixture, type Fixture } from './fixture.ts'

const amounts = (events: readonly RecordedEvent[]): readonly number[] => events.map(({ data }) => Number(data['by']))

type Handle = (events: readonly RecordedEvent[], db: PoolClient) => Promise<void>

/** Keeps the amounts of all tallies in a table, in the transaction of the consumer. */
const keep: Handle = async (events, db) => {
  for (const by of amounts(events)) await db.query(sql`insert into kept (amount) values (${by})`)
}

const kept = async ({ pool }: Fixture): Promise<readonly number[]> => {
  const { rows } = await pool.query<{ amount: number }>('select amount from kept order by id')
  return rows.map(({ amount }) => amount)
}

/** What may not be a number goes unnoticed until somebody looks. */
const refuseNegative: Handle = async (events, db) => {
  await keep(events, db)
  if (amounts(events).some((by) => by < 0)) throw new OwnError('less than nothing')
}

const keeper =
  (handle: Handle = keep, options: Partial<Pick<Consumer, 'name' | 'batchSize' | 'version' | 'awaitedIn'>> = {}) =>
  (parts: ConsumerParts) =>
    consume({ ...parts, name: 'keeper', version: 1, categories: ['tally'], handle, ...options })

const keeping = async () => {
  const the = await fixture()
  await the.pool.query('create table kept (id serial primary key, amount integer not null)')
  return the
}

const tally = (number: number) => `tally-${tallyId(number)}`

const reaches = (consuming: Consuming, state: ReturnType<Consuming['status']>['state']) =>
  soon(() => expect(consuming.status()).toMatchObject({ state }))

test('events are handled in their order, each once, also by the next process', async () => {
  await using the = await keeping()
  for (const by of [1, 2, 3]) await the.append(by, raised(by))
  const first = the.makeProcess()
  await reaches(first.run(keeper()), 'live')
  await the.append(1, raised(4))
  await soon(async () => expect(await kept(the)).toEqual([1, 2, 3, 4]))
  await first.stop()
  await the.append(1, raised(5))

  the.makeProcess().run(keeper())

  await soon(async () => expect(await kept(the)).toEqual([1, 2, 3, 4, 5]))
})

test('an event counts once when the log gives it twice', async () => {
  await using the = await keeping()
  for (const by of [1, 2, 3]) await the.append(by, raised(by))
  const last = await the.append(4, raised(4))
  const stuttering = through(the.eventLog, async function* (batches) {
    let before: readonly RecordedEvent[] = []
    for await (const batch of batches) {
      yield { ...batch, events: [...before, ...batch.events] }
      yield batch
      before = batch.events
    }
  })

  const { run, stop } = the.makeProcess('stuttering', stuttering)
  const consuming = run(keeper(keep, { batchSize: 2 }))
  await soon(() => expect(consuming.status().position).toBe(last))
  await stop()

  expect(await kept(the)).toEqual([1, 2, 3, 4])
})

test('what was done and how far it came are kept together: a connection lost in between undoes both', async () => {
  await using the = await keeping()
  const last = await the.append(1, raised(1))
  const { run, lines, stop } = the.makeProcess('unlucky')
  let attempts = 0

  const consuming = run(
    keeper(async (events, db) => {
      await keep(events, db)
      if (++attempts <= 2) await the.cutOff('unlucky')
      await keep([], db)
    }),
  )

  await soon(() => expect(consuming.status().position).toBe(last))
  await stop()
  expect(attempts).toBe(3)
  expect(await kept(the)).toEqual([1])
  expect(lines.filter(({ msg }) => msg === 'consumer failed and retries')).toHaveLength(2)
})

test('one of two processes works, the other stands by and takes over when it dies', async () => {
  await using the = await keeping()
  const [first, second] = [the.makeProcess('first'), the.makeProcess('second')]
  const working = first.run(keeper())
  await reaches(working, 'live')
  const waiting = second.run(keeper())
  await reaches(waiting, 'standing by')
  await the.append(1, raised(1))
  await soon(async () => expect(await kept(the)).toEqual([1]))
  expect(waiting.status().state).toBe('standing by')

  await first.stop()
  await the.append(1, raised(2))

  await reaches(waiting, 'live')
  await soon(async () => expect(await kept(the)).toEqual([1, 2]))
  expect(working.status().state).toBe('stopped')
})

test('a consumer stands by only once the database says that another holds its lease; until then its problem shows', async () => {
  await using the = await keeping()
  const { run, parts } = the.makeProcess()
  let attempts = 0
  let heldByAnother = (): void => undefined
  const leases: Leases = {
    take: async (_name, signal, held = () => undefined) => {
      if (++attempts === 1) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
      heldByAnother = held
      await once(signal, 'abort')
      return undefined
    },
  }
  const consuming = run(() => keeper()({ ...parts, leases }))
  await soon(() => expect(attempts).toBe(2))
  expect(consuming.status()).toMatchObject({ state: 'starting', problem: { reason: 'refused' } })
  expect(checkConsumer(consuming)).toMatchObject({ ok: false, detail: expect.stringContaining('since') as unknown })

  heldByAnother()

  expect(consuming.status()).toMatchObject({ state: 'standing by' })
  expect(checkConsumer(consuming)).toMatchObject({ ok: true })
})

test('what handling needs is read before the transaction begins, also when a record is resumed', async () => {
  await using the = await keeping()
  const { run, parts } = the.makeProcess()
  let isMended = false
  const transactionsMeanwhile: number[] = []
  await the.append(1, raised(1), raised(-2), raised(3))
  const consuming = run((given) =>
    consume({
      ...given,
      name: 'keeper',
      version: 1,
      categories: ['tally'],
      prepareFor: async (events) => {
        transactionsMeanwhile.push(parts.pool.totalCount - parts.pool.idleCount)
        return async (_events, db) => (isMended ? keep(events, db) : refuseNegative(events, db))
      },
    }),
  )
  await soon(() => expect(consuming.status()).toMatchObject({ state: 'live', setAside: 1 }))

  isMended = true
  await requestResume(the.pool, 'keeper')

  await soon(async () => expect(await kept(the)).toEqual([1, -2, 3]))
  expect(transactionsMeanwhile.length).toBeGreaterThan(2)
  expect(new Set(transactionsMeanwhile)).toEqual(new Set([0]))
})

test('what handling wants done afterwards sees what was committed, also when a record is resumed', async () => {
  await using the = await keeping()
  const { run } = the.makeProcess()
  let isMended = false
  const seenAfterwards: Promise<readonly number[]>[] = []
  await the.append(1, raised(1), raised(-2))
  const consuming = run((given) =>
    consume({
      ...given,
      name: 'keeper',
      version: 1,
      categories: ['tally'],
      handle: async (events, db) => {
        await (isMended ? keep(events, db) : refuseNegative(events, db))
        return () => seenAfterwards.push(kept(the))
      },
    }),
  )
  await soon(() => expect(consuming.status()).toMatchObject({ state: 'live', setAside: 1 }))
  await soon(async () => expect(await Promise.all(seenAfterwards)).toEqual([[1]]))

  isMended = true
  await requestResume(the.pool, 'keeper')

  await soon(async () => expect(await Promise.all(seenAfterwards)).toEqual([[1], [1, -2]]))
})

test('a process that has lost its lease without knowing cannot write any more', async () => {
  await using the = await keeping()
  const [first, second] = [the.makeProcess('first'), the.makeProcess('second')]
  const stalled = barrier()
  const [reached, done] = [barrier(), barrier()]
  await the.append(1, raised(1))
  first.run(
    keeper(async (events, db) => {
      reached.open()
      await stalled.passed
      await keep(events, db)
      done.open()
    }),
  )
  await reached.passed

  await the.cutOff('coverstream leases')
  const resumed = second.run(keeper())
  await reaches(resumed, 'live')
  await soon(async () => expect(await kept(the)).toEqual([1]))
  stalled.open()
  await done.passed
  await first.stop()

  expect(await kept(the)).toEqual([1])
  expect(first.lines.map(({ msg }) => msg)).toContain(
    'stale checkpoint: another instance moved it, so the consumer reads it again',
  )
})

test('an event that cannot be handled sets its record aside: its later events wait, all others go on', async () => {
  await using the = await keeping()
  await the.append(1, raised(1), raised(-2), raised(3))
  await the.append(2, raised(10))
  const { run, lines, progress } = the.makeProcess()

  const consuming = run(keeper(refuseNegative, { awaitedIn: progress }))
  await reaches(consuming, 'live')
  await the.append(1, raised(4))
  const last = await the.append(2, raised(11))

  await soon(async () => expect(await kept(the)).toEqual([1, 10, 11]))
  const failure = { record: tally(1), stream: tally(1), revision: 1, type: 'TallyRaised', reason: 'less than nothing' }
  expect(await listSetAside(the.pool, 'keeper', 10)).toMatchObject([failure])
  expect(lines.filter(({ level }) => level === 50)).toMatchObject([{ consumer: 'keeper', ...failure }])
  expect(consuming.status()).toMatchObject({ state: 'live', setAside: 1 })
  expect(await consumerHealth(the.pool)).toMatchObject([{ name: 'keeper', set_aside: 1 }])
  // Nobody who writes waits for a record that is set aside.
  expect(await progress.wait('tally', last, 20_000)).toBe(true)
})

test('an event of a newer version sets nothing aside: the consumer gives its lease back, for a newer process', async () => {
  await using the = await keeping()
  for (const by of [1, 2]) await the.append(by, raised(by))
  const older = the.makeProcess('older')
  const refusing = older.run(keeper(() => Promise.reject(new NewerEvent('upgrade this process'))))
  await soon(() => expect(refusing.status().problem).toMatchObject({ reason: 'upgrade this process' }))

  const newer = the.makeProcess('newer').run(keeper())

  await soon(async () => expect(await kept(the)).toEqual([1, 2]))
  await reaches(newer, 'live')
  expect([refusing.status().setAside, newer.status().setAside]).toEqual([0, 0])
})

test('a record that is resumed gets the events that wait, in their order', async () => {
  await using the = await keeping()
  let isMended = false
  const { run } = the.makeProcess()
  const consuming = run(keeper((...given) => (isMended ? keep : refuseNegative)(...given)))
  await the.append(1, raised(1), raised(-2), raised(3))
  await the.append(2, raised(-20))
  await the.append(1, raised(4))
  await soon(() => expect(consuming.status().setAside).toBe(2))

  isMended = true
  expect(await requestResume(the.pool, 'keeper', tally(1))).toBe(1)

  await soon(async () => expect(await kept(the)).toEqual([1, -2, 3, 4]))
  await soon(() => expect(consuming.status().setAside).toBe(1))
  await the.append(1, raised(5))
  await soon(async () => expect(await kept(the)).toEqual([1, -2, 3, 4, 5]))
  expect(await requestResume(the.pool, 'keeper')).toBe(1)
  await soon(async () => expect(await kept(the)).toEqual([1, -2, 3, 4, 5, -20]))
})

test('a record that is resumed too early stays set aside, at the event that still cannot be handled', async () => {
  await using the = await keeping()
  let allowed = 0
  const { run } = the.makeProcess()
  const refuseSome: Handle = async (events, db) => {
    await keep(events, db)
    if (amounts(events).some((by) => by < allowed)) throw new OwnError(`less than ${allowed}`)
  }
  const consuming = run(keeper(refuseSome))
  await the.append(1, raised(1), raised(-2), raised(3), raised(-4), raised(5))
  await soon(() => expect(consuming.status().setAside).toBe(1))

  allowed = -2
  await requestResume(the.pool, 'keeper')

  const again = { revision: 3, reason: 'less than -2' }
  await soon(async () => expect(await listSetAside(the.pool, 'keeper', 10)).toMatchObject([again]))
  expect(await kept(the)).toEqual([1, -2, 3])
  expect(await requestResume(the.pool, 'keeper', 'tally-0')).toBe(0)
})

test('a record stays set aside in the next process', async () => {
  await using the = await keeping()
  await the.append(1, raised(1), raised(-2))
  const failing = the.makeProcess()
  const failed = failing.run(keeper(refuseNegative))
  await soon(() => expect(failed.status().setAside).toBe(1))
  await failing.stop()
  await the.append(1, raised(3))
  await the.append(2, raised(10))

  const mended = the.makeProcess().run(keeper())

  await soon(async () => expect(await kept(the)).toEqual([1, 10]))
  expect(mended.status().setAside).toBe(1)
  await requestResume(the.pool, 'keeper')
  await soon(async () => expect(await kept(the)).toEqual([1, 10, -2, 3]))
})

test('what others have written moves a consumer on at once, and its checkpoint when it stops', async () => {
  await using the = await keeping()
  const { run, stop } = the.makeProcess()
  const consuming = run(keeper())
  await reaches(consuming, 'live')

  const appended = await the.eventLog.append('other-1', 'any', [newEvent(raised(1))])

  expect(appended).toMatchObject({ outcome: 'appended', position: expect.any(String) as unknown })
  const position = appended.outcome === 'appended' ? appended.position : undefined
  await soon(() => expect(consuming.status().position).toBe(position))
  await stop()
  expect(await consumerHealth(the.pool)).toMatchObject([{ name: 'keeper', position }])
})

test('a consumer of another version goes on where the last one was', async () => {
  await using the = await keeping()
  await the.append(1, raised(1))
  const old = the.makeProcess()
  await reaches(old.run(keeper()), 'live')
  await old.stop()
  await the.append(1, raised(2))

  const consuming = the.makeProcess().run(keeper(keep, { version: 2 }))

  await reaches(consuming, 'live')
  await soon(async () => expect(await kept(the)).toEqual([1, 2]))
  expect(await consumerHealth(the.pool)).toMatchObject([{ version: 2 }])
})
