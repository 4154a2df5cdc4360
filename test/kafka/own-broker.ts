import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { certificate, privateKey } from '../delivery/certificate.ts'
import { freePort } from '../journeys/service-process.ts'

export const saslUser = { username: 'coverstream', password: 'a password for tests' }

/** Where each kind of connection is served, all on 127.0.0.1. */
export type Ports = {
  readonly plain: number
  /** The broker tells clients that it is at `cuttable`, where a test stands between them and `behind`. */
  readonly cuttable: number
  readonly behind: number
  readonly sasl: number
  readonly tls: number
}

const inOneLine = (pem: string) => pem.trim().replaceAll('\n', ' \\\n')

const settingsOf = (directory: string, { plain, cuttable, behind, sasl, tls }: Ports, controller: number) => `
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controller}
controller.listener.names=CONTROLLER
listeners=PLAIN://127.0.0.1:${plain},CUTTABLE://127.0.0.1:${behind},SASL://127.0.0.1:${sasl},TLS://127.0.0.1:${tls},CONTROLLER://127.0.0.1:${controller}
advertised.listeners=PLAIN://127.0.0.1:${plain},CUTTABLE://127.0.0.1:${cuttable},SASL://127.0.0.1:${sasl},TLS://127.0.0.1:${tls}
listener.security.protocol.map=PLAIN:PLAINTEXT,CUTTABLE:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL
inter.broker.listener.name=PLAIN
sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_${saslUser.username}="${saslUser.password}";
listener.name.tls.ssl.keystore.type=PEM
listener.name.tls.ssl.keystore.certificate.chain=${inOneLine(certificate)}
listener.name.tls.ssl.keystore.key=${inOneLine(privateKey)}
log.dirs=${join(directory, 'data')}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
auto.create.topics.enable=false
log.cleaner.enable=false
num.network.threads=2
num.io.threads=2
`

const heap = ['-Xms96m', '-Xmx384m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

/** One node of Apache Kafka in a directory, which may have been there before. */
export const prepareBroker = async (classpath: string, directory: string) => {
  const ports: Ports = {
    plain: await freePort(),
    cuttable: await freePort(),
    behind: await freePort(),
    sasl: await freePort(),
    tls: await freePort(),
  }
  const settings = join(directory, 'server.properties')
  await writeFile(settings, settingsOf(directory, ports, await freePort()))
  const format = ['kafka.tools.StorageTool', 'format', '-t', randomBytes(16).toString('base64url'), '-c', settings]
  await promisify(execFile)('java', ['-cp', classpath, ...format])

  /** Started apart, so that it outlives the process that starts it. Its id, once it answers. */
  const start = async (): Promise<number> => {
    const output = createWriteStream(join(directory, 'output.log'), { flags: 'a' })
    await once(output, 'open')
    const broker = spawn('java', [...heap, '-cp', classpath, 'kafka.Kafka', settings], {
      detached: true,
      stdio: ['ignore', output, output],
    })
    broker.unref()
    const { pid } = broker
    if (pid === undefined) throw new Error('Java did not start.')
    await untilListening(ports.plain, () => broker.exitCode === null).catch((error: unknown) => {
      broker.kill('SIGKILL')
      throw error
    })
    return pid
  }
  return { ports, start }
}

const startMs = 60_000

const untilListening = async (port: number, isRunning: () => boolean): Promise<void> => {
  const deadline = performance.now() + startMs
  while (!(await isListening(port))) {
    if (!isRunning()) throw new Error('Kafka ended while it started.')
    if (performance.now() > deadline) throw new Error('Kafka did not start in time.')
    await pause(100)
  }
}

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
