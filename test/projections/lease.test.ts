import { getEventListeners } from 'node:events'
import { expect, test, vi } from 'vitest'
import { makeLeases } from '#infra/consumers/lease.ts'
import { LeaseLost, requireLease, underLease } from '#infra/consumers/required-lease.ts'
import { openConnection } from '#infra/postgres/connection.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { testDatabase, type TestDatabase } from '../database.ts'
import { soon } from './fixture.ts'

const never = new AbortController().signal

/** The leases of two processes. */
const two = (url: string, silentMs = 15_000) => {
  const pools = [createPool(url), createPool(url)] as const
  const [one, other] = pools.map((pool) => makeLeases(pool, { pollMs: 20, silentMs }))
  if (!one || !other) throw new Error('There are two.')
  return {
    one,
    other,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}

const connections = async ({ pool }: TestDatabase): Promise<readonly number[]> => {
  const { rows } = await pool.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name like 'coverstream leases%'`,
  )
  return rows.map(({ pid }) => pid)
}

/** For how long the connection that holds a lease is open, in milliseconds. */
const heardSince = async ({ pool }: TestDatabase): Promise<number> => {
  const { rows } = await pool.query<{ ms: number }>(
    `select extract(epoch from clock_timestamp() - backend_start)::float * 1000 as ms
     from pg_stat_activity join pg_locks using (pid) where locktype = 'advisory' and granted
       and application_name like 'coverstream leases%' and datname = current_database()`,
  )
  return rows[0]?.ms ?? 0
}

test('one holds a lease, and another takes over when it is given back', async () => {
  await using database = await testDatabase()
  await using leases = two(database.url)
  const held = await leases.one.take('a', never)
  const kept = await leases.one.take('b', never)
  const taken = vi.fn<() => void>()
  const waiting = leases.other.take('a', never).finally(taken)

  // Meanwhile it could have had this one.
  await (await leases.other.take('c', never))?.release()
  expect(taken).not.toHaveBeenCalled()
  await held?.release()

  const lease = await waiting
  expect(lease?.signal.aborted).toBe(false)
  expect(held?.signal.aborted).toBe(true)
  expect(kept?.signal.aborted).toBe(false)
  await Promise.all([lease?.release(), kept?.release()])
})

test('those who wait for many leases ask for all of them in one statement', async () => {
  await using database = await testDatabase()
  const [holding, waiting] = [createPool(database.url), createPool(database.url)]
  const names = Array.from({ length: 40 }, (_, number) => `lease ${number}`)
  const holder = makeLeases(holding)
  const held = await Promise.all(names.map((name) => holder.take(name, never)))
  const statements = vi.fn<() => void>()
  const leases = makeLeases(waiting, {
    pollMs: 20,
    open: async (...given) => {
      const connection = await openConnection(...given)
      const client = new Proxy(connection.client, {
        get: (of, name) => {
          if (name === 'query') statements()
          const value: unknown = Reflect.get(of, name)
          return typeof value === 'function' ? (value.bind(of) as unknown) : value
        },
      })
      return { ...connection, client }
    },
  })
  let refusals = 0
  const refused = () => {
    refusals++
  }
  const taking = Promise.all(names.map((name) => leases.take(name, never, refused)))

  await soon(() => expect(refusals).toBeGreaterThan(10 * names.length))
  expect(statements.mock.calls.length).toBeLessThan(refusals / 10)
  await Promise.all(held.map(async (lease) => lease?.release()))

  const taken = await taking
  expect(taken.filter((lease) => lease?.signal.aborted === false)).toHaveLength(names.length)
  await Promise.all(taken.map(async (lease) => lease?.release()))
  await Promise.all([holding.end(), waiting.end()])
})

test('a lease ends with the connection that holds it, and another takes over', async () => {
  await using database = await testDatabase()
  await using leases = two(database.url)
  const held = await leases.one.take('a', never)
  const [pid] = await connections(database)
  const waiting = leases.other.take('a', never)

  await database.pool.query('select pg_terminate_backend($1)', [pid])

  const lease = await waiting
  expect(lease?.signal.aborted).toBe(false)
  await vi.waitFor(() => expect(held?.signal.aborted).toBe(true), { timeout: 4_000 })
  await held?.release()
  await lease?.release()
})

test('a holder that falls silent while its connection stays open loses the lease, and knows it before it hears of it', async () => {
  await using database = await testDatabase()
  await using leases = two(database.url, 1_000)
  const held = await leases.one.take('a', never)
  const kept = await leases.one.take('b', never)
  expect(held?.isHeld()).toBe(true)

  // Its keepalive query comes every five seconds only, as if the process were stopped meanwhile.
  const lease = await leases.other.take('a', never)

  expect(lease?.signal.aborted).toBe(false)
  expect([held?.isHeld(), kept?.isHeld()]).toEqual([false, false])
  const asking = vi.fn<() => void>()
  const ask = () => {
    requireLease()
    asking()
  }
  expect(() => held && underLease(held, ask)).toThrow(LeaseLost)
  expect(asking).not.toHaveBeenCalled()
  underLease({ isHeld: () => true }, ask)
  ask()
  expect(asking).toHaveBeenCalledTimes(2)
  await vi.waitFor(() => expect(held?.signal.aborted).toBe(true))
  await Promise.all([held?.release(), kept?.release(), lease?.release()])
})

test('a holder believes to have its lease for less long than others leave it to it', async () => {
  await using database = await testDatabase()
  let silentMs = 0
  const open: typeof openConnection = async (...given) => ({
    ...(await openConnection(...given)),
    silentMs: () => silentMs,
  })
  const held = await makeLeases(database.pool, { silentMs: 15_000, open }).take('a', never)

  silentMs = 11_000
  expect(held?.isHeld()).toBe(true)
  silentMs = 13_000
  expect([held?.isHeld(), held?.signal.aborted]).toEqual([false, false])
  await held?.release()
})

test('a holder that is heard of keeps its lease, however long others wait', async () => {
  await using database = await testDatabase()
  await using leases = two(database.url, 6_000)
  const held = await leases.one.take('a', never)
  const wanted = new AbortController()
  const waiting = leases.other.take('a', wanted.signal)

  await vi.waitFor(async () => expect(await heardSince(database)).toBeGreaterThan(6_500), { timeout: 60_000 })

  expect([held?.isHeld(), held?.signal.aborted]).toEqual([true, false])
  wanted.abort()
  await waiting
  await held?.release()
})

test('within a process too, one holds a lease and the others wait', async () => {
  await using database = await testDatabase()
  await using leases = two(database.url)
  const held = await leases.one.take('a', never)
  const taken = vi.fn<() => void>()
  const waiting = leases.one.take('a', never).finally(taken)

  await (await leases.one.take('b', never))?.release()
  expect(taken).not.toHaveBeenCalled()

  await held?.release()
  await (await waiting)?.release()
})

test('whoever no longer wants a lease stops waiting', async () => {
  await using database = await testDatabase()
  await using leases = two(database.url)
  const held = await leases.one.take('a', never)
  const wanted = new AbortController()
  const waiting = leases.other.take('a', wanted.signal)

  wanted.abort()

  expect(await waiting).toBeUndefined()
  await held?.release()
})

test('all leases of a process share one connection, which is closed when nobody needs it', async () => {
  await using database = await testDatabase()
  await using leases = two(database.url)

  const held = await Promise.all(['a', 'b', 'c'].map((name) => leases.one.take(name, never)))
  expect(await connections(database)).toHaveLength(1)

  await Promise.all(held.map(async (lease) => lease?.release()))
  await soon(async () => expect(await connections(database)).toHaveLength(0))
  await (await leases.one.take('a', never))?.release()
})

test('a database that cannot be reached is said to be so', async () => {
  const pool = createPool('postgres://nobody@127.0.0.1:1/nothing')

  await expect(makeLeases(pool).take('a', never)).rejects.toThrow('ECONNREFUSED')
  await pool.end()
})

test('waiting for a lease takes no more memory the longer it lasts', async () => {
  await using database = await testDatabase()
  const ended: AbortSignal[] = []
  const open: typeof openConnection = async (...given) => {
    const connection = await openConnection(...given)
    ended.push(connection.ended)
    return connection
  }
  const { take } = makeLeases(database.pool, { pollMs: 1, open })
  const held = await makeLeases(database.pool).take('a', never)
  let polls = 0

  const waiting = take('a', never, () => polls++)
  await soon(() => expect(polls).toBeGreaterThan(0))
  const listenersOf = () => ended.map((signal) => getEventListeners(signal, 'abort').length)
  const [atFirst, pollsAtFirst] = [listenersOf(), polls]
  await soon(() => expect(polls).toBeGreaterThan(pollsAtFirst + 20))

  expect(listenersOf()).toEqual(atFirst)
  await held?.release()
  await (await waiting)?.release()
})

/** Leases of a process. From the moment on that is said, the answers to its statements with this text are lost. */
const losingAnswers = (url: string) => {
  const pool = createPool(url)
  let lost: string | undefined
  const leases = makeLeases(pool, {
    pollMs: 20,
    silentMs: 1_000,
    open: async (...given) => {
      const connection = await openConnection(...given)
      const query = async (statement: string | { readonly text: string }) => {
        const answer = await connection.client.query(statement)
        const text = typeof statement === 'string' ? statement : statement.text
        if (lost !== undefined && text.includes(lost)) throw new Error('canceling statement due to statement timeout')
        return answer
      }
      const client = Object.assign(Object.create(connection.client) as typeof connection.client, { query })
      return { ...connection, client }
    },
  })
  return {
    leases,
    lose: (text: string | undefined) => {
      lost = text
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

test('a lease that was taken by a statement whose answer was lost is not kept from others', async () => {
  await using database = await testDatabase()
  await using leases = two(database.url)
  await using one = losingAnswers(database.url)
  const kept = await one.leases.take('kept', never)
  one.lose('pg_try_advisory_lock')

  await expect(one.leases.take('a', never)).rejects.toThrow('canceling statement')
  const taken = await leases.other.take('a', AbortSignal.timeout(3_000))

  expect(taken?.signal.aborted).toBe(false)
  await Promise.all([taken?.release(), kept?.release()])
})

test('whoever cannot look at the holders of leases waits for them as before', async () => {
  await using database = await testDatabase()
  await using leases = two(database.url)
  await using one = losingAnswers(database.url)
  const held = await leases.other.take('a', never)
  one.lose('pg_terminate_backend')
  const refused = vi.fn<() => void>()
  const waiting = one.leases.take('a', never, refused)
  await vi.waitFor(() => expect(refused).toHaveBeenCalled())
  one.lose(undefined)
  await held?.release()

  const taken = await waiting
  expect(taken?.signal.aborted).toBe(false)
  await taken?.release()
})
