import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { applicationStreamEvents, type ApplicationStreamEvent } from '#domain/applications/record.ts'
import { fromStored, toStored } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import type { QuoteEvent } from '#domain/quotes/events.ts'
import { ApplicationId, QuoteId } from '#domain/values.ts'
import { tableExists } from '#infra/consumers/checkpoint.ts'
import { countSetAside, requestResume } from '#infra/consumers/set-aside.ts'
import { expireQuotes } from '../../command-api/applications/expire-quotes.ts'
import { runTimers, type Timer } from '../../command-api/reactions/timers.ts'
import { makeWriter, tooManyAtOnce } from '../../command-api/writing/writer.ts'
import { dueTimes } from '../../projections/due-times/projection.ts'
import { runProjection } from '../../projections/runner.ts'
import { application_id, started } from '../applications/builders.ts'
import { organisation_id } from '../applications/release.ts'
import { fixture } from '../projections/fixture.ts'
import { samples } from '../stored-events/samples.ts'

const issuedAt = '2026-06-01T09:00:00.000Z'
const expires_at = '2026-07-01T09:00:00.000Z'
const justBefore = '2026-07-01T08:59:59.999Z'
const quote_id = QuoteId.parse('20000000-0000-4000-8000-000000000001')
const stream = `application-${application_id}`

const sample = samples.find(({ event }) => event.type === 'QuoteIssued')?.event
if (!sample) throw new Error('There is no sample of QuoteIssued.')
const issued = {
  ...fromStored(applicationStreamEvents, sample),
  application_id,
  quote_id,
  expires_at,
} as Extract<QuoteEvent, { type: 'QuoteIssued' }> // a sample of that type

const until = (isSo: () => Promise<boolean>) => vi.waitUntil(isSo, { timeout: 60_000, interval: 5 })

const makeClock = (at: string) => {
  let now = at
  return { now: () => new Date(now), set: (to: string) => (now = to) }
}

/** An application with a quote, its due times, and processes that fire timers. */
const quotedIn = async (projection: typeof dueTimes, ...events: readonly ApplicationStreamEvent[]) => {
  const shared = await fixture()
  const clock = makeClock(issuedAt)
  const metadata = {
    organisation_id,
    actor: { type: 'system', id: null } as const,
    correlation_id: 'test',
    causation_id: null,
    occurred_at: issuedAt,
  }
  const appendTo = async (to: string, ...added: readonly ApplicationStreamEvent[]) => {
    const stored = added.map((event) => ({
      id: randomUUID(),
      ...toStored(applicationStreamEvents, event),
      metadata,
    }))
    await shared.eventLog.append(to, 'any', stored)
  }
  const append = (...added: readonly ApplicationStreamEvent[]) => appendTo(stream, ...added)
  await append(started({ inactive_after_days: 365 }), issued, ...events)

  const projecting = shared.makeProcess('projections')
  projecting.run((parts) => runProjection(projection, parts))
  const dueRows = async () => {
    const { rows } = await shared.pool.query<{ kind: string; id: string; due_at: Date }>(
      "select kind, id, due_at from due_times where kind = 'quote_expiry'",
    )
    return rows
  }
  await until(async () => tableExists(shared.pool, 'due_times'))

  return {
    ...shared,
    clock,
    append,
    appendTo,
    dueRows,
    eventsOf: async (of = stream) =>
      (await shared.eventLog.read(of)).filter(({ type }) => type === 'QuoteExpired').map((event) => event.metadata),
    /** A process that fires timers. */
    fire: (timers?: (given: Timer) => readonly Timer[]) => {
      const process = shared.makeProcess('timers')
      const { parts } = process
      const own = expireQuotes(makeWriter({ log: parts.eventLog, seen: async () => undefined }))
      const running = runTimers(timers?.(own) ?? [own], { ...parts, clock, pollMs: 10 })
      process.until(running.finished)
      return { ...running, process }
    },
  }
}

const quoted = (...events: readonly ApplicationStreamEvent[]) => quotedIn(dueTimes, ...events)

test('a quote that expires is an event at that moment, and its due time goes', async () => {
  await using given = await quoted()
  given.fire()
  await until(async () => (await given.dueRows()).length === 1)

  given.clock.set(justBefore)
  const before = await given.eventsOf()
  given.clock.set(expires_at)
  await until(async () => (await given.eventsOf()).length > 0)

  expect(before).toEqual([])
  expect(await given.eventsOf()).toMatchObject([
    { organisation_id, occurred_at: expires_at, actor: { type: 'system', id: 'timer quote_expiry' } },
  ])
  await until(async () => (await given.dueRows()).length === 0)
})

test('it expires once, with two processes that fire timers at the same time', async () => {
  await using given = await quoted()
  given.clock.set(expires_at)
  // Each believes that it is the only one.
  const alone = {
    take: async () => ({ signal: new AbortController().signal, isHeld: () => true, release: async () => undefined }),
  }
  for (const name of ['one', 'two']) {
    const process = given.makeProcess(name)
    const writer = makeWriter({ log: process.parts.eventLog, seen: async () => undefined })
    const running = runTimers([expireQuotes(writer)], {
      ...process.parts,
      leases: alone,
      clock: given.clock,
      pollMs: 1,
    })
    process.until(running.finished)
  }
  await until(async () => (await given.eventsOf()).length > 0)
  await until(async () => (await given.dueRows()).length === 0)

  expect(await given.eventsOf()).toHaveLength(1)
})

test('a quote that was replaced in the meantime has no due time', async () => {
  const replaced_by = QuoteId.parse('20000000-0000-4000-8000-000000000002')
  await using given = await quoted(
    { type: 'QuoteReplaced', quote_id, replaced_by },
    { ...issued, quote_id: replaced_by },
  )

  await until(async () => (await given.dueRows()).length > 0)

  expect(await given.dueRows()).toEqual([{ kind: 'quote_expiry', id: replaced_by, due_at: new Date(expires_at) }])
})

test('a timer that fails is reported, and neither holds up others nor makes the process unready', async () => {
  await using given = await quoted()
  const other = '00000000-0000-4000-8000-00000000000f'
  await until(async () => (await given.dueRows()).length === 1)
  await given.pool.query(
    `insert into due_times (organisation_id, kind, id, stream, due_at) values ($1, 'broken', $2, 'application-x', $3)`,
    [organisation_id, other, issuedAt],
  )
  const broken: Timer = {
    kind: 'broken',
    fire: async () => {
      throw new OwnError('cannot be')
    },
  }
  const timers = given.fire((own) => [own, broken])

  given.clock.set(expires_at)
  await until(async () => (await given.eventsOf()).length > 0)

  await vi.waitFor(() => expect(timers.check()).toEqual({ name: 'timers', ok: true, detail: 'broken: cannot be' }))
  expect(timers.process.lines).toContainEqual(
    expect.objectContaining({ msg: 'timer failed', kind: 'broken', id: other }),
  )
})

test('a timer that too many others get in the way of holds up no other', async () => {
  await using given = await quoted()
  await until(async () => (await given.dueRows()).length === 1)
  // More of them than are fired at once, all due before the quote expires.
  await given.pool.query(
    `insert into due_times (organisation_id, kind, id, stream, due_at)
     select $1, 'hot', gen_random_uuid(), 'application-x', $2 from generate_series(1, 100)`,
    [organisation_id, issuedAt],
  )
  const hot: Timer = {
    kind: 'hot',
    fire: async () => {
      throw tooManyAtOnce()
    },
  }
  given.clock.set(expires_at)

  const timers = given.fire((own) => [own, hot])

  await until(async () => (await given.eventsOf()).length > 0)
  await vi.waitFor(() =>
    expect(timers.check()).toMatchObject({ ok: true, detail: expect.stringMatching(/^hot: /) as unknown }),
  )
})

test('a timer that fails time and again is fired less and less often, until it succeeds', async () => {
  await using given = await quoted()
  await until(async () => (await given.dueRows()).length === 1)
  await given.pool.query(
    `insert into due_times (organisation_id, kind, id, stream, due_at)
     values ($1, 'broken', gen_random_uuid(), 'application-x', $2)`,
    [organisation_id, issuedAt],
  )
  const firedAt: number[] = []
  const broken: Timer = {
    kind: 'broken',
    fire: async () => {
      firedAt.push(performance.now())
      if (firedAt.length < 3) throw new OwnError('not yet')
    },
  }
  given.clock.set(issuedAt)

  const timers = given.fire((own) => [own, broken])

  await vi.waitFor(() => expect(firedAt.length).toBeGreaterThan(4), { timeout: 60_000 })
  const [first = 0, second = 0, third = 0] = firedAt
  expect(second - first).toBeGreaterThanOrEqual(500)
  expect(third - second).toBeGreaterThanOrEqual(1_000)
  await vi.waitFor(() => expect(timers.check()).toEqual({ name: 'timers', ok: true }))
})

test('what is due of a record that is set aside is late and not lost: fired once it is resumed, as of its time', async () => {
  const waiting = ApplicationId.parse('10000000-0000-4000-8000-00000000000f')
  let isBroken = true
  const faulty: typeof dueTimes = {
    ...dueTimes,
    project: (row, event, recorded, key) => {
      if (isBroken && recorded.stream.endsWith(waiting)) throw new OwnError('cannot be folded')
      return dueTimes.project(row, event, recorded, key)
    },
  }
  await using given = await quotedIn(faulty)
  const ofWaiting = { application_id: waiting, quote_id: QuoteId.parse('20000000-0000-4000-8000-00000000000f') }
  await given.appendTo(`application-${waiting}`, started({ application_id: waiting, inactive_after_days: 365 }), {
    ...issued,
    ...ofWaiting,
  })
  given.fire()
  await until(async () => (await countSetAside(given.pool, 'due_times')) === 1)

  given.clock.set('2026-07-09T09:00:00.000Z')
  await until(async () => (await given.eventsOf()).length > 0)
  const before = await given.eventsOf(`application-${waiting}`)
  isBroken = false
  await requestResume(given.pool, 'due_times')

  await until(async () => (await given.eventsOf(`application-${waiting}`)).length > 0)
  expect(before).toEqual([])
  expect(await given.eventsOf(`application-${waiting}`)).toMatchObject([{ occurred_at: expires_at }])
})

test('what is due is found by its index', async () => {
  await using given = await quoted()
  await until(async () => (await given.dueRows()).length === 1)
  await given.pool.query(`
    insert into due_times (organisation_id, kind, id, stream, due_at)
    select '${organisation_id}', 'quote_expiry', gen_random_uuid(), 'application-x', timestamptz '2027-01-01' + n * interval '1 s'
    from generate_series(1, 20000) as n`)
  await given.pool.query('analyze due_times')

  const { rows } = await given.pool.query<{ 'QUERY PLAN': string }>(`
    explain select * from due_times
    where due_at <= '2026-07-01' and (due_at, organisation_id, kind, id) > ('-infinity', '${organisation_id}', '', '${quote_id}')
    order by due_at, organisation_id, kind, id limit 200`)

  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/Index Scan/)
})
