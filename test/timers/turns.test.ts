import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import type { Position } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { untilShown } from '#infra/consumers/until-shown.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { runTimers, type DueTime } from '../../command-api/reactions/timers.ts'
import { dueTimes } from '../../projections/due-times/projection.ts'
import { fixture } from '../projections/fixture.ts'
import { fillReadModel } from '../read-model.ts'

const [busy, quiet] = [randomUUID(), randomUUID()]
const position = '00000000000000000001' as Position
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
  await vi.waitUntil(() => fired.length >= rows.length, { timeout: 60_000, interval: 5 })
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

test('while much is due of two organisations and all of it fails, it is looked through once in an interval', async () => {
  await using shared = await fixture()
  await fillReadModel(shared.pool, [dueTimes], [])
  // Of different lengths, so that one is in the middle whenever the other has come to its end.
  for (const [organisation_id, count] of [
    [busy, 1_400],
    [quiet, 1_600],
  ] as const)
    await shared.pool.query(sql`
      insert into due_times (organisation_id, kind, id, stream, due_at)
      select ${organisation_id}, 'retry', gen_random_uuid(), 'policy-' || gen_random_uuid(), timestamptz '2026-06-01' + n * interval '1 s'
      from generate_series(1, ${count}::integer) as n`)
  const process = shared.makeProcess('timers')
  const query = vi.spyOn(process.parts.pool, 'query')
  const failures = new Map<string, number>()
  const fire = async ({ id }: DueTime) => {
    failures.set(id, (failures.get(id) ?? 0) + 1)
    throw new OwnError('cannot be')
  }
  const pollMs = 2_000
  const running = runTimers([{ kind: 'retry', fire }], { ...process.parts, clock, pollMs, share: 200 })
  process.until(running.finished)
  const failed = (times: number) => [...failures.values()].filter((each) => each >= times).length

  await vi.waitUntil(() => failed(1) === 3_000, { timeout: 60_000, interval: 5 })
  const [before, since] = [query.mock.calls.length, performance.now()]
  await vi.waitUntil(() => failed(3) === 3_000, { timeout: 60_000, interval: 5 })

  const intervals = Math.ceil((performance.now() - since) / pollMs) + 1
  // A page of 200 is a statement, and each organisation and the sweep end with one that finds less.
  const statements = 3_000 / 200 + 4
  expect(query.mock.calls.length - before).toBeLessThanOrEqual(intervals * statements)
})

test('one whose read models are behind has its turn again, and is no failure', async () => {
  await using shared = await fixture()
  await fillReadModel(shared.pool, [dueTimes], [])
  for (const { organisation_id, id, stream, due_at } of [due(busy, 1), due(quiet, 2)])
    await shared.pool.query(sql`
      insert into due_times (organisation_id, kind, id, stream, due_at)
      values (${organisation_id}, 'retry', ${id}, ${stream}, ${due_at})`)
  const process = shared.makeProcess('timers')
  const turns: string[] = []
  const fire = async ({ organisation_id, id }: DueTime) => {
    turns.push(organisation_id)
    if (organisation_id === busy && turns.filter((each) => each === busy).length === 1)
      await untilShown(
        { eventLog: { head: async () => position }, progress: { wait: async () => false }, withinMs: 1 },
        ['policy'],
      )
    await shared.pool.query(sql`delete from due_times where id = ${id}`)
  }
  const running = runTimers([{ kind: 'retry', fire }], { ...process.parts, clock, pollMs: 10 })
  process.until(running.finished)
  await vi.waitUntil(() => turns.length === 3, { timeout: 60_000, interval: 5 })

  expect(turns).toEqual([busy, quiet, busy])
  expect(process.lines.filter(({ msg }) => msg === 'timer failed')).toEqual([])
})
