import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { sql } from '#infra/postgres/postgres.ts'
import { runTimers, type DueTime } from '../../command-api/timers.ts'
import { dueTimes } from '../../projections/due-times/projection.ts'
import { fixture } from '../projections/fixture.ts'
import { fillReadModel } from '../read-model.ts'

const [busy, quiet] = [randomUUID(), randomUUID()]
const clock = { now: () => new Date('2026-06-02T00:00:00.000Z') }

/** Timers fired in their order; each goes when it has fired, as when a projection has seen what followed. */
const firedOf = async (share: number, rows: readonly Omit<DueTime, 'kind'>[]): Promise<readonly DueTime[]> => {
  await using shared = await fixture()
  await fillReadModel(shared.pool, [dueTimes], [])
  for (const { organisation_id, id, stream, due_at } of rows)
    await shared.pool.query(sql`
      insert into due_times (organisation_id, kind, id, stream, due_at)
      values (${organisation_id}, 'retry', ${id}, ${stream}, ${due_at})`)
  const fired: DueTime[] = []
  const fire = async (due: DueTime) => {
    fired.push(due)
    await shared.pool.query(sql`delete from due_times where id = ${due.id}`)
  }
  const process = shared.makeProcess('timers')
  const running = runTimers([{ kind: 'retry', fire }], { ...process.parts, clock, pollMs: 10, share })
  process.until(running.finished)
  await vi.waitUntil(() => fired.length >= rows.length, { timeout: 30_000, interval: 5 })
  return fired
}

const due = (organisation_id: string, second: number, stream = randomUUID()) => ({
  organisation_id,
  id: randomUUID(),
  stream,
  due_at: new Date(Date.UTC(2026, 5, 1, 0, 0, second)).toISOString(),
})

test('an organisation with very much due, such as after an outage, does not hold up what others have due later', async () => {
  const much = Array.from({ length: 1_500 }, (_, second) => due(busy, second))
  const little = Array.from({ length: 3 }, (_, second) => due(quiet, 5_000 + second))

  const fired = await firedOf(200, [...much, ...little])

  const places = fired.flatMap(({ organisation_id }, place) => (organisation_id === quiet ? [place] : []))
  expect([places.length, places.every((place) => place < 500)]).toEqual([3, true])
  expect(new Set(fired.map(({ id }) => id)).size).toBe(1_503)
})

test('what is due of one stream keeps its order, also where its organisation has its turn several times', async () => {
  const stream = randomUUID()
  const others = Array.from({ length: 700 }, (_, second) => due(busy, second))
  const own = [10, 300, 650].map((second) => due(busy, second, stream))

  const fired = await firedOf(200, [...others, ...own])

  expect(fired.filter((each) => each.stream === stream).map(({ id }) => id)).toEqual(own.map(({ id }) => id))
})
