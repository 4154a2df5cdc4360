import { expect, test } from 'vitest'
import type { Position } from '#domain/event.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { LogUnavailable, type EventLog } from '#infra/event-log/event-log.ts'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { checkInstallation, LogExchanged, untilExchanged, watchInstallation } from '#infra/installation.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { testDatabase, type TestDatabase } from './database.ts'
import { newEvents, newStream } from './event-log/events.ts'
import { openLog } from './event-log/postgres-log.ts'
import { makeDatabase, type Database } from './eventstoredb/database.ts'
import { startEventStoreDb } from './eventstoredb/server.ts'

const ours = deriveKeys(Buffer.alloc(32, 1).toString('base64'))
const theirs = deriveKeys(Buffer.alloc(32, 2).toString('base64'))

const empty = () => makeDatabase({ systemEvents: true, positionsOfRepeats: true })

/** EventStoreDB over what its files hold. */
const logOver = async (files: Database) => {
  const server = await startEventStoreDb({ database: files })
  const log = eventStoreDbLog(server.url, { attemptMs: 5_000, wholeMs: 20_000 })
  return {
    ...log,
    [Symbol.asyncDispose]: async () => {
      await log.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

const startWith = ({ pool }: TestDatabase, storedLog: EventLog, keys = ours, isLogHere = false) =>
  checkInstallation({ pool, keys, storedLog, isLogHere })

/** What a consumer that has read up to here leaves in the database. */
const hasRead = ({ pool }: TestDatabase, position: Position | undefined) =>
  pool.query(sql`
    insert into consumer_checkpoint (name, version, categories, awaited, position)
    values ('customers', 1, ${['customer']}, true, ${position ?? null})
    on conflict (name) do update set position = excluded.position`)

test('at the first start log and database are named once, although two roles start at the same time', async () => {
  await using database = await testDatabase()
  await using log = await logOver(empty())

  const [one, other] = await Promise.all([startWith(database, log), startWith(database, log)])
  const again = await startWith(database, log)

  expect([other.id, again.id]).toEqual([one.id, one.id])
  expect(await log.readAll()).toMatchObject([
    { type: 'InstallationBegun', stream: 'installation-coverstream', data: { installation_id: one.id } },
  ])
})

test('a start that ended between log and database is completed by the next one', async () => {
  await using database = await testDatabase()
  await using log = await logOver(empty())
  const { id } = await startWith(database, log)
  await database.pool.query('delete from installation')

  expect((await startWith(database, log)).id).toBe(id)
})

test('an existing installation is named at its next start, and goes on', async () => {
  await using database = await testDatabase()
  await using log = await logOver(empty())
  await log.append(newStream(), 'no_stream', newEvents(3))
  await hasRead(database, await log.end())

  const { id } = await startWith(database, log)

  expect((await startWith(database, log)).id).toBe(id)
  expect((await log.readAll()).map(({ type }) => type).at(-1)).toBe('InstallationBegun')
})

test.each([
  ['PostgreSQL', '00000000000000000000-00000000000000000000'],
  ['EventStoreDB', '00000000000000000000/00000000000000000000'],
])('a consumer that found nothing to read before the first start has read nothing: %s', async (_log, beginning) => {
  await using database = await testDatabase()
  await using log = await logOver(makeDatabase({ systemEvents: false, positionsOfRepeats: true }))
  await hasRead(database, beginning as Position)

  const { id } = await startWith(database, log)

  expect(await log.readAll()).toMatchObject([{ type: 'InstallationBegun', data: { installation_id: id } }])
})

test('a database that was restored from before it was named is the same installation, with the same master key', async () => {
  await using database = await testDatabase()
  await using log = await logOver(empty())
  await log.append(newStream(), 'no_stream', newEvents(3))
  await hasRead(database, await log.end())
  const { id } = await startWith(database, log)
  await database.pool.query('delete from installation')

  await expect(startWith(database, log, theirs)).rejects.toThrow(
    `DATABASE_URL: the database has no part in the log at EVENTSTOREDB_URL, that of the installation ${id}; name the database and the MASTER_KEY that belong to it, or an empty EventStoreDB`,
  )
  expect((await startWith(database, log)).id).toBe(id)
})

test('an emptied EventStoreDB ends the start, and nothing is written to it', async () => {
  await using database = await testDatabase()
  await using log = await logOver(empty())
  const { id } = await startWith(database, log)
  await using emptied = await logOver(empty())

  await expect(startWith(database, emptied)).rejects.toThrow(
    `EVENTSTOREDB_URL: the log there is not that of the database, the installation ${id}: it is empty or another one; name the right one, or restore both from the same backup (see docs/operate.md)`,
  )
  expect(await emptied.readAll()).toEqual([])
})

test('an EventStoreDB that was emptied before it was named ends the start, too', async () => {
  await using database = await testDatabase()
  await using before = await logOver(empty())
  await before.append(newStream(), 'no_stream', newEvents(3))
  const end = await before.end()
  await hasRead(database, end)
  await using emptied = await logOver(empty())

  await expect(startWith(database, emptied)).rejects.toThrow(
    /^EVENTSTOREDB_URL: the log ends at .*, but the database has read up to .*: the log was emptied, or restored from an earlier backup; /,
  )
  expect(await emptied.readAll()).toEqual([])
})

test('an EventStoreDB from an earlier backup than the database ends the start', async () => {
  await using database = await testDatabase()
  const files = empty()
  await using log = await logOver(files)
  await startWith(database, log)
  const backup = empty()
  for (const { stream, id, type, isJson, data, metadata } of files.stream('installation-coverstream'))
    backup.append(stream, 'no_stream', [{ id, type, isJson, data, metadata }])
  await log.append(newStream(), 'no_stream', newEvents(3))
  await hasRead(database, await log.end())
  await using restored = await logOver(backup)

  await expect(startWith(database, restored)).rejects.toThrow(
    /^EVENTSTOREDB_URL: the log ends at \d{20}\/\d{20}, but the database has read up to \d{20}\/\d{20}: /,
  )
})

test('a consumer that has passed events of the server itself is not ahead of the log', async () => {
  await using database = await testDatabase()
  await using log = await logOver(empty())
  await log.append(newStream(), 'no_stream', newEvents(3))
  const end = await log.end()
  expect((end ?? '') > ((await log.head()) ?? '')).toBe(true)
  await hasRead(database, end)

  await expect(startWith(database, log)).resolves.toHaveProperty('id')
})

test('a second installation at the log of another one is refused, be its database in use or new', async () => {
  await using first = await testDatabase()
  await using log = await logOver(empty())
  const { id } = await startWith(first, log)
  await log.append(newStream(), 'no_stream', newEvents(3))
  await using second = await testDatabase()
  await using elsewhere = await logOver(empty())
  const { id: ownId } = await startWith(second, elsewhere, theirs)
  await using fresh = await testDatabase()
  const before = await log.readAll()

  await expect(startWith(second, log, theirs)).rejects.toThrow(
    `EVENTSTOREDB_URL: the log is that of the installation ${id}, the database that of ${ownId}; name a log and a database that belong together`,
  )
  await expect(startWith(fresh, log, theirs)).rejects.toThrow('DATABASE_URL: the database has no part in the log')
  await expect(startWith(fresh, log)).rejects.toThrow('DATABASE_URL: the database has no part in the log')
  expect(await log.readAll()).toEqual(before)
})

test('a new database at a log of the version before is refused', async () => {
  await using database = await testDatabase()
  await using log = await logOver(empty())
  await log.append(newStream(), 'no_stream', newEvents(1))

  await expect(startWith(database, log)).rejects.toThrow(
    'DATABASE_URL: the database has no part in the log at EVENTSTOREDB_URL; name the database',
  )
})

test('a log in PostgreSQL that was emptied, or lost its end, ends the start', async () => {
  await using database = await testDatabase()
  await using log = openLog(database.url)
  const start = () => startWith(database, log, ours, true)
  await start()
  await log.append(newStream(), 'no_stream', newEvents(3))
  await hasRead(database, await log.end())
  await start()

  await database.pool.query('delete from event_log.event where revision > 0')
  await expect(start()).rejects.toThrow(
    /^DATABASE_URL: the log ends at \d{20}-\d{20}, but the database has read up to /,
  )
  await database.pool.query('delete from event_log.event')
  await expect(start()).rejects.toThrow(/^DATABASE_URL: the log there is not that of the database/)
})

test('a log that is exchanged or emptied while a process runs ends it with what to do', async () => {
  await using database = await testDatabase()
  await using log = openLog(database.url)
  const installation = await startWith(database, log, ours, true)
  const watching = new AbortController()
  const watch = (storedLog: EventLog = log) =>
    watchInstallation({ ...installation, storedLog, signal: watching.signal, everyMs: 1, againMs: 1 })
  await log.append(newStream(), 'no_stream', newEvents(3))
  const end = await log.end()

  await database.pool.query('delete from event_log.event where revision > 0')
  await expect(
    watchInstallation({
      ...installation,
      reached: end,
      storedLog: log,
      signal: watching.signal,
      everyMs: 1,
      againMs: 1,
    }),
  ).rejects.toThrow(
    `but was read up to ${end}: it was emptied, or restored from an earlier backup; name the right one, or restore both`,
  )
  await database.pool.query('delete from event_log.event')
  await expect(watch()).rejects.toThrow(`The log is no longer that of the installation ${installation.id}; `)
  watching.abort()
})

test('from the moment that the log is known to be another, nothing is written', async () => {
  await using database = await testDatabase()
  await using log = openLog(database.url)
  const { promise, reject } = Promise.withResolvers<void>()
  // As the process ends by it.
  const { promise: ended, resolve: end } = Promise.withResolvers<unknown>()
  const watching = { catch: (fail: (error: unknown) => void) => promise.catch(fail).catch(end) } as Promise<void>
  const installed = untilExchanged(log, watching)
  const stream = newStream()
  await installed.append(stream, 'no_stream', newEvents(1))

  reject(new LogExchanged('The log is another.'))

  expect(await ended).toBeInstanceOf(LogExchanged)
  await expect(installed.append(stream, 'any', newEvents(1))).rejects.toThrow(LogUnavailable)
  expect(await log.read(stream)).toHaveLength(1)
})

test('a log that ends before what was reached while a process ran ends it, too', async () => {
  await using database = await testDatabase()
  await using log = openLog(database.url)
  const installation = await startWith(database, log, ours, true)
  const watching = new AbortController()
  await log.append(newStream(), 'no_stream', newEvents(3))
  const reached = await log.end()
  const looked = Promise.withResolvers<void>()
  const end = async () => {
    const found = await log.end()
    if (found === reached) looked.resolve()
    return found
  }
  const storedLog = { ...log, end }
  const watched = watchInstallation({ ...installation, storedLog, signal: watching.signal, everyMs: 1, againMs: 1 })
  watched.catch(() => undefined)
  await looked.promise

  await database.pool.query(`delete from event_log.event where stream <> 'installation-coverstream'`)

  await expect(watched).rejects.toThrow(`but was read up to ${reached}: it was emptied`)
  watching.abort()
})

test('an answer of a node that lost its leadership just now, and a log that is away, end nothing', async () => {
  await using database = await testDatabase()
  await using log = openLog(database.url)
  const installation = await startWith(database, log, ours, true)
  const watching = new AbortController()
  let asked = 0
  const wavering = async () => {
    asked++
    if (asked > 12) watching.abort()
    if (asked % 3 === 0) throw new Error('away')
    return asked % 4 === 0 ? log.end() : undefined
  }

  await watchInstallation({
    ...installation,
    reached: await log.end(),
    storedLog: { ...log, end: wavering },
    signal: watching.signal,
    everyMs: 1,
    againMs: 1,
  })

  expect(asked).toBeGreaterThan(12)
})
