import type { PoolClient } from 'pg'
import { expect, test } from 'vitest'
import type { RecordedEvent } from '#domain/event.ts'
import { consumerHealth, resumeConsumer } from '#infra/consumers/checkpoint.ts'
import { consume, type ConsumerParts, type Consuming } from '#infra/consumers/consumer.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { newEvent } from './tally.ts'
import { barrier, raised, soon, through, fixture, type Fixture } from './fixture.ts'

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
  if (amounts(events).some((by) => by < 0)) throw new Error('less than nothing')
}

const keeper =
  (
    handle: Handle = keep,
    options: { readonly name?: string; readonly batchSize?: number; readonly version?: number } = {},
  ) =>
  (parts: ConsumerParts) =>
    consume({ ...parts, name: 'keeper', version: 1, categories: ['tally'], handle, ...options })

const keeping = async () => {
  const the = await fixture()
  await the.pool.query('create table kept (id serial primary key, amount integer not null)')
  return the
}

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
  expect(lines.filter(({ msg }) => msg === 'consumer ran into trouble and tries again')).toHaveLength(2)
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

test('a process that has lost its lease without knowing cannot write any more', async () => {
  await using the = await keeping()
  const [zombie, heir] = [the.makeProcess('zombie'), the.makeProcess('heir')]
  const stalled = barrier()
  const [reached, done] = [barrier(), barrier()]
  await the.append(1, raised(1))
  zombie.run(
    keeper(async (events, db) => {
      reached.open()
      await stalled.passed
      await keep(events, db)
      done.open()
    }),
  )
  await reached.passed

  await the.cutOff('coverstream leases')
  const inherited = heir.run(keeper())
  await reaches(inherited, 'live')
  await soon(async () => expect(await kept(the)).toEqual([1]))
  stalled.open()
  await done.passed
  await zombie.stop()

  expect(await kept(the)).toEqual([1])
  expect(zombie.lines.map(({ msg }) => msg)).toContain('consumer was overtaken and looks where it stands')
})

test('a consumer stops at an event that it cannot handle, says so, and never skips it; others go on', async () => {
  await using the = await keeping()
  for (const by of [1, 2, -3, 4]) await the.append(1, raised(by))
  const { run, lines } = the.makeProcess()
  const seen: number[] = []

  const other = run(
    keeper(
      async (events) => {
        seen.push(...amounts(events))
      },
      { name: 'other' },
    ),
  )
  const failing = run(keeper(refuseNegative))

  await reaches(failing, 'failed')
  await reaches(other, 'live')
  expect(await kept(the)).toEqual([1, 2])
  expect(seen).toEqual([1, 2, -3, 4])
  const [, , culprit] = await the.eventLog.readAll()
  const failure = { event_id: culprit?.id, type: 'TallyRaised', stream: culprit?.stream, message: 'less than nothing' }
  expect(failing.status().failure).toEqual(failure)
  expect(lines.filter(({ level }) => level === 50)).toMatchObject([{ consumer: 'keeper', ...failure }])
  await soon(async () =>
    expect(await consumerHealth(the.pool)).toMatchObject([
      { name: 'keeper', failed_at: expect.any(Date) as unknown, failure },
      { name: 'other', failed_at: null, failure: null },
    ]),
  )
})

test.each([
  ['when it is resumed', (failed: Consuming) => failed.resume()],
  ['when it is resumed from elsewhere', (_failed: Consuming, the: Fixture) => resumeConsumer(the.pool, 'keeper')],
])('a consumer that stopped tries the event again %s', async (_when, resume) => {
  await using the = await keeping()
  for (const by of [1, -2, 3]) await the.append(1, raised(by))
  const { run } = the.makeProcess()
  let isMended = false
  const consuming = run(keeper((events, db) => (isMended ? keep : refuseNegative)(events, db)))
  await reaches(consuming, 'failed')
  const isRecorded = expect.any(Date) as unknown
  await soon(async () => expect(await consumerHealth(the.pool)).toMatchObject([{ failed_at: isRecorded }]))

  isMended = true
  await resume(consuming, the)

  await reaches(consuming, 'live')
  await soon(async () => expect(await kept(the)).toEqual([1, -2, 3]))
  expect(consuming.status().failure).toBeUndefined()
  expect(await consumerHealth(the.pool)).toMatchObject([{ failed_at: null, failure: null }])
})

test('a consumer that stopped tries the event again when it is started anew, or elsewhere', async () => {
  await using the = await keeping()
  for (const by of [1, -2, 3]) await the.append(1, raised(by))
  const failing = the.makeProcess()
  const failed = failing.run(keeper(refuseNegative))
  await reaches(failed, 'failed')

  const mended = the.makeProcess().run(keeper())

  await reaches(mended, 'live')
  await soon(async () => expect(await kept(the)).toEqual([1, -2, 3]))
  await reaches(failed, 'standing by')
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

test('a reaction may see an event again, but none after it is lost, and none before it comes again after a failure', async () => {
  await using the = await keeping()
  for (const by of [1, 2, 3, 4]) await the.append(1, raised(by))
  const { run, stop } = the.makeProcess()
  const seen: number[] = []
  let isMended = false
  const reacting = run((parts) =>
    consume({
      ...parts,
      name: 'reacting',
      version: 1,
      categories: ['tally'],
      react: async ({ data }) => {
        const by = Number(data['by'])
        if (by === 3 && !isMended) throw new Error('not this one')
        seen.push(by)
        await Promise.resolve()
      },
    }),
  )
  await reaches(reacting, 'failed')
  expect(seen).toEqual([1, 2])

  isMended = true
  await reacting.resume()

  await reaches(reacting, 'live')
  expect(seen).toEqual([1, 2, 3, 4])
  await stop()
  expect(await consumerHealth(the.pool)).toMatchObject([{ position: reacting.status().position, failed_at: null }])
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
