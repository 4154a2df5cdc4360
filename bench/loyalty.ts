import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { Pool } from 'undici'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { afterWarmUp, load, startBare, type Bare } from './api.ts'
import type { Environment } from './environment.ts'
import { median, rated, type Figure } from './figure.ts'
import { startService, type Service } from './service.ts'
import type { Pace } from './throughput.ts'

const connections = 32
const members = 64
const [few, many] = [10, 100_000]

const events = (count: number) => ({
  events: Array.from({ length: count }, () => ({
    idempotency_key: uuidv7(),
    entry_type: 'points_awarded',
    points: 10,
  })),
})

const references = Array.from({ length: members }, (_, number) => `member-${number}`)
const addressOf = (reference: string) => `/api/v1/programme_memberships/${reference}`

const asked = async (address: string, method: string, headers: Readonly<Record<string, string>>, body?: object) => {
  const response = await fetch(address, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  if (!response.ok) throw new Error(`${method} ${address} was answered ${response.status}: ${await response.text()}`)
  return response.json()
}

const Listed = z.object({ data: z.array(z.object({ id: z.string() })).min(1) })
const One = z.object({ data: z.object({ id: z.string() }) })

const confirm = async ({ origin, headers, operatorKey }: Service, reference: string): Promise<void> => {
  const byOperator = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }
  const organisations = Listed.parse(await asked(`${origin}/admin/v1/organisations`, 'GET', byOperator))
  const programmes = `${origin}/admin/v1/organisations/${organisations.data[0]?.id}/programmes`
  const [programme] = Listed.parse(await asked(programmes, 'GET', byOperator)).data
  const memberships = `${programmes}/${programme?.id}/memberships`
  const enrolled = One.parse(await asked(memberships, 'POST', byOperator, { policy_number: reference }))
  const confirmed = { status: 'active', external_member_ref: reference }
  await asked(origin + addressOf(enrolled.data.id), 'PATCH', headers, confirmed)
}

const sendEvents = async ({ origin, headers }: Service, reference: string, count: number) =>
  asked(`${origin}${addressOf(reference)}/events`, 'POST', headers, events(count))

/**
 * So much a second by as many connections as there are, each of which does one thing after the other. What was begun in
 * time is waited for: of large batches all those that are under way are a good part of what is done in a second.
 */
const perSecond = async (seconds: number, work: (connection: number, turn: number) => Promise<number>) => {
  const begun = performance.now()
  const counts = await Promise.all(
    Array.from({ length: connections }, async (_, connection) => {
      let count = 0
      for (let turn = 0; performance.now() < begun + seconds * 1_000; turn++) count += await work(connection, turn)
      return count
    }),
  )
  return (counts.reduce((sum, count) => sum + count, 0) / (performance.now() - begun)) * 1_000
}

/** Events a second in batches of one size, against inserts of such batches by as many connections. */
const measureBatches = async (service: Service, url: string, size: number, { rounds, seconds }: Pace) => {
  const clients = Array.from({ length: connections }, () => new Client({ connectionString: url }))
  await Promise.all(clients.map(async (client) => client.connect()))
  await clients[0]?.query('create table if not exists plain_entries (id uuid primary key, stream text, data json)')
  const insert = `insert into plain_entries (id, stream, data)
    select (each ->> 'id')::uuid, $1, each from json_array_elements($2::json) as each`
  const floor = async (): Promise<number> =>
    perSecond(seconds, async (connection) => {
      const rows = events(size).events.map((event) => ({ id: randomUUID(), ...event }))
      await clients[connection]?.query({ name: 'insert', text: insert, values: [randomUUID(), JSON.stringify(rows)] })
      return size
    })
  const { origin, headers } = service
  const http = new Pool(origin, { connections })
  // No two connections send events of the same member at the same time: those would wait for each other.
  const ours = async (): Promise<number> =>
    perSecond(seconds, async (connection, turn) => {
      const reference = references[(connection + turn * connections) % members] ?? ''
      const path = `${addressOf(reference)}/events`
      const answer = await http.request({ method: 'POST', path, headers, body: JSON.stringify(events(size)) })
      const text = await answer.body.text()
      if (answer.statusCode !== 200) throw new Error(`POST ${path} was answered ${answer.statusCode}: ${text}`)
      return size
    })
  const measured = await afterWarmUp(rounds, floor, ours)
  await Promise.all([http.close(), ...clients.map(async (client) => client.end())])
  const name = `membership events in batches of ${size}, ${connections} connections, to inserts`
  return rated(name, measured)
}

const measureGet = async ({ reads: url, headers }: Service, bare: Bare, { rounds, seconds }: Pace) => {
  const rows = references.map(() => ({ id: randomUUID() }))
  for (const row of rows)
    await fetch(`${bare.url}/rows`, { method: 'POST', headers: bare.headers, body: JSON.stringify(row) })
  const floor = () => load(seconds, { ...bare, connections, requests: rows.map(({ id }) => ({ path: `/rows/${id}` })) })
  const ours = () =>
    load(seconds, { url, headers, connections, requests: references.map((each) => ({ path: addressOf(each) })) })
  return rated(`GET membership, ${connections} connections`, await afterWarmUp(rounds, floor, ours))
}

/** One event for a member, one after the other. */
const timeOf = async (service: Service, reference: string, looks: number): Promise<number> => {
  const times: number[] = []
  for (let look = 0; look < looks; look++) {
    const begun = performance.now()
    await sendEvents(service, reference, 1)
    times.push(performance.now() - begun)
  }
  return median(times)
}

/** A member with a hundred thousand events, to one with ten: warm, and as the first request to a new process. */
const measureLong = async (service: Service, { looks }: Pace): Promise<readonly Figure[]> => {
  await confirm(service, 'short')
  await confirm(service, 'long')
  await sendEvents(service, 'short', few)
  for (let sent = 0; sent < many; sent += 1_000) await sendEvents(service, 'long', 1_000)
  const short = await timeOf(service, 'short', looks)
  const long = await timeOf(service, 'long', looks)
  const restarted = await service.restart()
  // The first of all requests warm up what has nothing to do with a member.
  await confirm(service, 'another')
  await timeOf(service, 'another', 20)
  const coldShort = await timeOf(service, 'short', 1)
  const coldLong = await timeOf(service, 'long', 1)
  await restarted.stop()
  return [
    {
      name: `an event for a member with ${many}, to one with ${few}`,
      unit: '×',
      value: long / short,
      target: { below: 1.5 },
      details: { long_ms: long, short_ms: short },
    },
    {
      name: `the same as the first of a new process`,
      unit: 'ms',
      value: coldLong,
      target: { below: 100 },
      details: { long_ms: coldLong, short_ms: coldShort },
    },
  ]
}

/** What partners of loyalty programmes send and read. */
export const measureLoyalty = async (environment: Environment, pace: Pace): Promise<readonly Figure[]> => {
  const service = await startService(environment)
  const { bare, child } = await startBare(environment, service)
  for (const reference of references) await confirm(service, reference)
  const figures = [
    await measureBatches(service, service.database, 1, pace),
    await measureBatches(service, service.database, 100, pace),
    await measureGet(service, bare, pace),
  ]
  await child.stop()
  const long = await measureLong(service, pace)
  return [...figures, ...long]
}
