import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import { pipeline } from 'node:stream'
import { isRead } from '../proxy-routing.ts'
import { freePort, startServiceProcess, type ServiceProcess } from './service-process.ts'

export const roles = ['projections', 'command-api', 'query-api', 'delivery-worker'] as const
export type Role = (typeof roles)[number]

/** Two processes of a role each have their own port. */
type Ports = Readonly<Record<Role, readonly [number, number]>>

/**
 * What the reverse proxy does in production: reads go to query-api, all else to command-api, to the two
 * processes of each in turn. A process that cannot be reached is a 502.
 */
export const startProxy = async (port: number, ports: Pick<Ports, 'query-api' | 'command-api'>): Promise<Server> => {
  let requests = 0
  const proxy = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const chosen = ports[isRead(method, url) ? 'query-api' : 'command-api'][requests++ % 2 === 0 ? 0 : 1]
    const target = { host: '127.0.0.1', port: chosen, method, path: url, headers }
    const passed = request(target, (answer) => {
      // A caller that has gone meanwhile waits for nothing.
      if (outgoing.destroyed) return void answer.destroy()
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      // An answer that breaks off in the middle breaks off for the caller, too.
      pipeline(answer, outgoing, () => undefined)
    })
    passed.on('error', () => {
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(502).end()
    })
    incoming.pipe(passed)
  })
  proxy.listen(port, '127.0.0.1')
  await once(proxy, 'listening')
  return proxy
}

/** Two processes of every role on the given stores, behind one address. */
export const startPairs = async (stores: Readonly<Record<string, string>>) => {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const operatorKey = randomBytes(24).toString('hex')
  // Always the same: a log that is given may hold what an earlier run has sealed.
  const masterKey = Buffer.alloc(32, 'a master key for tests ').toString('base64')
  const environment = {
    BASE_URL: origin,
    MASTER_KEY: masterKey,
    OPERATOR_KEY: operatorKey,
    DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
    DELIVERY_ALLOW_HTTP: 'true',
    ...stores,
  }
  const twoPorts = async () => [await freePort(), await freePort()] as const
  const ports: Ports = {
    projections: await twoPorts(),
    'command-api': await twoPorts(),
    'query-api': await twoPorts(),
    'delivery-worker': await twoPorts(),
  }
  const healthPorts = new Map<number, number>()
  for (const own of Object.values(ports).flat()) healthPorts.set(own, await freePort())
  const healthPort = (own: number) => healthPorts.get(own) ?? 0

  const running = new Map<number, ServiceProcess>()
  const startOne = (role: Role, ownPort: number): ServiceProcess => {
    const service = startServiceProcess({
      dataDir: '.data',
      port: ownPort,
      environment: { ...environment, HEALTH_PORT: String(healthPort(ownPort)) },
      program: `${role}/main.ts`,
      saysWhenReady: 'role ready',
    })
    running.set(ownPort, service)
    return service
  }
  const restart = async (role: Role, ownPort: number): Promise<ServiceProcess> => {
    await running.get(ownPort)?.kill('process')
    return startOne(role, ownPort)
  }

  const proxy = await startProxy(port, ports)
  const end = async () => {
    for (const service of running.values()) await service.kill('process')
    proxy.closeAllConnections()
    proxy.close()
  }
  try {
    await Promise.all(roles.flatMap((role) => ports[role].map((own) => startOne(role, own).ready)))
  } catch (error) {
    await end()
    throw error
  }

  return {
    origin,
    operatorKey,
    masterKey,
    ports,
    healthPort,
    restart,
    processOn: (ownPort: number) => running.get(ownPort),
    /** Resolves when all processes say that they are ready. */
    ready: async (): Promise<void> => {
      await Promise.all([...running.values()].map(async ({ ready }) => ready))
    },
    /** As Ctrl-C does; the code with which the process ends. */
    stop: async (ownPort: number) => {
      running.get(ownPort)?.interrupt()
      return (await running.get(ownPort)?.ended)?.code
    },
    [Symbol.asyncDispose]: end,
  }
}
