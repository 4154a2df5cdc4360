import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { deliveryPingEvents } from '#domain/deliveries/events.ts'
import { toStored } from '#domain/event.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { postgresLog, prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import { newId } from '#infra/ids.ts'
import { migrate } from '#infra/postgres/migrations.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { OrganisationId } from '#domain/values.ts'
import { inTurns, percentile, rated, type Figure, type Target } from './figure.ts'
import { fillDeliveries } from './filled-deliveries.ts'
import { freePort } from './service.ts'
import type { Child, Environment } from './environment.ts'
import type { Pace } from './throughput.ts'

const masterKey = Buffer.alloc(32, 'a master key for benches').toString('base64')
const deriving = deriveKeys(masterKey)
const concurrency = '256'

const patienceMs = 120_000

const prepare = async (environment: Environment, name: string): Promise<string> => {
  const url = await environment.database(name)
  const pool = createPool(url)
  await migrate(pool)
  await prepareLog(pool)
  await pool.end()
  return url
}

const startWorker = async (environment: Environment, url: string): Promise<Child> => {
  const child = environment.run(process.execPath, ['delivery-worker/main.ts'], {
    DATABASE_URL: url,
    MASTER_KEY: masterKey,
    DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
    DELIVERY_ALLOW_HTTP: 'true',
    HEALTH_PORT: String(await freePort()),
    LOG_LEVEL: 'info',
  })
  await child.says(/role ready/)
  return child
}

type Receiving = {
  readonly name: string
  /** Where the receiver is asked; it answers at once at `/`. */
  readonly path: string
  readonly connections: number
  /** How many deliveries wait for each second that is measured: more than can be sent. */
  readonly waiting: number
  readonly target: Target
}

/** As one on the internet does. */
const distant: Receiving = {
  name: 'signed deliveries, over one connection that answers after 100 ms',
  path: '/after/100',
  connections: 1,
  waiting: 3_000,
  target: { ratio: 0.5 },
}
const near: Receiving = {
  name: 'signed deliveries, one worker',
  path: '/',
  connections: 8,
  waiting: 6_000,
  target: { atLeast: 3_000 },
}

/** Signed deliveries a second by one worker process, and POSTs a second by a bare loop, in turn. */
const measureThroughput = async (
  environment: Environment,
  { rounds, seconds }: Pace,
  { name, path, connections, waiting, target }: Receiving,
): Promise<Figure> => {
  const url = await prepare(environment, 'delivery')
  const receiver = environment.run(process.execPath, ['bench/delivery-receiver.ts'])
  const port = (await receiver.says(/receives at (\d+)/))[1] ?? ''
  const origin = `http://127.0.0.1:${port}`
  const address = `${origin}${path}`
  const counted = async () => Number(await (await fetch(origin)).text())
  const pool = createPool(url)

  const bare = async (): Promise<number> => {
    const child = environment.run(process.execPath, ['bench/bare-posts.ts', address, String(seconds), concurrency])
    return Number((await child.says(/([\d.]+) a second/))[1])
  }
  const ours = async (): Promise<number> => {
    await fillDeliveries(pool, { deriving, url: address, count: waiting * (seconds + 1), connections })
    const before = await counted()
    const worker = await startWorker(environment, url)
    while ((await counted()) < before + 500) await pause(5)
    const [from, startedAt] = [await counted(), performance.now()]
    await pause(seconds * 1_000)
    const perSecond = ((await counted()) - from) / ((performance.now() - startedAt) / 1_000)
    await worker.stop()
    await pool.query('truncate delivery_queue')
    return perSecond
  }
  const measured = await inTurns(rounds, bare, ours)
  await pool.end()
  await receiver.stop()
  return rated(name, measured, { target })
}

/** Answers, and says when the first byte of a request about an event came. */
const startListener = async () => {
  const waiting = new Map<string, (at: number) => void>()
  const server = createServer((request, response) => {
    const at = performance.now()
    if (request.url === '/hang') return
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly id: string }
      waiting.get(id)?.(at)
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // of a TCP server
  const firstByte = (id: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('A delivery does not arrive.')), patienceMs)
      waiting.set(id, (at) => {
        clearTimeout(timer)
        resolve(at)
      })
    })
  return { origin: `http://127.0.0.1:${port}`, firstByte, close: () => server.close().closeAllConnections() }
}

const hanging = 1_000

/** From asking for the append of an event until the first byte of its delivery, when idle and beside hanging endpoints. */
const measureLatency = async (environment: Environment, { looks }: Pace): Promise<readonly Figure[]> => {
  const url = await prepare(environment, 'delivery_latency')
  const pool = createPool(url)
  const eventLog = postgresLog({ url })
  const listener = await startListener()
  const organisation_id = OrganisationId.parse(randomUUID())
  await fillDeliveries(pool, {
    deriving,
    url: `${listener.origin}/`,
    count: 1,
    organisation_id,
    state: 'delivered',
  })
  const { rows } = await pool.query<{ id: string }>(`select id from delivery_known where kind = 'connection'`)
  const connection_id = rows[0]?.id ?? ''
  const worker = await startWorker(environment, url)

  const once = async (): Promise<number> => {
    const id = newId()
    const came = listener.firstByte(id)
    const startedAt = performance.now()
    await eventLog.append(`delivery_ping-${newId()}`, 'no_stream', [
      {
        id,
        ...toStored(deliveryPingEvents, { type: 'ConnectionPinged', organisation_id, connection_id, endpoint: null }),
        metadata: {
          organisation_id,
          actor: { type: 'operator', id: null },
          correlation_id: id,
          causation_id: null,
          occurred_at: new Date().toISOString(),
        },
      },
    ])
    return (await came) - startedAt
  }
  const look = async (): Promise<readonly number[]> => {
    const taken: number[] = []
    for (let number = 0; number < looks + 5; number++) {
      await pause(20 + Math.random() * 60)
      taken.push(await once())
    }
    return taken.slice(5)
  }

  const idle = await look()
  await fillDeliveries(pool, { deriving, url: `${listener.origin}/hang`, count: 5 * hanging, connections: hanging })
  await pause(3_000)
  const beside = await look()
  await worker.stop()
  listener.close()
  await eventLog.close()
  await pool.end()
  const [idleP99, besideP99] = [percentile(idle, 0.99), percentile(beside, 0.99)]
  return [
    { name: 'event to first byte, median', unit: 'ms', value: percentile(idle, 0.5), target: { below: 50 } },
    { name: 'event to first byte, p99', unit: 'ms', value: idleP99, target: { below: 250 } },
    {
      name: `the same beside ${hanging.toLocaleString('en-GB')} hanging endpoints, p99`,
      unit: 'ms',
      value: besideP99,
      target: { below: 2 * idleP99 },
      details: { 'ms at the median': percentile(beside, 0.5) },
    },
  ]
}

/** Signed webhooks: how many, how soon, and beside receivers that hang. */
export const measureDelivery = async (environment: Environment, pace: Pace): Promise<readonly Figure[]> => [
  await measureThroughput(environment, pace, near),
  await measureThroughput(environment, pace, distant),
  ...(await measureLatency(environment, pace)),
]
