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

/** What the reverse proxy does in production: reads of /api/v1 go to query-api, all else to command-api. */
const startProxy = async (port: number, ports: Readonly<Record<Name, number>>): Promise<Server> => {
  const proxy = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const isRead = /^(GET|HEAD)$/.test(method) && /^\/api\/v1(\/|$)/.test(url)
    const target = { host: '127.0.0.1', port: ports[isRead ? 'query-api' : 'command-api'], method, path: url, headers }
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

/** Every role in a process of its own, on EventStoreDB and PostgreSQL, behind one address. */
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
  }
  const ports: Record<Name, number> = { projections: 0, 'command-api': 0, 'query-api': 0, 'delivery-worker': 0 }
  for (const name of names) ports[name] = await freePort()
  const proxy = await startProxy(port, ports)
  const running = new Map<Name, ServiceProcess>()

  const start = async (name: Name) => {
    const service = startServiceProcess({
      dataDir: '.data',
      port: ports[name],
      environment: { ...environment, HEALTH_PORT: String(ports[name]) },
      program: `${name}/main.ts`,
      saysWhenReady: 'role ready',
    })
    running.set(name, service)
    await service.ready
  }
  await Promise.all(names.map(start))

  return {
    origin,
    operatorKey,
    ports,
    restart: async (name: Name) => {
      await running.get(name)?.kill('process')
      await start(name)
    },
    stop: async (name: Name) => {
      running.get(name)?.interrupt()
      return running.get(name)?.ended
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

test(
  'every role as a process of its own plays the whole journey, also after each was killed and started again',
  { timeout: 180_000 },
  async () => {
    await using system = await startProcesses()
    await setUpDemo(system.origin, system.operatorKey)

    expect(await playJourney(system.origin)).toContain('Every step is green')
    for (const name of names) await system.restart(name)
    expect(await playJourney(system.origin)).toContain('Every step is green')

    for (const name of names) {
      const health = await fetch(`http://127.0.0.1:${system.ports[name]}/health/ready`)
      expect([name, health.status]).toEqual([name, 200])
      expect([name, (await system.stop(name))?.code]).toEqual([name, 0])
    }
  },
)
