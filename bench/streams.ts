import { once } from 'node:events'
import { get } from 'node:http'
import { z } from 'zod'
import { v7 as uuidv7 } from 'uuid'
import { afterWarmUp, load, starting } from './api.ts'
import type { Environment } from './environment.ts'
import { rated, type Figure } from './figure.ts'
import { costMeters } from './processor-time.ts'
import { startService, type Service } from './service.ts'
import type { Pace } from './throughput.ts'

const connections = 32
const streams = 200
/** A user may have no more. */
const ofOne = 8

type Colleague = { readonly key: string; readonly address: string }

/** As many people of the firm as it takes, with a key each. */
const makeColleagues = async ({ origin, operatorKey }: Service): Promise<readonly Colleague[]> => {
  const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }
  const ask = async <Schema extends z.ZodType>(schema: Schema, path: string, body?: object) => {
    const sent = body && { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(origin + path, { headers, ...sent })
    return schema.parse(await response.json())
  }
  const Organisations = z.object({ data: z.array(z.object({ id: z.string(), slug: z.string() })) })
  const { data } = await ask(Organisations, '/admin/v1/organisations')
  const organisation = `/admin/v1/organisations/${data.find(({ slug }) => slug === 'bench')?.id ?? ''}`
  const Made = z.object({ data: z.object({ id: z.string() }) })
  const Key = z.object({ data: z.object({ key: z.string() }) })
  const make = async (number: number): Promise<Colleague> => {
    const person = { name: `Agent ${number}`, email: `agent.${number}@example.com`, roles: ['leads', 'underwriting'] }
    const user = await ask(Made, `${organisation}/users`, person)
    const { key } = (await ask(Key, `${organisation}/users/${user.data.id}/keys`, {})).data
    return { key, address: `${origin}${organisation}/work` }
  }
  return Promise.all(Array.from({ length: streams / ofOne }, async (_, number) => make(number)))
}

/** Opens so many streams, and counts the events that they tell. */
const openStreams = async (colleagues: readonly Colleague[]) => {
  let told = 0
  const open = async ({ key, address }: Colleague) =>
    Promise.all(
      Array.from({ length: ofOne }, async () => {
        const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' }
        const request = get(address, { headers, agent: false })
        const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]
        if (response.statusCode !== 200) throw new Error(`${address} was answered ${response.statusCode}.`)
        response.setEncoding('utf8').on('data', (text: string) => {
          told += text.split('\ndata: ').length - 1
        })
        request.on('error', () => undefined)
        return request
      }),
    )
  const requests = (await Promise.all(colleagues.map(open))).flat()
  return {
    told: () => told,
    close: () => {
      for (const request of requests) request.destroy()
    },
  }
}

/** Writes while two hundred people of a firm are told what waits for them, in turns with as many writes that nobody is told of. */
export const measureStreams = async (
  environment: Environment,
  { rounds, seconds }: Pace,
): Promise<readonly Figure[]> => {
  const service = await startService(environment)
  const { origin: url, headers } = service
  const post = async () => {
    // What waits is another each time.
    await service.send('POST', '/api/v1/crm/ingests', {
      source: 'bench',
      identity: { first_name: 'Ada', email: `${uuidv7()}@example.com` },
    })
    return load(seconds, { url, connections, headers, requests: [starting()] })
  }
  const meters = await costMeters(environment, { floor: service.child.pid, ours: service.child.pid })
  const colleagues = await makeColleagues(service)
  let told = 0
  const listened = async () => {
    const opened = await openStreams(colleagues)
    const rate = await meters.ours(seconds, post)()
    told += opened.told()
    opened.close()
    return rate
  }
  const measured = await afterWarmUp(rounds, meters.floor(seconds, post), listened)
  await service.child.stop()
  return [
    rated(`POST application, ${connections} connections, with ${streams} open streams to none`, measured, {
      target: { ratio: 0.95 },
      details: { ...meters.details(rounds), 'events told': told },
    }),
  ]
}
