import { z } from 'zod'
import { startEventStoreDb } from '../test/eventstoredb/server.ts'
import type { Environment } from './environment.ts'
import { median, percentile, type Figure } from './figure.ts'
import { fillIn, startService, type Service } from './service.ts'
import type { Pace } from './throughput.ts'

const few = 200
const many = 2_000
const warmUp = 50
const patienceMs = 60_000

const Organisations = z.object({ data: z.array(z.object({ id: z.string(), slug: z.string() })) })
const Events = z.object({ data: z.array(z.object({ position: z.string(), revision: z.int() })) })

/** As an operator asks. */
const asking = ({ origin, operatorKey }: Service) => {
  const headers = { authorization: `Bearer ${operatorKey}` }
  return async <Schema extends z.ZodType>(schema: Schema, path: string): Promise<z.output<Schema>> => {
    const response = await fetch(origin + path, { headers })
    const text = await response.text()
    if (!response.ok) throw new Error(`GET ${path} was answered ${response.status}: ${text}`)
    return schema.parse(JSON.parse(text))
  }
}

/** An application whose customer has changed their mind so often. */
const applicationOf = async (service: Service, events: number): Promise<string> => {
  const { id } = await fillIn(service, events)
  for (let number = 0; number < events; number++)
    await service.send('PATCH', `/api/v1/applications/${id}`, { cover_amount_pence: 20_000_000 + number })
  return id
}

/** Milliseconds of each request, one after the other, as of the last event of the record. */
const look = async (service: Service, events: number, times: number): Promise<readonly number[]> => {
  const ask = asking(service)
  const organisations = await ask(Organisations, '/admin/v1/organisations')
  const below = `/audit/v1/organisations/${organisations.data.find(({ slug }) => slug === 'bench')?.id ?? ''}`
  const id = await applicationOf(service, events)
  const position = await newestOf(ask, `${below}/events?record=application-${id}&limit=1`, events)
  const asked = new URLSearchParams({ address: `/api/v1/applications/${id}`, position }).toString()
  const taken: number[] = []
  for (let number = 0; number < times + warmUp; number++) {
    const startedAt = performance.now()
    await ask(z.object({ data: z.object({ events: z.int().min(events) }) }), `${below}/as_of?${asked}`)
    taken.push(performance.now() - startedAt)
  }
  return taken.slice(warmUp)
}

/** The position of the last of so many events, once the search shows it. */
const newestOf = async (ask: ReturnType<typeof asking>, path: string, events: number): Promise<string> => {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const [newest] = (await ask(Events, path)).data
    if (newest && newest.revision >= events - 1) return newest.position
    if (performance.now() > deadline)
      throw new Error(`There are not ${events} events: the last is ${newest?.revision}.`)
  }
}

const figureOf = (log: string, events: number, taken: readonly number[]): Figure => ({
  name: `as of a position, ${events} events, ${log}, p99`,
  unit: 'ms',
  value: percentile(taken, 0.99),
  ...(events === few && { target: { below: 20 } }),
  details: { 'ms at the median': median(taken), p95: percentile(taken, 0.95), most: Math.max(...taken) },
})

/** A record as it was at a moment: one request at a time, on both logs. */
export const measureAsOf = async (environment: Environment, { looks }: Pace): Promise<readonly Figure[]> => {
  const eventStoreDb = await startEventStoreDb()
  const logs = [
    ['PostgreSQL', {}],
    ['EventStoreDB', { EVENT_LOG: 'eventstoredb', EVENTSTOREDB_URL: eventStoreDb.url }],
  ] as const
  const figures: Figure[] = []
  for (const [log, settings] of logs) {
    const service = await startService(environment, { name: `as_of_${log.toLowerCase()}`, settings })
    for (const events of [few, many]) figures.push(figureOf(log, events, await look(service, events, looks * 2)))
    await service.child.stop()
  }
  await eventStoreDb[Symbol.asyncDispose]()
  return figures
}
