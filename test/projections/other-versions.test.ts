import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { erasureEvents } from '#domain/erasures/events.ts'
import { toStored, type RecordedEvent } from '#domain/event.ts'
import { CustomerId } from '#domain/values.ts'
import { findCheckpoint } from '#infra/consumers/checkpoint.ts'
import { checkConsumer } from '#infra/role-parts.ts'
import { compareWithRebuild } from '../../projections/compare.ts'
import { isShown } from '../../projections/shown-beside.ts'
import { runProjection } from '../../projections/runner.ts'
import type { SomeProjection } from '../../projections/projection.ts'
import { fixture, raised, soon, tallyId, through, type Fixture } from './fixture.ts'
import { connectOld, doubled, fill, live, tables, total } from './rebuilding.ts'
import { newEvent, tallies, type TallyEvent } from './tally.ts'

test('while a process of the version before is connected, it reads the read model that it knows, and the new one theirs', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const old = the.makeProcess('old')
  const running = old.run((parts) => runProjection(tallies, parts))
  await live(running)
  const next = the.makeProcess('next')
  {
    await using reader = await connectOld(the)
    const succeeding = next.run((parts) => runProjection(doubled, parts))
    await soon(async () => expect(await total(the)).toBe(20))
    expect(await reader.total()).toBe(10)
    await soon(() =>
      expect(checkConsumer(succeeding)).toMatchObject({
        ok: true,
        detail: 'version 2 is kept beside the one in use, which others read: 1 connection from 127.0.0.1',
      }),
    )

    await the.append(11, raised())

    await soon(async () => expect([await reader.total(), await total(the)]).toEqual([11, 22]))
    expect(running.status().state).toBe('live')
    await old.stop()
    await the.append(12, raised())
    await soon(async () => expect(await total(the)).toBe(24))
    expect(await reader.total()).toBe(11)
    expect(await findCheckpoint(the.pool, 'tallies')).toMatchObject({ version: 1 })
  }

  await soon(async () => expect(await findCheckpoint(the.pool, 'tallies')).toMatchObject({ version: 2 }))
  await the.append(13, raised())
  await soon(async () => expect(await total(the)).toBe(26))
  expect(await tables(the)).toEqual(['tallies'])
  expect(await findCheckpoint(the.pool, 'tallies (version 2)')).toBeUndefined()
  const { rowCount } = await the.pool.query(`select from pg_namespace where nspname like 'read\\_models\\_%'`)
  expect(rowCount).toBe(0)
  expect(await compareWithRebuild(doubled, next.parts)).toMatchObject({ different: 0 })
})

test('a process that takes over what is kept beside goes on where it was, and readers see it all the time', async () => {
  await using the = await fixture()
  await fill(the, 10)
  const old = the.makeProcess('old').run((parts) => runProjection(tallies, parts))
  await live(old)
  await using reader = await connectOld(the)
  const [first, second] = [the.makeProcess('first'), the.makeProcess('second')]
  first.run((parts) => runProjection(doubled, parts))
  await soon(async () => expect(await total(the)).toBe(20))
  const waiting = second.run((parts) => runProjection(doubled, parts))
  await soon(() => expect(checkConsumer(waiting)).toMatchObject({ ok: true }))

  await first.stop()
  await the.append(11, raised())

  await soon(async () => expect([await reader.total(), await total(the)]).toEqual([11, 22]))
  expect(second.lines.map(({ msg }) => msg)).not.toContain('projection is being rebuilt')
})

test('whoever is erased meanwhile is taken out of the version that is kept beside, too', async () => {
  await using the = await fixture()
  await the.append(1, { type: 'TallyRaised', by: 1, note: 'Ann' }, { type: 'TallyRaised', by: 2, note: 'Anna' })
  await live(the.makeProcess('old').run((parts) => runProjection(tallies, parts)))
  await using reader = await connectOld(the)
  let isErased = false
  const withoutNames = ({ data, ...event }: RecordedEvent): RecordedEvent => ({
    ...event,
    data: { ...data, note: null },
  })
  const log = {
    ...the.eventLog,
    read: async (...given: Parameters<typeof the.eventLog.read>) => {
      const events = await the.eventLog.read(...given)
      return isErased ? events.map(withoutNames) : events
    },
  }
  const next = the.makeProcess('next', log)
  next.run((parts) => runProjection(doubled, parts))
  const notes = async () => {
    const { rows } = await the.pool.query<{ notes: unknown; total: string }>('select notes, total from tallies')
    return rows
  }
  await soon(async () => expect(await notes()).toEqual([{ notes: ['Ann', 'Anna'], total: '6' }]))

  isErased = true
  const erased = {
    type: 'PersonErased' as const,
    contact_id: CustomerId.parse(randomUUID()),
    streams: [`tally-${tallyId(1)}`],
    more_follow: false,
  }
  const { metadata } = newEvent(raised())
  await the.eventLog.append(`erasure-${erased.contact_id}`, 'no_stream', [
    { id: randomUUID(), ...toStored(erasureEvents, erased), metadata },
  ])

  await soon(async () => expect(await notes()).toEqual([{ notes: [null, null], total: '6' }]))
  await the.append(1, raised())
  await soon(async () => expect(await notes()).toMatchObject([{ total: '8' }]))
  expect(await reader.total()).toBe(4)
})

/** The person of the first tally: once erased, nothing of it is read. */
const personOf = ({ eventLog, settled }: Fixture) => {
  let isErased = false
  const version: SomeProjection = {
    ...doubled,
    project: (row: never, event: TallyEvent, recorded, key: never) => {
      const isEmpty = isErased && recorded.stream === `tally-${tallyId(1)}`
      return tallies.project(row, isEmpty ? raised(0) : event, recorded, key)
    },
  }
  const erase = async () => {
    const contact_id = CustomerId.parse(randomUUID())
    const streams = [`tally-${tallyId(1)}`]
    const erased = toStored(erasureEvents, { type: 'PersonErased', contact_id, streams, more_follow: false })
    isErased = true
    const result = await eventLog.append(`erasure-${contact_id}`, 'any', [{ ...newEvent(raised()), ...erased }])
    if (result.outcome !== 'appended') throw new Error('Somebody else appended.')
    await settled(result.position)
  }
  return { version, erase }
}

test('whoever is erased while a version is built beside the one in use is taken out of it', async () => {
  await using the = await fixture()
  await fill(the, 3)
  await live(the.makeProcess('old').run((parts) => runProjection(tallies, parts)))
  await using _reader = await connectOld(the)
  const { version, erase } = personOf(the)
  // What was read before is folded when the next is asked for, and what is read then lies behind the erasure.
  const log = through(the.eventLog, async function* (batches, { after }) {
    let isFirst = after === undefined
    for await (const batch of batches) {
      if (isFirst) {
        const [first] = batch.events
        if (!first) continue
        yield { events: [first], position: first.position, caughtUp: false }
        await erase()
        await the.append(4, raised())
      }
      yield { ...batch, caughtUp: batch.caughtUp && !isFirst }
      isFirst = false
    }
  })

  the.makeProcess('next', log).run((parts) => runProjection(version, parts))

  await soon(async () => expect(await isShown(the.pool, version)).toBe(true))
  expect(await total(the)).toBe(3)
})
