import type { Pool, QueryConfig } from 'pg'
import { expect, test } from 'vitest'
import type { Position } from '#domain/event.ts'
import {
  findCheckpoint,
  moveCheckpointOnly,
  openCheckpoint,
  resetCheckpoint,
  type Checkpoint,
} from '#infra/consumers/checkpoint.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { testDatabase } from '../database.ts'

const at = (number: number) => String(number).padStart(20, '0') as Position
const described = (name: string) => ({ name, version: 1, categories: ['tally'], awaited: false })

const prepared = async () => {
  const database = await testDatabase()
  await migrate(database.pool)
  return database
}

/** A pool of its own, as another process has it, which counts its statements. */
const counting = (pool: Pool) => {
  let statements = 0
  const query = async (statement: QueryConfig) => {
    statements++
    return pool.query(statement)
  }
  return { pool: Object.assign(Object.create(pool) as Pool, { query }), statements: () => statements }
}

test('the checkpoints that move at the same moment share a statement, which moves each only from where it is', async () => {
  await using the = await prepared()
  const opened = async (name: string, position?: Position): Promise<Checkpoint> => {
    await openCheckpoint(the.pool, described(name))
    return resetCheckpoint(the.pool, described(name), position)
  }
  const [first, moved, taken, new_] = [
    await opened('first', at(1)),
    await opened('moved', at(2)),
    await opened('taken', at(1)),
    await opened('new'),
  ]
  await openCheckpoint(the.pool, described('taken'))
  const { pool, statements } = counting(the.pool)

  const outcomes = await Promise.all([
    moveCheckpointOnly(pool, 'first', first, at(5)),
    moveCheckpointOnly(pool, 'moved', { ...moved, position: at(1) }, at(5)),
    moveCheckpointOnly(pool, 'taken', taken, at(5)),
    moveCheckpointOnly(pool, 'never there', first, at(5)),
    moveCheckpointOnly(pool, 'new', new_, at(6)),
  ])

  expect(outcomes).toEqual([true, false, false, false, true])
  expect(statements()).toBe(1)
  const names = ['first', 'moved', 'taken', 'new']
  const stored = await Promise.all(names.map(async (name) => findCheckpoint(the.pool, name)))
  expect(stored.map((each) => each?.position)).toEqual([at(5), at(2), at(1), at(6)])
})

test('of two processes that move the same checkpoints at the same moment each is moved by one, and none waits for ever', async () => {
  await using the = await prepared()
  const names = Array.from({ length: 40 }, (_, index) => `consumer ${index}`)
  let checkpoints = await Promise.all(names.map(async (name) => openCheckpoint(the.pool, described(name))))

  for (let round = 1; round <= 10; round++) {
    const moving = (pool: Pool, order: readonly number[]) =>
      order.map(async (index) => {
        const from = checkpoints[index]
        return {
          index,
          isMoved: from !== undefined && (await moveCheckpointOnly(pool, names[index] ?? '', from, at(round))),
        }
      })
    const order = names.map((_, index) => index)
    const outcomes = await Promise.all([
      ...moving(counting(the.pool).pool, order),
      ...moving(counting(the.pool).pool, order.toReversed()),
    ])

    const moved = outcomes.filter(({ isMoved }) => isMoved).map(({ index }) => index)
    expect(moved.toSorted((one, other) => one - other)).toEqual(order)
    checkpoints = checkpoints.map((each) => ({ ...each, position: at(round) }))
  }
})

test('what a move writes is not waited for, and what later statements write is', async () => {
  await using the = await prepared()
  const opened = await openCheckpoint(the.pool, described('one'))
  const db = await the.pool.connect()
  await db.query('set synchronous_commit = on')
  const settings: string[] = []
  const query = async (statement: QueryConfig) => {
    await db.query('begin')
    const result = await db.query(statement)
    const shown = await db.query<{ synchronous_commit: string }>('show synchronous_commit')
    settings.push(shown.rows[0]?.synchronous_commit ?? '')
    await db.query('commit')
    return result
  }

  expect(
    await moveCheckpointOnly(Object.assign(Object.create(the.pool) as Pool, { query }), 'one', opened, at(1)),
  ).toBe(true)

  const { rows } = await db.query<{ synchronous_commit: string }>('show synchronous_commit')
  db.release(true)
  expect(settings).toEqual(['off'])
  expect(rows[0]?.synchronous_commit).toBe('on')
})
