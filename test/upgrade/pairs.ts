import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { roles, type Role } from '../journeys/pairs.ts'
import { freePort, startServiceProcess, type ServiceProcess } from '../journeys/service-process.ts'
import { startPoolingProxy } from '../pooling-proxy.ts'
import { isRead } from '../proxy-routing.ts'
import { ownFolder } from './version-before.ts'

type Running = {
  readonly role: Role
  readonly folder: string
  readonly port: number
  readonly healthPort: number
  readonly service: ServiceProcess
}

const readyMs = 180_000
const drainMs = 30_000

const details = async ({ healthPort }: Running): Promise<{ readonly ok: boolean; readonly text: string }> => {
  const response = await fetch(`http://127.0.0.1:${healthPort}/health/ready`).catch(() => undefined)
  return { ok: response?.status === 200, text: (await response?.text()) ?? 'no answer' }
}

/** Two processes of every role of one version behind a proxy, each of which can be replaced by one of this version. */
export const startPairsOf = async (before: string, directory: string, stores: Readonly<Record<string, string>>) => {
  const running: Running[] = []
  /** Those that are asked: a balancer stops to ask a process before it is stopped. */
  const asked = new Set<Running>()
  const versionOf = new Map<number, string>()
  const leftovers = new AsyncDisposableStack()
  const proxy = leftovers.use(
    await startPoolingProxy(({ method = '', url = '' }) => {
      const role = isRead(method, url) ? 'query-api' : 'command-api'
      return running.filter((each) => each.role === role && asked.has(each)).map(({ port }) => port)
    }),
  )
  const environment = {
    ...stores,
    BASE_URL: proxy.origin,
    DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
    DELIVERY_ALLOW_HTTP: 'true',
  }

  const begin = async (role: Role, folder: string): Promise<Running> => {
    const [port, healthPort] = [await freePort(), await freePort()]
    const service = startServiceProcess({
      folder,
      // Each works in a folder of its own.
      dataDir: join(directory, `${role}-${port}`),
      port,
      environment: { ...environment, HEALTH_PORT: String(healthPort) },
      program: `${role}/main.ts`,
      saysWhenReady: 'role ready',
    })
    versionOf.set(port, folder)
    const started = { role, folder, port, healthPort, service }
    running.push(started)
    leftovers.defer(() => service.kill('process'))
    return started
  }

  const untilReady = async (one: Running): Promise<void> => {
    await one.service.ready
    const deadline = Date.now() + readyMs
    for (;;) {
      const { ok, text } = await details(one)
      if (ok) break
      if (Date.now() > deadline) throw new Error(`${one.role} is not ready: ${text}\n${one.service.output()}`)
      await pause(100)
    }
    asked.add(one)
  }

  /** Stops one process of the version before as an operator does, then starts one of this version in its place. */
  const replace = async (role: Role): Promise<string | undefined> => {
    const old = running.find((each) => each.role === role && each.folder === before)
    if (!old) throw new Error(`There is no ${role} of the version before.`)
    asked.delete(old)
    const deadline = Date.now() + drainMs
    while (proxy.underWay(old.port) > 0 && Date.now() < deadline) await pause(20)
    process.kill(old.service.pid, 'SIGTERM')
    const { code } = await old.service.ended
    running.splice(running.indexOf(old), 1)
    await untilReady(await begin(role, ownFolder))
    return code === 0 ? undefined : `a ${role} of the version before ended with ${code}:\n${old.service.output()}`
  }

  try {
    const started = await Promise.all(roles.flatMap((role) => [begin(role, before), begin(role, before)]))
    await Promise.all(started.map(untilReady))
  } catch (error) {
    await leftovers.disposeAsync()
    throw error
  }

  return {
    origin: proxy.origin,
    broken: proxy.broken,
    isBefore: (port: number): boolean => versionOf.get(port) === before,
    replace,
    /** What the projections say of the read models that are not in use yet. */
    beside: async (): Promise<readonly string[]> => {
      const said = await Promise.all(running.filter(({ role }) => role === 'projections').map(details))
      return said.flatMap(({ text }) => text.match(/version \d+ is (kept beside|about to be)[^"]*/g) ?? [])
    },
    /** What the processes have logged as errors. */
    errors: (): readonly string[] =>
      running.flatMap(({ role, service }) =>
        service
          .output()
          .split('\n')
          .filter((line) => /"level":(50|60)/.test(line))
          .map((line) => `${role}: ${line}`),
      ),
    end: async (): Promise<readonly string[]> => {
      const codes = await Promise.all(
        running.map(async ({ role, service }) => {
          service.interrupt()
          return [role, (await service.ended).code] as const
        }),
      )
      return codes.flatMap(([role, code]) => (code === 0 ? [] : [`interrupted, a ${role} ended with ${code}`]))
    },
    [Symbol.asyncDispose]: () => leftovers.disposeAsync(),
  }
}
