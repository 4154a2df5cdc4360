import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { afterWarmUp, load, posting, startBare, type Bare } from './api.ts'
import type { Environment } from './environment.ts'
import { median, percentile, rated, type Figure } from './figure.ts'
import { startService, type Service } from './service.ts'
import type { Pace } from './throughput.ts'

const connections = 32
const [few, many] = [1_000, 100_000]

const lead = () => {
  const id = uuidv7()
  return { source: 'bench', source_reference: id, identity: { email: `${id}@example.com`, first_name: 'Ada' } }
}

/** Leads that are accepted while as many as the service takes are sent; they are processed behind it. */
const measureAccepted = async (service: Service, bare: Bare, database: Client, { rounds, seconds }: Pace) => {
  const { origin: url, headers } = service
  const insert = posting('/rows', () => ({ ...lead(), id: uuidv7() }))
  const floor = async () => {
    // Otherwise what follows from the leads of the former round would slow the floor down.
    await untilIdle(database)
    return load(seconds, { ...bare, connections, requests: [insert] })
  }
  const ours = () =>
    load(seconds, { url, connections, headers, requests: [posting('/api/v1/crm/ingests', () => lead())] })
  const measured = await afterWarmUp(rounds, floor, ours)
  return rated(`POST ingest, ${connections} connections, one process`, measured, { target: { ratio: 0.4 } })
}

/** Waits until nothing that was sent is under way any more. */
const untilIdle = async (database: Client): Promise<void> => {
  for (;;) {
    const { rows } = await database.query<{ waiting: number }>(`
      select (select count(*) from event_log.event where type = 'IngestReceived')
        - (select count(*) from ingests where document ->> 'status' = 'applied') as waiting`)
    if (Number(rows[0]?.waiting) === 0) return
    await pause(200)
  }
}

/** From the answer to a lead until its own address says that it is applied, one lead after the other. */
const measureApplied = async ({ send }: Service, { looks }: Pace): Promise<Figure> => {
  const waits: number[] = []
  for (let look = 0; look < looks; look++) {
    const { id } = await send('POST', '/api/v1/crm/ingests', lead())
    const begun = performance.now()
    while ((await send('GET', `/api/v1/crm/ingests/${id}`))['status'] !== 'applied') await pause(2)
    waits.push(performance.now() - begun)
  }
  const details = { most: Math.max(...waits), of_a_hundred_95: percentile(waits, 0.95) }
  return { name: 'from 202 to applied, when idle', unit: 'ms', value: median(waits), target: { below: 100 }, details }
}

/** Puts leads of the application that measures into its feed, until there are so many. */
const fillFeed = async (database: Client, wanted: number): Promise<void> => {
  await database.query(
    `insert into leads
     select known.organisation_id, known.api_application_id, gen_random_uuid(), lpad(n::text, 24, '9'), known.status,
       known.campaign_id, null, known.document, now()
     from (select * from leads limit 1) as known,
       generate_series((select count(*) from leads) + 1, $1::bigint) as n
     on conflict do nothing`,
    [wanted],
  )
  await database.query('analyze leads')
}

const Position = z.object({ position: z.string() })

/** The time that a page of 200 takes, half-way through the feed. */
const pageTime = async ({ origin, headers }: Service, database: Client, looks: number): Promise<number> => {
  const { rows } = await database.query(
    `select position from leads order by position collate "C" offset (select count(*) / 2 from leads) limit 1`,
  )
  const { position } = Position.parse(rows[0])
  const cursor = Buffer.from(JSON.stringify(['leads', position])).toString('base64url')
  const times: number[] = []
  for (let look = 0; look < looks; look++) {
    const begun = performance.now()
    const response = await fetch(`${origin}/api/v1/crm/leads?limit=200&cursor=${cursor}`, { headers })
    const { data } = z.object({ data: z.array(z.unknown()) }).parse(await response.json())
    if (data.length !== 200) throw new Error(`The page has ${data.length} leads.`)
    times.push(performance.now() - begun)
  }
  return median(times)
}

const measureFeed = async (service: Service, database: Client, { looks }: Pace): Promise<Figure> => {
  await database.query('delete from leads where contact_id <> (select contact_id from leads limit 1)')
  await fillFeed(database, few)
  await pageTime(service, database, 10)
  const small = await pageTime(service, database, looks)
  await fillFeed(database, many)
  const large = await pageTime(service, database, looks)
  return {
    name: `a page of 200 leads among ${many}, to one among ${few}`,
    unit: '×',
    value: large / small,
    target: { below: 2 },
    details: { small_ms: small, large_ms: large },
  }
}

/** Leads sent in: how many are taken, how soon one is applied, and what reading the feed of many costs. */
export const measureIngests = async (environment: Environment, pace: Pace): Promise<readonly Figure[]> => {
  const service = await startService(environment)
  const { bare, child } = await startBare(environment, service)
  const database = new Client({ connectionString: service.database })
  await database.connect()
  const accepted = await measureAccepted(service, bare, database, pace)
  await untilIdle(database)
  const figures = [accepted, await measureApplied(service, pace), await measureFeed(service, database, pace)]
  await database.end()
  await child.stop()
  await service.child.stop()
  return figures
}
