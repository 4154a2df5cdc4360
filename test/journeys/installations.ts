import { setTimeout as pause } from 'node:timers/promises'
import { join } from 'node:path'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { ownSecrets } from '#infra/local-installation.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded/embedded-postgres.ts'
import { setUpDemo } from '../../demo/demo.ts'
import { startEventStoreDb } from '../eventstoredb/server.ts'
import { roles, startPairs, type Role } from './pairs.ts'
import { pick, type Random } from './random.ts'
import { alive, databaseOf, freePort, startServiceProcess, untilGone } from './service-process.ts'

/** The whole service under load, and what can be done to it. */
export type Installation = {
  readonly origin: string
  readonly operatorKey: string
  readonly masterKey: string
  readonly databaseUrl: () => Promise<string>
  readonly openLog: () => Promise<EventLog>
  readonly ready: () => Promise<void>
  /** Kills, pauses or restarts something, and sees that it is started again. What it did. */
  readonly disturb: (random: Random) => Promise<string>
  /** Ends everything as the operator would, and says what did not end well. */
  readonly end: () => Promise<readonly string[]>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** All roles in one process on a PostgreSQL of its own, as `npm start` runs them. */
export const oneProcess = async (directory: string): Promise<Installation> => {
  const dataDir = join(directory, 'data')
  const port = await freePort()
  const start = () => startServiceProcess({ dataDir, port, environment: { RATE_LIMIT_REQUESTS: '0' } })
  let service = start()
  await service.ready
  const secrets = await ownSecrets(dataDir)
  let disturbances = 0

  return {
    origin: `http://localhost:${port}`,
    operatorKey: secrets.OPERATOR_KEY,
    masterKey: secrets.MASTER_KEY,
    databaseUrl: () => databaseOf(dataDir),
    openLog: async () => postgresLog({ url: await databaseOf(dataDir) }),
    ready: () => service.ready,
    disturb: async (random) => {
      // Most times at work, sometimes while it starts; most times with its database, sometimes without.
      const isStarting = disturbances++ > 0 && random() < 0.2
      if (!isStarting) await service.ready
      const afterMs = Math.round(random() * 2_000)
      const whom = random() < 0.7 ? 'family' : 'process'
      await pause(afterMs)
      await service.kill(whom)
      service = start()
      return `killed the ${whom}, ${afterMs} ms after ${isStarting ? 'its start' : 'it was ready'}`
    },
    end: async () => {
      const family = await service.family()
      service.interrupt()
      const { code } = await service.ended
      await untilGone(family).catch(() => undefined)
      const left = await alive(family)
      return [
        ...(code === 0 ? [] : [`interrupted, the service ended with ${code}:\n${service.output()}`]),
        ...(left.length === 0 ? [] : [`processes ${left.join(', ')} outlived the service`]),
      ]
    },
    [Symbol.asyncDispose]: () => service.kill('family'),
  }
}

/** Two processes of every role, on a PostgreSQL that is restarted as well, and on either event log. */
export const twoOfEveryRole = async (
  directory: string,
  eventLog: 'postgres' | 'eventstoredb',
): Promise<Installation> => {
  const dataDir = join(directory, 'postgres')
  const leftovers = new AsyncDisposableStack()
  let postgres = await startEmbeddedPostgres({ dataDir })
  leftovers.defer(() => postgres.stop())
  const { url } = postgres
  const eventStoreDb = eventLog === 'eventstoredb' ? leftovers.use(await startEventStoreDb()) : undefined
  const pairs = leftovers.use(
    await startPairs({
      DATABASE_URL: url,
      // As npm start has it: business time can be moved.
      ENVIRONMENT: 'test',
      RATE_LIMIT_REQUESTS: '0',
      EVENT_LOG: eventLog,
      ...(eventStoreDb && { EVENTSTOREDB_URL: eventStoreDb.url }),
    }),
  )
  await setUpDemo(pairs.origin, pairs.operatorKey)

  const chosenProcess = (random: Random): [Role, number] => {
    const role = pick(roles, random)
    return [role, pick(pairs.ports[role], random)]
  }
  const disturbances: Readonly<Record<string, (random: Random) => Promise<string>>> = {
    kill: async (random) => {
      const [role, port] = chosenProcess(random)
      await pairs.restart(role, port)
      return `killed one ${role}`
    },
    killBoth: async (random) => {
      const role = pick(roles, random)
      await Promise.all(pairs.ports[role].map((port) => pairs.restart(role, port)))
      return `killed both processes of ${role}`
    },
    // Longer than the lease of a delivery and than what commands wait for.
    suspend: async (random) => {
      const [role, port] = chosenProcess(random)
      const pid = pairs.processOn(port)?.pid ?? 0
      const ms = Math.round(random() * 30_000)
      process.kill(pid, 'SIGSTOP')
      await pause(ms)
      process.kill(pid, 'SIGCONT')
      return `suspended one ${role} for ${ms} ms`
    },
    restartPostgres: async (random) => {
      await postgres.stop()
      const ms = Math.round(random() * 5_000)
      await pause(ms)
      postgres = await startEmbeddedPostgres({ dataDir, port: Number(new URL(url).port) })
      return `restarted PostgreSQL, which was away for ${ms} ms`
    },
    ...(eventStoreDb && {
      dropConnections: async () => {
        await eventStoreDb.dropConnections()
        return 'dropped all connections to EventStoreDB'
      },
    }),
  }

  return {
    origin: pairs.origin,
    operatorKey: pairs.operatorKey,
    masterKey: pairs.masterKey,
    databaseUrl: async () => url,
    openLog: async () => (eventStoreDb ? eventStoreDbLog(eventStoreDb.url) : postgresLog({ url })),
    ready: pairs.ready,
    disturb: async (random) => {
      await pause(Math.round(random() * 2_000))
      const [first, ...others] = Object.values(disturbances)
      if (!first) throw new Error('There is nothing to do to the service.')
      return pick([first, ...others], random)(random)
    },
    end: async () => {
      const codes = await Promise.all(
        roles.flatMap((role) => pairs.ports[role].map(async (port) => [role, await pairs.stop(port)] as const)),
      )
      return codes.flatMap(([role, code]) => (code === 0 ? [] : [`interrupted, a ${role} ended with ${code}`]))
    },
    [Symbol.asyncDispose]: () => leftovers.disposeAsync(),
  }
}
