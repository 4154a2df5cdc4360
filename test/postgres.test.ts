import { expect, test } from 'vitest'
import { createPool, isConnectionLoss, sql, transaction } from '#infra/postgres/postgres.ts'
import { testDatabase } from './database.ts'
import { eventually } from './event-log/events.ts'

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.fail('It was not rejected.'),
    (error: unknown) => error,
  )

test('every interpolation is a parameter', async () => {
  await using database = await testDatabase()
  const hostile = `'; drop table x; --`

  const { rows } = await database.pool.query(sql`select ${hostile} as text, ${7}::integer + ${1}::integer as sum`)

  expect(rows).toEqual([{ text: hostile, sum: 8 }])
  expect(sql`a ${1} b ${2}`).toEqual({ text: 'a $1 b $2', values: [1, 2] })
})

test('a transaction that fails leaves nothing behind, and its error is told', async () => {
  await using database = await testDatabase()
  const { pool } = database
  await pool.query('create table thing (name text)')

  await transaction(pool, (db) => db.query(sql`insert into thing values ('kept')`))
  const failing = transaction(pool, async (db) => {
    await db.query(sql`insert into thing values ('lost')`)
    throw new Error('changed my mind')
  })

  await expect(failing).rejects.toThrow('changed my mind')
  expect((await pool.query('select name from thing')).rows).toEqual([{ name: 'kept' }])
})

test('a connection that breaks in a transaction is not used again', async () => {
  await using database = await testDatabase()
  const pool = createPool(database.url, { max: 1 })

  const error = await rejection(
    transaction(pool, (db) => db.query('select pg_terminate_backend(pg_backend_pid(), 5000)')),
  )
  const { rows } = await pool.query('select 1 as one')
  await pool.end()

  expect(isConnectionLoss(error)).toBe(true)
  expect(rows).toEqual([{ one: 1 }])
})

test('the loss of an idle connection is told, and the pool goes on', async () => {
  await using database = await testDatabase()
  const lost: Error[] = []
  const pool = createPool(database.url, { max: 1, name: 'idle', onLost: (error) => lost.push(error) })
  await pool.query('select')

  await database.pool.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'idle' and datname = current_database()`)
  await eventually(() => Promise.resolve(lost.length === 1), 'the loss to be told')
  const { rows } = await pool.query('select 1 as one')
  await pool.end()

  expect(lost.map(isConnectionLoss)).toEqual([true])
  expect(rows).toEqual([{ one: 1 }])
})

test('a transaction does not stand idle for longer than it may', async () => {
  await using database = await testDatabase()
  const pool = createPool(database.url, { idleInTransactionMs: 50 })
  const idle = transaction(pool, async (db) => {
    // Whoever holds the connection hears of its end.
    await new Promise<void>((ended) => db.once('error', () => ended()))
    await db.query('select')
  })

  expect(isConnectionLoss(await rejection(idle))).toBe(true)
  const { rows } = await pool.query(`select current_setting('jit') as jit`)
  await pool.end()

  expect(rows).toEqual([{ jit: 'off' }])
})

test('a statement that is wrong is no loss of the connection', async () => {
  await using database = await testDatabase()

  const wrong = await rejection(database.pool.query('select * from nowhere'))
  const unreachable = createPool('postgres://postgres:x@127.0.0.1:1/postgres')
  const refused = await rejection(unreachable.query('select'))
  await unreachable.end()

  expect(isConnectionLoss(wrong)).toBe(false)
  expect(isConnectionLoss(refused)).toBe(true)
})
