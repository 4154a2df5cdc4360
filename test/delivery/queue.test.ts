import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { transaction } from '#infra/postgres/postgres.ts'
import type { PlannedDelivery } from '../../delivery-worker/plan.ts'
import { cancel, claim, complete, enqueue, type Completed, type Room } from '../../delivery-worker/queue.ts'
import { testDatabase } from '../database.ts'
import { organisation_id, product_id, type AttemptRow, type DeliveryRow } from './fixture.ts'

const now = new Date('2026-03-01T10:00:00.000Z')
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000)
const plenty: Room = { total: 100, connection: 100, except: new Map() }

const queue = async () => {
  const database = await testDatabase()
  const { pool } = database
  const passed = async (applications: string | null, quotes: string | null) => {
    for (const [name, position] of Object.entries({ applications, quotes }))
      await pool.query(
        `insert into consumer_checkpoint (name, version, position, categories, awaited) values ($1, 1, $2, '{}', true)
        on conflict (name) do update set position = excluded.position`,
        [name, position],
      )
  }
  await passed('9', '9')
  return {
    ...database,
    pool,
    /** Says how far the read models are. */
    passed,
    enqueue: (...planned: readonly PlannedDelivery[]) => transaction(pool, (db) => enqueue(db, planned, now)),
    rows: async () => (await pool.query<DeliveryRow>('select * from delivery order by id')).rows,
    attempts: async () => (await pool.query<AttemptRow>('select * from delivery_attempt order by number')).rows,
  }
}

const connect = async (pool: Pool, connection_id: string = randomUUID()) => {
  await pool.query(`insert into delivery_known (kind, id, organisation_id, fact) values ('connection', $1, $2, $3)`, [
    connection_id,
    organisation_id,
    { base_url: 'https://crm.example.com/', sealed_secret: 'sealed', removed: false },
  ])
  return connection_id
}

const delivery = (connection_id: string, changes: Partial<PlannedDelivery> = {}): PlannedDelivery => {
  const event_id = randomUUID()
  const application_id = randomUUID()
  return {
    id: randomUUID(),
    organisation_id,
    event_id,
    action_id: randomUUID(),
    connection_id,
    type: 'application.started',
    position: '1',
    application_id,
    quote_id: null,
    message: {
      id: event_id,
      type: 'application.started',
      occurred_at: now.toISOString(),
      aggregate: { type: 'application', id: application_id },
      payload: {},
      product_id,
      organization_id: organisation_id,
    },
    cancelled: null,
    ...changes,
  }
}

const success = (id: string, attempt: number): Completed => ({
  id,
  attempt,
  finished_at: later(1).toISOString(),
  outcome: 'answered',
  status: 200,
  reason: null,
  state: 'delivered',
  due_at: null,
})
const failure = (id: string, attempt: number, state: 'pending' | 'failed' = 'failed'): Completed => ({
  ...success(id, attempt),
  status: 500,
  state,
  due_at: state === 'pending' ? later(10).toISOString() : null,
})

describe('planning', () => {
  test('the same delivery twice makes one', async () => {
    await using own = await queue()
    const planned = delivery(await connect(own.pool))

    await own.enqueue(planned)
    await own.enqueue(planned)

    expect(await own.rows()).toHaveLength(1)
  })

  test('again leaves what was delivered alone', async () => {
    await using own = await queue()
    const planned = delivery(await connect(own.pool))
    await own.enqueue(planned)
    await claim(own.pool, plenty, now)
    await complete(own.pool, [success(planned.id, 1)])

    await own.enqueue(planned)

    expect(await own.rows()).toMatchObject([{ state: 'delivered' }])
  })

  test('keeps any character, as JSON', async () => {
    await using own = await queue()
    const planned = delivery(await connect(own.pool))
    const message = { ...planned.message, payload: { note: 'Zoë \u0000 \ud83d\ude00 \\u0041 "quoted"' } }

    await own.enqueue({ ...planned, message })

    expect((await claim(own.pool, plenty, now))[0]?.message).toEqual(message)
  })
})

describe('claiming', () => {
  test('takes a delivery for one worker, and writes the attempt down before it is sent', async () => {
    await using own = await queue()
    const planned = delivery(await connect(own.pool))
    await own.enqueue(planned)

    const claims = await Promise.all([1, 2, 3].map(() => claim(own.pool, plenty, now)))

    expect(claims.flat()).toMatchObject([{ id: planned.id, attempt: 1, base_url: 'https://crm.example.com/' }])
    expect(await own.attempts()).toMatchObject([{ number: 1, finished_at: null, outcome: null }])
  })

  test('gives what a killed worker held to another when the lease ends, under the same id, and says what was lost', async () => {
    await using own = await queue()
    const planned = delivery(await connect(own.pool))
    await own.enqueue(planned)
    await claim(own.pool, plenty, now)

    expect(await claim(own.pool, plenty, later(29))).toEqual([])
    const [takenOver] = await claim(own.pool, plenty, later(30))

    expect(takenOver).toMatchObject({ id: planned.id, attempt: 2 })
    expect(await own.attempts()).toMatchObject([
      { number: 1, outcome: 'lost' },
      { number: 2, outcome: null },
    ])
  })

  test('waits for the read models: the application’s for its events, both for those of a quote', async () => {
    await using own = await queue()
    const connection = await connect(own.pool)
    const started = delivery(connection, { position: '5' })
    const issued = delivery(connection, { position: '5', quote_id: randomUUID() })
    await own.enqueue(started, issued)
    const idsAt = async (applications: string | null, quotes: string | null) => {
      await own.passed(applications, quotes)
      return (await claim(own.pool, plenty, now)).map(({ id }) => id)
    }

    expect(await idsAt(null, null)).toEqual([])
    expect(await idsAt('4', '9')).toEqual([])
    expect(await idsAt('5', '4')).toEqual([started.id])
    expect(await idsAt('5', '4')).toEqual([])
    expect(await idsAt('5', '5')).toEqual([issued.id])
  })

  test('gives each connection no more than its room, and none more than there is', async () => {
    await using own = await queue()
    const [busy, idle, full] = [await connect(own.pool), await connect(own.pool), await connect(own.pool)]
    await own.enqueue(...[busy, idle, full].flatMap((id) => Array.from({ length: 10 }, () => delivery(id))))

    const taken = await claim(
      own.pool,
      {
        total: 20,
        connection: 4,
        except: new Map([
          [busy, 2],
          [full, 0],
        ]),
      },
      now,
    )
    const rest = await claim(own.pool, { total: 5, connection: 4, except: new Map() }, now)

    const counted = (id: string) => taken.filter(({ connection_id }) => connection_id === id).length
    expect([busy, idle, full].map(counted)).toEqual([2, 4, 0])
    expect(rest).toHaveLength(5)
  })

  test('shares many deliveries among workers, each once', async () => {
    await using own = await queue()
    const connections = await Promise.all([1, 2, 3].map(() => connect(own.pool)))
    await own.enqueue(...connections.flatMap((id) => Array.from({ length: 100 }, () => delivery(id))))

    const some = { ...plenty, total: 30 }
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim(own.pool, some, now)))

    const ids = claims.flat().map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const left = await claim(own.pool, { ...plenty, total: 300, connection: 300 }, now)
    expect(ids.length + left.length).toBe(300)
  })
})

describe('completing', () => {
  const claimedTwice = async (own: Awaited<ReturnType<typeof queue>>) => {
    const planned = delivery(await connect(own.pool))
    await own.enqueue(planned)
    await claim(own.pool, plenty, now)
    await claim(own.pool, plenty, later(30))
    return planned.id
  }

  test('a retry makes it due again', async () => {
    await using own = await queue()
    const { id } = delivery(await connect(own.pool))
    await own.enqueue(delivery(await connect(own.pool), { id }))
    await claim(own.pool, plenty, now)

    await complete(own.pool, [failure(id, 1, 'pending')])

    expect(await claim(own.pool, plenty, later(9))).toEqual([])
    expect(await claim(own.pool, plenty, later(10))).toMatchObject([{ id, attempt: 2 }])
  })

  test('a failure of who was thought dead does not end what another sends now', async () => {
    await using own = await queue()
    const id = await claimedTwice(own)

    await complete(own.pool, [failure(id, 1)])
    expect(await own.rows()).toMatchObject([{ state: 'pending', attempts: 2 }])
    await complete(own.pool, [success(id, 2)])

    expect(await own.rows()).toMatchObject([{ state: 'delivered' }])
  })

  test('a success of who was thought dead is a success, and a later failure takes nothing back', async () => {
    await using own = await queue()
    const id = await claimedTwice(own)

    await complete(own.pool, [success(id, 1)])
    await complete(own.pool, [failure(id, 2)])

    expect(await own.rows()).toMatchObject([{ state: 'delivered', reason: null }])
    expect(await own.attempts()).toMatchObject([{ status: 200 }, { status: 500 }])
  })

  test('what was delivered while it was cancelled is delivered; what failed stays cancelled', async () => {
    await using own = await queue()
    const connection = await connect(own.pool)
    const [one, other] = [delivery(connection), delivery(connection)]
    await own.enqueue(one, other)
    await claim(own.pool, plenty, now)
    await transaction(own.pool, (db) =>
      cancel(db, { of: 'connection', id: connection, organisation_id, reason: 'connection_removed' }, now),
    )

    await complete(own.pool, [success(one.id, 1), failure(other.id, 1, 'pending')])

    const states = new Map((await own.rows()).map(({ id, state, reason }) => [id, [state, reason]]))
    expect(states.get(one.id)).toEqual(['delivered', null])
    expect(states.get(other.id)).toEqual(['cancelled', 'connection_removed'])
    expect(await claim(own.pool, plenty, later(99))).toEqual([])
  })

  test('cancelling takes back what waits for one action and nothing else', async () => {
    await using own = await queue()
    const connection = await connect(own.pool)
    const [one, other] = [delivery(connection), delivery(connection)]
    await own.enqueue(one, other)

    await transaction(own.pool, (db) =>
      cancel(db, { of: 'action', id: one.action_id, organisation_id, reason: 'action_removed' }, now),
    )

    expect(await claim(own.pool, plenty, now)).toMatchObject([{ id: other.id }])
  })
})
