import { readFileSync } from 'node:fs'
import type { BaseOptions } from '@platformatic/kafka'
import { tlsFilesFault } from '../certificates.ts'
import { BadConfiguration, type Config } from '../config.ts'

export type KafkaSettings = {
  readonly brokers: readonly string[]
  readonly topic: string
  /** The number for a topic that the service makes. */
  readonly partitions: number
  readonly sessionMs: number
  /** The settings of every client of the library. */
  readonly client: BaseOptions
}

/** The settings of Kafka; undefined when it is not used. Throws `BadConfiguration` when a file cannot be read. */
export const kafkaSettings = (config: Config): KafkaSettings | undefined => {
  const { KAFKA_BROKERS: brokers, KAFKA_TOPIC: topic, KAFKA_PARTITIONS: partitions } = config
  if (brokers.length === 0) return undefined
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_USERNAME: username, KAFKA_PASSWORD: password } = config
  const ca = fileOf(config, 'KAFKA_CA_FILE')
  const cert = fileOf(config, 'KAFKA_CERTIFICATE_FILE')
  const key = fileOf(config, 'KAFKA_KEY_FILE')
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  const unusable = tlsFilesFault(tls)
  if (unusable) throw new BadConfiguration(`${variableOf[unusable.file]}: ${unusable.fault}`)
  return {
    brokers,
    topic,
    partitions,
    sessionMs: config.KAFKA_SESSION_TIMEOUT_SECONDS * 1_000,
    client: {
      clientId: 'coverstream',
      bootstrapBrokers: [...brokers],
      // Whoever calls tries again: with a new client, so that nothing of a former cluster is remembered.
      retries: 0,
      connectTimeout: 3_000,
      requestTimeout: 4_000,
      metadataMaxAge: 30_000,
      ...(config.KAFKA_TLS && { tls }),
      ...(mechanism && username !== undefined && password !== undefined && { sasl: { mechanism, username, password } }),
    },
  }
}

const variableOf = { ca: 'KAFKA_CA_FILE', cert: 'KAFKA_CERTIFICATE_FILE', key: 'KAFKA_KEY_FILE' } as const

const fileOf = (config: Config, name: (typeof variableOf)[keyof typeof variableOf]): Buffer | undefined => {
  const path = config[name]
  if (path === undefined) return undefined
  try {
    return readFileSync(path)
  } catch (error) {
    throw new BadConfiguration(`${name}: cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}
