import { dockerAnswers } from './docker.ts'
import { severableWayTo } from './proxy.ts'
import { startEventStoreDb } from './server.ts'

export type EventStoreDbTarget = {
  readonly url: string
  readonly kind: 'given' | 'container' | 'in-process'
  /** Breaks all connections through `url`. */
  readonly dropConnections: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** The EventStoreDB to test against: the one of EVENTSTOREDB_URL, else one in Docker, else our own stand-in. */
export const eventStoreDbTarget = async (): Promise<EventStoreDbTarget> => {
  const given = process.env['EVENTSTOREDB_URL']
  if (given) return { kind: 'given', ...(await throughProxy(given)) }
  if (await dockerAnswers()) return inContainer()
  return { kind: 'in-process', ...(await startEventStoreDb()) }
}

const inContainer = async (): Promise<EventStoreDbTarget> => {
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer('eventstore/eventstore:24.10')
    .withEnvironment({
      EVENTSTORE_INSECURE: 'true',
      EVENTSTORE_MEM_DB: 'true',
      EVENTSTORE_RUN_PROJECTIONS: 'System',
      EVENTSTORE_START_STANDARD_PROJECTIONS: 'true',
    })
    .withExposedPorts(2113)
    .withWaitStrategy(Wait.forHttp('/health/live', 2113).forStatusCode(204))
    .start()
  const way = await throughProxy(`esdb://${container.getHost()}:${container.getMappedPort(2113)}?tls=false`)
  return {
    kind: 'container',
    ...way,
    [Symbol.asyncDispose]: async () => {
      await way[Symbol.asyncDispose]()
      await container.stop()
    },
  }
}

/** The same server by a way that can be cut. A certificate must then also be good for 127.0.0.1. */
const throughProxy = async (url: string) => {
  const parts =
    /^(?<before>(?:esdb|kurrentdb):\/\/(?:[^@]*@)?)(?<host>[^:/?,]+)(?::(?<port>\d+))?(?<after>\/?(?:\?.*)?)$/.exec(
      url,
    )?.groups
  if (!parts) throw new Error('EVENTSTOREDB_URL must name a single server: esdb://host:port?tls=false')
  const { before = '', host = '', port = '2113', after = '' } = parts
  const way = await severableWayTo(host, Number(port))
  return { ...way, url: `${before.replace(/^kurrentdb/, 'esdb')}127.0.0.1:${way.port}${after}` }
}
