import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { setUpDemo } from '../../demo/demo.ts'
import { testDatabase } from '../database.ts'
import { eventStoreDbTarget } from '../eventstoredb/target.ts'
import { freePort, startServiceProcess, type ServiceProcess } from './service-process.ts'

const root = join(import.meta.dirname, '..', '..')
const names = ['projections', 'command-api', 'query-api', 'delivery-worker'] as const
type Name = (typeof names)[number]
/** Two processes of a role each have their own port. */
type Ports = Readonly<Record<Name, readonly [number, number]>>

/**
 * What the reverse proxy does in production: reads of /api/v1 go to query-api, all else to command-api, to the two
 * processes of each in turn.
 */
const startProxy = async (port: number, ports: Ports): Promise<Server> => {
  let requests = 0
  const proxy = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const isRead = /^(GET|HEAD)$/.test(method) && /^\/api\/v1(\/|$)/.test(url)
    const chosen = ports[isRead ? 'query-api' : 'command-api'][requests++ % 2 === 0 ? 0 : 1]
    const target = { host: '127.0.0.1', port: chosen, method, path: url, headers }
    const passed = request(target, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.writeHead(502).end())
    incoming.pipe(passed)
  })
  proxy.listen(port, '127.0.0.1')
  await once(proxy, 'listening')
  return proxy
}

/** Two processes of every role, on EventStoreDB and PostgreSQL, behind one address. */
const startProcesses = async () => {
  const database = await testDatabase()
  const eventStoreDb = await eventStoreDbTarget()
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const operatorKey = randomBytes(24).toString('hex')
  const environment = {
    BASE_URL: origin,
    DATABASE_URL: database.url,
    EVENT_LOG: 'eventstoredb',
    EVENTSTOREDB_URL: eventStoreDb.url,
    // Always the same: a log that is given may hold what an earlier run has sealed.
    MASTER_KEY: Buffer.alloc(32, 'a master key for tests ').toString('base64'),
    OPERATOR_KEY: operatorKey,
    DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
    DELIVERY_ALLOW_HTTP: 'true',
    // A command that waits for a reader that never moves would wait so long, and the journey would not end in time.
    READ_YOUR_WRITES_MS: '60000',
  }
  const twoPorts = async () => [await freePort(), await freePort()] as const
  const ports: Ports = {
    projections: await twoPorts(),
    'command-api': await twoPorts(),
    'query-api': await twoPorts(),
    'delivery-worker': await twoPorts(),
  }
  const proxy = await startProxy(port, ports)
  const running = new Map<number, ServiceProcess>()

  const healthPorts = new Map<number, number>()
  for (const own of Object.values(ports).flat()) healthPorts.set(own, await freePort())
  const healthPort = (own: number) => healthPorts.get(own) ?? 0

  const startOne = async (name: Name, ownPort: number) => {
    const service = startServiceProcess({
      dataDir: '.data',
      port: ownPort,
      environment: { ...environment, HEALTH_PORT: String(healthPort(ownPort)) },
      program: `${name}/main.ts`,
      saysWhenReady: 'role ready',
    })
    running.set(ownPort, service)
    await service.ready
  }
  const start = (name: Name) => Promise.all(ports[name].map((each) => startOne(name, each)))
  for (const name of names) await start(name)

  return {
    origin,
    operatorKey,
    ports,
    healthPort,
    restart: async (name: Name) => {
      await Promise.all(ports[name].map(async (each) => running.get(each)?.kill('process')))
      await start(name)
    },
    stop: async (port: number) => {
      running.get(port)?.interrupt()
      return running.get(port)?.ended
    },
    [Symbol.asyncDispose]: async () => {
      for (const service of running.values()) await service.kill('process')
      proxy.closeAllConnections()
      proxy.close()
      await eventStoreDb[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** What the journey shows; it says itself which step failed. */
const playJourney = async (origin: string): Promise<string> => {
  const journey = spawn(process.execPath, ['demo/journey.ts'], { cwd: root, env: { ...process.env, BASE_URL: origin } })
  const shown = await Promise.all([text(journey.stdout), text(journey.stderr)])
  return shown.join('')
}

/** How many commands were answered before the read models had caught up with them. */
const unseenWrites = async (port: number): Promise<string | undefined> => {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return /^coverstream_unseen_writes_total (\d+)$/m.exec(metrics)?.[1]
}

test(
  'two processes of every role play the whole journey, also after all of each were killed and started again',
  { timeout: 300_000 },
  async () => {
    await using system = await startProcesses()
    await setUpDemo(system.origin, system.operatorKey)

    expect(await playJourney(system.origin)).toContain('Every step is green')
    for (const name of names) await system.restart(name)
    expect(await playJourney(system.origin)).toContain('Every step is green')

    for (const port of system.ports['command-api']) expect(await unseenWrites(system.healthPort(port))).toBe('0')
    for (const name of names)
      for (const port of system.ports[name]) {
        const health = await fetch(`http://127.0.0.1:${system.healthPort(port)}/health/ready`)
        expect([name, health.status]).toEqual([name, 200])
        expect([name, (await system.stop(port))?.code]).toEqual([name, 0])
      }
  },
)
