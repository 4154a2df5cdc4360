import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { event, fromStored, personal, type EventShapes, type Json } from '#domain/event.ts'
import { erasedData, SubjectErased, UnreadableEvent } from '#infra/crypto/erased.ts'
import { sealedLog } from '#infra/crypto/sealed-log.ts'
import { LogUnavailable } from '#infra/event-log/event-log.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { appended, asAppended, newEvent, firstEvents } from '../event-log/events.ts'
import { barrier } from '../projections/fixture.ts'
import { samples } from '../stored-events/samples.ts'
import { allEvents } from '../stored-events/shapes.ts'
import { sealedDatabase, shapes } from './sealed-log-fixture.ts'

const ann = { person_id: 'ann', name: 'Ann Örtze', note: 'rings at night', step: 1 }
const bob = { person_id: 'bob', name: 'Bob', note: null, step: 2 }
const saved = (data: Json = ann) => newEvent('PersonSaved', data)
const newApplication = () => `application-${randomUUID()}`

type Made = Awaited<ReturnType<typeof sealedDatabase>>

/** The rows of the log as text. */
const storedText = async ({ database }: Made): Promise<string> => {
  const { rows } = await database.pool.query<{ row: string }>('select event::text as row from event_log.event')
  return rows.map(({ row }) => row).join('\n')
}

describe('an event', () => {
  test('is stored without its personal data, and read as it was', async () => {
    await using made = await sealedDatabase()
    const stream = newApplication()
    const appending = [saved(), saved(bob), newEvent('SomethingElse', { name: 'not personal' })]
    await appended(made.log, stream, appending, 'no_stream')

    const text = await storedText(made)
    for (const value of ['Ann', 'rings', 'Bob']) expect(text).not.toContain(value)
    expect(text).toContain('not personal')
    expect(text).toContain('""step"":1')
    for (const log of [made.log, made.elsewhere()]) {
      expect((await log.read(stream)).map(asAppended)).toEqual(appending)
      expect((await firstEvents(log, {}, 3)).map(asAppended)).toEqual(appending)
      expect((await log.readAll()).map(asAppended)).toEqual(appending)
    }
  })

  test('that was stored before there was sealing is read as it is', async () => {
    await using made = await sealedDatabase()
    const stream = newApplication()
    const [before, after] = [saved(), saved(bob)]
    await appended(made.plain, stream, [before], 'no_stream')
    await appended(made.log, stream, [after], 0)

    expect((await made.elsewhere().read(stream)).map(asAppended)).toEqual([before, after])
  })

  test('without a personal value is stored as it is, and no key is made for it', async () => {
    await using made = await sealedDatabase()
    const stream = newApplication()
    const appending = [saved({ person_id: 'ann', name: '', note: null, step: 1 })]
    await appended(made.log, stream, appending, 'no_stream')

    expect((await made.elsewhere().read(stream)).map(asAppended)).toEqual(appending)
    const { rows } = await made.database.pool.query('select id from data_key')
    expect(rows).toEqual([])
  })

  test('with personal data and no organisation is refused', async () => {
    await using made = await sealedDatabase()
    const orphan = { ...saved(), metadata: { ...saved().metadata, organisation_id: null } }

    await expect(made.log.append(newApplication(), 'no_stream', [orphan])).rejects.toThrow('no organisation')
  })

  test('that is not among the stored events is refused: nobody has said what of it is personal', async () => {
    await using made = await sealedDatabase()
    const log = sealedLog(made.plain, made.dataKeys, shapes)

    await expect(log.append(newApplication(), 'no_stream', [newEvent('Forgotten')])).rejects.toThrow('stored-events.ts')
  })

  test('that waits for its key is not overtaken by a later one of its stream', async () => {
    await using made = await sealedDatabase()
    const stream = newApplication()
    const [first, second] = [saved(), newEvent('SomethingElse')]

    await Promise.all([made.log.append(stream, 'any', [first]), made.log.append(stream, 'any', [second])])

    expect((await made.log.read(stream)).map(asAppended)).toEqual([first, second])
  })

  test('that is appended twice is the same append', async () => {
    await using made = await sealedDatabase()
    const stream = newApplication()
    const one = saved()

    const first = await made.log.append(stream, 'no_stream', [one])
    const again = await made.elsewhere().append(stream, 'no_stream', [one])

    expect(again).toEqual(first)
  })
})

describe('a data key', () => {
  test('is that of the person whom the event names, or of their record, otherwise that of the stream', async () => {
    await using made = await sealedDatabase()
    const known = newEvent('PersonKnown', { person_id: 'ann', name: 'Ann' })
    const stream = newApplication()
    await appended(made.log, stream, [saved(), known])
    const complaint = `complaint-${randomUUID()}`
    await appended(made.log, complaint, [newEvent('PersonKnown', known.data)])

    const { rows } = await made.database.pool.query<{ subject: string }>(
      'select subject from data_key order by subject',
    )

    expect(rows.map(({ subject }) => subject)).toEqual([stream, 'person:ann', `person:ann/${stream}`])
  })

  test('is in the database before the event that needs it', async () => {
    await using made = await sealedDatabase()
    const stream = newApplication()
    let found: unknown
    const watched = sealedLog(
      {
        ...made.plain,
        append: async (...given) => {
          found = (await made.database.pool.query(sql`select sealed from data_key where subject = ${stream}`)).rowCount
          return made.plain.append(...given)
        },
      },
      made.dataKeys,
      shapes,
    )

    await appended(watched, stream, [saved()])

    expect(found).toBe(1)
  })

  test('costs no further statement once it is known', async () => {
    await using made = await sealedDatabase()
    const stream = newApplication()
    await appended(made.log, stream, [saved()])
    const log = sealedLog(
      made.plain,
      {
        ...made.dataKeys,
        of: () => {
          throw new Error('asked for a key that is known')
        },
        byId: async (ids) => {
          throw new Error(`asked for ${ids.size}`)
        },
      },
      shapes,
    )

    await appended(log, stream, [saved(bob)])
    await expect(log.read(stream)).rejects.toThrow('asked for 1')
  })

  test.each([
    ['for a moment', 3, {}, 'appended'],
    ['for good', Infinity, { keysMs: 300 }, LogUnavailable],
  ])('that cannot be reached %s', { timeout: 40_000 }, async (_, failures, deadlines, outcome) => {
    await using made = await sealedDatabase()
    let failed = 0
    const of: Made['dataKeys']['of'] = (subject) => {
      if (++failed > failures) return made.dataKeys.of(subject)
      throw Object.assign(new Error('lost'), { code: 'ECONNRESET' })
    }
    const log = sealedLog(made.plain, { ...made.dataKeys, of }, shapes, deadlines)

    const appending = log.append(newApplication(), 'no_stream', [saved()])

    if (typeof outcome === 'string') expect((await appending).outcome).toBe(outcome)
    else await expect(appending).rejects.toThrow(outcome)
  })

  test('that is never answered fails appends and reads as unavailable, and nothing is stored of them later', async () => {
    await using made = await sealedDatabase()
    const [stream, stored] = [newApplication(), newApplication()]
    await appended(made.log, stored, [saved()])
    const answer = barrier()
    const silent = {
      known: () => undefined,
      of: async (subject: Parameters<Made['dataKeys']['of']>[0]) => {
        await answer.passed
        return made.dataKeys.of(subject)
      },
      byId: () => new Promise<never>(() => undefined),
    }
    const patient = sealedLog(made.plain, silent, shapes, { keysMs: 60_000, appendMs: 50 })
    const impatient = sealedLog(made.plain, silent, shapes, { keysMs: 50 })

    const [, second] = [patient.append(stream, 'any', [saved()]), patient.append(stream, 'any', [saved()])].map(
      async (appending) => expect(appending).rejects.toThrow(LogUnavailable),
    )
    await second
    await expect(impatient.append(newApplication(), 'any', [saved()])).rejects.toThrow(LogUnavailable)
    await expect(impatient.read(stored)).rejects.toThrow(LogUnavailable)
    answer.open()
    await appended(made.log, stream, [saved()], 'no_stream')

    expect(await made.plain.read(stream)).toHaveLength(1)
  })
})

describe('when a subject was erased', () => {
  test('its events are read with empty values, and all others as they were', async () => {
    await using made = await sealedDatabase()
    const [anns, bobs] = [newApplication(), newApplication()]
    await appended(made.log, anns, [saved()])
    await appended(made.log, bobs, [saved(bob)])

    await made.dataKeys.erase({ organisation_id: 'org_1', subject: anns })

    for (const log of [made.log, made.elsewhere()]) {
      const events = await firstEvents(log, {}, 2)
      expect(events.map(({ data }) => data)).toEqual([{ person_id: 'ann', name: '', note: null, step: 1 }, bob])
      for (const each of events) expect(() => fromStored(shapes, each)).not.toThrow()
    }
    await expect(made.log.append(anns, 0, [saved()])).rejects.toThrow(SubjectErased)
  })

  test('an event of an earlier version is read as one of the newest', async () => {
    await using made = await sealedDatabase()
    const first: EventShapes = { Met: event({ person: personal(z.object({ name: z.string() })), day: z.string() }) }
    const second: EventShapes = {
      Met: event(
        { who: personal(z.object({ name: z.string(), age: z.number().min(1) })), date: z.string() },
        { upcasts: [({ person, day }) => ({ who: person, date: day })] },
      ),
    }
    const stream = newApplication()
    const met = newEvent('Met', { person: { name: 'Ann' }, day: '2026-01-02' })
    await appended(sealedLog(made.plain, made.dataKeys, first), stream, [met])
    await made.dataKeys.erase({ organisation_id: 'org_1', subject: stream })

    const [read] = await sealedLog(made.plain, made.dataKeys, second).read(stream)

    expect(read && fromStored(second, read)).toEqual({ type: 'Met', who: { name: '', age: 1 }, date: '2026-01-02' })
  })

  test('what an application saved of a person still names them; what hid the id in earlier versions names nobody', async () => {
    await using made = await sealedDatabase()
    const [first, newest] = ['CustomerSaved.v1', 'CustomerSaved.v2'].map((name) => {
      const sample = samples.find((each) => each.name === name)
      if (!sample) throw new Error(`There is no sample ${name}.`)
      return newEvent(sample.event.type, sample.event.data)
    })
    if (!first || !newest) throw new Error('There is no event.')
    const customer_id = String(newest.data['customer_id'])
    const asFirst: EventShapes = {
      CustomerSaved: event(
        { customer: personal(z.object({ id: z.string() })), sent: personal(z.object({})), by: z.string() },
        { subject: () => customer_id },
      ),
    }
    const stream = newApplication()
    await appended(sealedLog(made.plain, made.dataKeys, asFirst), stream, [first])
    await appended(sealedLog(made.plain, made.dataKeys, storedEvents), stream, [{ ...newest, schema_version: 2 }], 0)
    await made.dataKeys.erase({ organisation_id: 'org_1', subject: `person:${customer_id}` })

    const [old, read] = await sealedLog(made.plain, made.dataKeys, storedEvents).read(stream)

    expect(read?.data).toMatchObject({ customer_id, customer: { email: null } })
    expect(() => old && fromStored(storedEvents, old)).toThrow(UnreadableEvent)
  })

  test.each([...allEvents].filter(([, { personal: fields }]) => fields.length > 0))(
    'the empty values of %s fit its shape',
    (_type, shape) => {
      const empty = erasedData(shape)
      const fields: Readonly<Record<string, z.core.$ZodType>> = shape.schema.shape
      const misfits = shape.personal.filter((name) => !z.safeParse(fields[name] ?? z.never(), empty[name]).success)

      expect(misfits).toEqual([])
    },
  )
})

describe('an event that cannot be opened, although nobody was erased,', () => {
  const stored = async (made: Made) => {
    const [broken, whole] = [newApplication(), newApplication()]
    await appended(made.log, broken, [saved()])
    await appended(made.log, whole, [saved(bob)])
    return broken
  }
  const breakings: readonly (readonly [string, (made: Made, stream: string) => Promise<unknown>])[] = [
    [
      'its key is missing',
      ({ database: { pool } }, stream) => pool.query(sql`delete from data_key where subject = ${stream}`),
    ],
    [
      'its key was tampered with',
      ({ database: { pool } }, stream) =>
        pool.query(sql`update data_key set sealed = sealed || '\\x00'::bytea where subject = ${stream}`),
    ],
    [
      'it was changed in the log',
      ({ database: { pool } }, stream) =>
        pool.query(sql`
          update event_log.event set data = replace(data::text, '"sealed":"', '"sealed":"AAAA')::json
          where stream = ${stream}`),
    ],
    [
      'it was put into another stream',
      ({ database: { pool } }, stream) =>
        pool.query(sql`update event_log.event set stream = ${newApplication()} where stream = ${stream}`),
    ],
    [
      'it was given to another organisation',
      ({ database: { pool } }, stream) =>
        pool.query(sql`
          update event_log.event set metadata = replace(metadata::text, 'org_1', 'org_2')::json where stream = ${stream}`),
    ],
  ]

  test.each(breakings)('fails when it is folded, and no other does: %s', async (_why, damage) => {
    await using made = await sealedDatabase()
    await damage(made, await stored(made))

    const [broken, whole] = await firstEvents(made.elsewhere(), {}, 2)

    expect(() => broken && fromStored(shapes, broken)).toThrow(UnreadableEvent)
    expect(whole && fromStored(shapes, whole)).toEqual({ type: 'PersonSaved', ...bob })
  })
})

test('an organisation whose key cannot be opened keeps no other from reading and writing', async () => {
  await using made = await sealedDatabase()
  const of = (organisation_id: string) => ({ ...saved(), metadata: { ...saved().metadata, organisation_id } })
  const [broken, whole] = [newApplication(), newApplication()]
  await appended(made.log, broken, [of('org_broken')])
  await appended(made.log, whole, [of('org_whole')])
  await made.database.pool.query(
    sql`update organisation_key set sealed = sealed || 'AAAA' where organisation_id = 'org_broken'`,
  )

  const log = made.elsewhere()
  const [first, second] = await firstEvents(log, {}, 2)
  expect(() => first && fromStored(shapes, first)).toThrow(UnreadableEvent)
  expect(second?.data).toEqual(ann)
  const [refused, taken] = await Promise.allSettled([
    log.append(newApplication(), 'no_stream', [of('org_broken')]),
    log.append(newApplication(), 'no_stream', [of('org_whole')]),
  ])
  expect([refused.status, taken.status]).toEqual(['rejected', 'fulfilled'])
})
