import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { readOwnSecrets } from '#infra/local-installation.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { testDatabase, type TestDatabase } from '../database.ts'
import { allAfter, eventually } from '../event-log/events.ts'
import { eventStoreDbTarget } from '../eventstoredb/target.ts'
import { withOwnReceiver } from '../journeys/own-receiver.ts'
import { playJourney } from '../journeys/play-journey.ts'
import { freePort, startServiceProcess } from '../journeys/service-process.ts'

/**
 * What the journey of the demo sends of a person, as it would be found wherever it was written as it is. Letters between
 * other such letters do not count: what is sealed is megabytes of them, in which a short name stands by chance.
 */
const personal =
  /(?<![\w+/]{3})(Grace|Okafor)|(Grace|Okafor)(?![\w+/]{3})|grace\.\d|1992-03-10|1990-07-21|sw1a ?1aa|alcohol_units\W+6|weight_kg\W+74|occupation\W+Teacher|journey-\d{10}/i

// The read models hold what they show, and lose it when a person is erased; keys are looked at by their own tests.
const readModels = new Set(allProjections.map(({ name }) => name))

/** Everything in the database as text, by table: without the read models, unless they are asked for. */
const dump = async ({ pool }: TestDatabase, { withReadModels = false } = {}): Promise<ReadonlyMap<string, string>> => {
  const { rows: tables } = await pool.query<{ name: string }>(`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`)
  const texts = tables
    .filter(({ name }) => withReadModels || !readModels.has(name.replace('public.', '')))
    .map(async ({ name }) => {
      const { rows } = await pool.query<{ text: string | null }>(
        `select string_agg(rows::text, E'\\n') as text from ${name} as rows`,
      )
      return [name, rows[0]?.text ?? ''] as const
    })
  return new Map(await Promise.all(texts))
}

/** Everything that is announced in the database. */
const listenTo = async (url: string) => {
  const client = new Client({ connectionString: url })
  await client.connect()
  const heard: string[] = []
  client.on('notification', ({ channel, payload = '' }) => heard.push(`${channel} ${payload}`))
  for (const channel of ['event_log', 'consumer_progress', 'data_key_erased']) await client.query(`listen ${channel}`)
  return Object.assign(client, { heard, [Symbol.asyncDispose]: () => client.end() })
}

/** The whole service at its most talkative. */
const talkativeService = async (database: TestDatabase, environment: Readonly<Record<string, string>>) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'coverstream-keys-'))
  await withOwnReceiver(dataDir)
  const port = await freePort()
  const service = startServiceProcess({
    dataDir,
    port,
    environment: { DATABASE_URL: database.url, LOG_LEVEL: 'trace', ...environment },
  })
  await service.ready
  const origin = `http://localhost:${port}`
  return {
    play: () => playJourney(origin, dataDir),
    /** Asks as the operator, and answers what is told. */
    ask: async <Data>(method: string, path: string, body?: object) => {
      const { OPERATOR_KEY } = (await readOwnSecrets(dataDir)) ?? {}
      const response = await fetch(`${origin}/admin/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${OPERATOR_KEY}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      const answer = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${answer}`)
      return (JSON.parse(answer) as { data: Data }).data // the test knows what it asks for
    },
    output: service.output,
    [Symbol.asyncDispose]: async () => {
      await service.kill('process')
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const eventsOf = async ({ pool }: TestDatabase, type: string) =>
  (await pool.query(sql`select from event_log.event where type = ${type}`)).rowCount ?? 0

test(
  'nothing of a person stands readable in PostgreSQL but in read models, in notifications or in log lines; when they are erased, nor there',
  { timeout: 240_000 },
  async () => {
    await using database = await testDatabase()
    await using listener = await listenTo(database.url)
    await using service = await talkativeService(database, {})
    await service.play()
    // The reaction that makes the person may come last.
    await eventually(async () => (await eventsOf(database, 'CustomerCreated')) > 0, 'the person to be recorded')

    const tables = await dump(database)

    expect(tables.get('event_log.event')).toContain('CustomerSaved')
    for (const [name, content] of tables) expect([name, personal.exec(content)?.[0]]).toEqual([name, undefined])
    expect(listener.heard.length).toBeGreaterThan(0)
    expect(listener.heard.filter((line) => personal.test(line))).toEqual([])
    expect(service.output().split('\n').length).toBeGreaterThan(10)
    expect(
      service
        .output()
        .split('\n')
        .filter((line) => personal.test(line)),
    ).toEqual([])

    const isShown = async () =>
      (await dump(database, { withReadModels: true })).get('public.customers')?.includes('1990-07-21') ?? false
    await eventually(isShown, 'the second person to be shown')

    // A policy has to end first.
    const { rows } = await database.pool.query<{ id: string; organisation_id: string }>(
      'select id, organisation_id from customers',
    )
    expect(rows.length).toBeGreaterThan(1)
    const erase = async ({ id, organisation_id }: (typeof rows)[number]) => {
      const organisation = `/organisations/${organisation_id}`
      const policies = await database.pool.query<{ id: string }>(sql`
        select id from policies where customer_id = ${id} and status in ('pending_start', 'active', 'suspended')`)
      for (const policy of policies.rows)
        await service.ask('POST', `${organisation}/policies/${policy.id}/cancellation`, {
          reason: 'customer_request',
          note: 'They are to be erased.',
        })
      // While money is owed back to them, they are not erased.
      const isTaken = () =>
        service.ask('POST', `${organisation}/people/${id}/erasure`, {}).then(
          () => true,
          (error: unknown) => {
            if (String(error).includes('a refund that is owed')) return false
            throw error
          },
        )
      await eventually(isTaken, 'the money to be given back')
      return async () => (await service.ask<{ finished: boolean }>('GET', `${organisation}/erasures/${id}`)).finished
    }
    // Asked for at once, they are done one after the other.
    for (const isFinished of await Promise.all(rows.map(erase))) await eventually(isFinished, 'the person to be erased')
    for (const [name, content] of await dump(database, { withReadModels: true }))
      expect([name, personal.exec(content)?.[0]]).toEqual([name, undefined])
  },
)

test('nothing of a person stands readable in the events of EventStoreDB', { timeout: 120_000 }, async () => {
  await using database = await testDatabase()
  await using target = await eventStoreDbTarget()
  const log = eventStoreDbLog(target.url)
  const before = await log.head()
  await using service = await talkativeService(database, { EVENT_LOG: 'eventstoredb', EVENTSTOREDB_URL: target.url })
  await service.play()
  const wanted = ['ApplicationStarted', 'AnswersSaved', 'CustomerSaved', 'QuoteIssued', 'CustomerCreated']
  const readOn = async () => allAfter(log, before)
  const isWhole = async () => {
    const types = new Set((await readOn()).map(({ type }) => type))
    return wanted.every((type) => types.has(type))
  }
  await eventually(isWhole, 'the person to be recorded')
  const events = await readOn()
  await log.close()

  expect(events.filter((each) => personal.test(JSON.stringify(each)))).toEqual([])
  for (const [name, content] of await dump(database))
    expect([name, personal.exec(content)?.[0]]).toEqual([name, undefined])
})
