import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { inject } from 'vitest'
import { freePort } from '../journeys/service-process.ts'
import { dockerAnswers } from '../eventstoredb/docker.ts'
import { kafkaClasspath } from './jars.ts'
import { prepareBroker, type Ports } from './own-broker.ts'

/** The Kafka to test against, shared by all files of a run. */
export type KafkaForTests = {
  readonly brokers: string
  /** Only of a broker that the tests have started themselves. */
  readonly ports?: Ports
}

type Found = { readonly kafka: KafkaForTests } | { readonly why: string }

/** The one of KAFKA_BROKERS, else one in Docker, else one of our own where Java and Maven are. Without any, why there is none. */
export const findKafka = async (): Promise<Found> => {
  const given = process.env['KAFKA_BROKERS']
  if (given) return { kafka: { brokers: given } }
  const directory = inject('kafkaDirectory')
  const isFirst = await mkdir(join(directory, 'starting')).then(
    () => true,
    () => false,
  )
  if (!isFirst) return untilFound(directory)
  // A port that was free may be taken when the broker wants it.
  const found = await start(join(directory, 'first'))
    .catch(() => start(join(directory, 'second')))
    .catch((error: unknown): Found => ({ why: String(error) }))
  if ('why' in found) process.stderr.write(`The tests of Kafka are skipped: ${found.why}\n`)
  await writeFile(join(directory, 'found.part'), JSON.stringify(found))
  await rename(join(directory, 'found.part'), join(directory, 'found.json'))
  return found
}

const start = async (directory: string): Promise<Found> => {
  if (await dockerAnswers()) return inContainer()
  await mkdir(directory)
  const { ports, start: startBroker } = await prepareBroker(await kafkaClasspath(), directory)
  const pid = await startBroker()
  await writeFile(join(directory, '..', 'pid'), String(pid))
  return { kafka: { brokers: `127.0.0.1:${ports.plain}`, ports } }
}

const untilFound = async (directory: string): Promise<Found> => {
  for (;;) {
    const text = await readFile(join(directory, 'found.json'), 'utf8').catch(() => '')
    // What this file itself has written.
    if (text !== '') return JSON.parse(text) as Found
    await pause(100)
  }
}

/** Ends with the run, as all containers of testcontainers do. */
const inContainer = async (): Promise<Found> => {
  const { GenericContainer } = await import('testcontainers')
  const port = await freePort()
  await new GenericContainer('apache/kafka:4.1.0')
    .withExposedPorts({ container: port, host: port })
    .withEnvironment({
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_LISTENERS: `PLAINTEXT://:${port},CONTROLLER://:9093`,
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
      KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS: '1000',
    })
    .start()
  return { kafka: { brokers: `127.0.0.1:${port}` } }
}
