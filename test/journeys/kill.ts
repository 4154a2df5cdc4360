import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { storedEvents } from '#domain/stored-events.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { sealedLog } from '#infra/crypto/sealed-log.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { ownSecrets } from '#infra/local-installation.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { createPool } from '#infra/postgres/postgres.ts'
import { demoApplication, demoReceiver } from '../../demo/demo.ts'
import { startReceiver, type Receiver } from '../../demo/receiver.ts'
import { directWebhooksTo } from './kill-setup.ts'
import { makeCaller, startLoad, type Caller } from './load.ts'
import { alive, databaseOf, freePort, startServiceProcess, untilGone, type ServiceProcess } from './service-process.ts'
import {
  expectedWebhooks,
  faultsOfJourneys,
  faultsOfLog,
  faultsOfProjections,
  faultsOfReading,
  faultsOfWebhooks,
  readWholeLog,
  type Asked,
} from './outcome-checks.ts'

/**
 * Kills the whole service again and again while clients write to it, and looks for what got lost or doubled.
 *
 *   node test/journeys/kill.ts [--kills 20] [--clients 8] [--seed N]
 */

export type KillOptions = {
  readonly kills: number
  readonly clients: number
  /** Decides when is killed, and how. */
  readonly seed: number
  readonly say?: (line: string) => void
  /** Ends the service and leaves. */
  readonly signal?: AbortSignal
}

export type KillReport = {
  readonly applications: number
  /** Writes that were answered, and requests that were not and were sent again. */
  readonly answered: number
  readonly unanswered: number
  readonly events: number
  readonly webhooks: number
  readonly repeatedWebhooks: number
  readonly faults: readonly string[]
}

/** Longer than the lease of a delivery whose sender was killed. */
const webhooksMs = 120_000

export const killAgainAndAgain = async ({
  kills,
  clients,
  seed,
  say = () => undefined,
  signal,
}: KillOptions): Promise<KillReport> => {
  const random = randomFrom(seed)
  const [secret, client] = [(await demoReceiver()).signing_secret, await demoApplication()]
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-kill-'))
  // PostgreSQL may run as another user than we do.
  await chmod(directory, 0o755)
  const dataDir = join(directory, 'data')
  const port = await freePort()
  const receiver = await startReceiver({ secret })
  const environment = { RATE_LIMIT_REQUESTS: '0' }
  let service = startServiceProcess({ dataDir, port, environment })

  try {
    const origin = `http://localhost:${port}`
    await service.ready
    const asked = await directWebhooksTo(receiver.url, origin, dataDir)
    const caller = makeCaller(origin, client)
    const load = startLoad(caller, clients, `kill-${seed}`)

    for (let kill = 1; kill <= kills; kill++) {
      signal?.throwIfAborted()
      // Most times at work, sometimes while it starts; most times with its database, sometimes without.
      const isStarting = kill > 1 && random() < 0.2
      if (!isStarting) await service.ready
      const afterMs = Math.round(random() * 2_000)
      const whom = random() < 0.7 ? 'family' : 'process'
      await pause(afterMs)
      await service.kill(whom)
      const when = isStarting ? 'after its start' : 'after it was ready'
      say(`kill ${kill} of ${kills}: the ${whom}, ${afterMs} ms ${when}; ${load.journeys.length} applications so far`)
      service = startServiceProcess({ dataDir, port, environment })
    }
    await service.ready
    await pause(1_000)
    await load.stop()
    say('the load has ended; looking for what got lost')

    const report = await judge({ caller, receiver, asked, dataDir, journeys: load.journeys, say })
    const faults = [...load.faults, ...report.faults, ...(await faultsOfEnding(service))]
    return { ...report, faults }
  } finally {
    await service.kill('family')
    await receiver.close()
    await rm(directory, { recursive: true, force: true })
  }
}

type Scene = {
  readonly caller: Caller
  readonly receiver: Receiver
  readonly asked: Asked
  readonly dataDir: string
  readonly journeys: ReturnType<typeof startLoad>['journeys']
  readonly say: (line: string) => void
}

const judge = async ({ caller, receiver, asked, dataDir, journeys, say }: Scene): Promise<KillReport> => {
  const url = await databaseOf(dataDir)
  const pool = createPool(url)
  const keys = deriveKeys((await ownSecrets(dataDir)).MASTER_KEY)
  const eventLog = sealedLog(postgresLog({ url }), makeDataKeys({ pool, keys }), storedEvents)
  try {
    const unread = await faultsOfReading(caller, journeys)
    const expected = expectedWebhooks(await readWholeLog(eventLog), asked)
    say(`waiting for ${expected} webhooks, of which ${receiver.received.length} have come`)
    await receiver.untilReceived(expected, webhooksMs).catch(() => undefined)

    const events = await readWholeLog(eventLog)
    const faults = [
      ...unread,
      ...faultsOfLog(events),
      ...faultsOfJourneys(journeys, events),
      ...faultsOfWebhooks(receiver, events, asked),
      ...(await faultsOfProjections({ pool, eventLog, leases: makeLeases(pool) })),
    ]
    return {
      applications: journeys.length,
      answered: journeys.reduce((sum, { answered }) => sum + answered, 0),
      unanswered: caller.unanswered(),
      events: events.length,
      webhooks: receiver.received.length,
      repeatedWebhooks: receiver.requests.filter(({ repeated }) => repeated).length,
      faults,
    }
  } finally {
    await eventLog.close()
    await pool.end()
  }
}

/** Told to stop, it ends by itself, and nothing that it has started stays. */
const faultsOfEnding = async (service: ServiceProcess): Promise<readonly string[]> => {
  const family = await service.family()
  service.interrupt()
  const { code } = await service.ended
  await untilGone(family).catch(() => undefined)
  const left = await alive(family)
  return [
    ...(code === 0 ? [] : [`told to stop, the service ended with ${code}:\n${service.output()}`]),
    ...(left.length === 0 ? [] : [`processes ${left.join(', ')} outlived the service`]),
  ]
}

const randomFrom = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    // Mulberry32: small, and good enough to pick moments with.
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const shownFaults = 20

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: { kills: { type: 'string' }, clients: { type: 'string' }, seed: { type: 'string' } },
  })
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  const kills = Number(values.kills ?? 20)
  const clients = Number(values.clients ?? 8)
  const say = (line: string) => {
    process.stdout.write(`${line}\n`)
  }
  say(`seed ${seed}`)
  const { faults, ...counts } = await killAgainAndAgain({ kills, clients, seed, say })
  for (const [name, count] of Object.entries(counts)) say(`${name}: ${count}`)
  for (const fault of faults.slice(0, shownFaults)) say(`✘ ${fault}`)
  say(faults.length === 0 ? `\n${kills} kills, and nothing was lost or doubled.` : `\n${faults.length} faults.`)
  return faults.length === 0 ? 0 : 1
}

if (import.meta.main) process.exit(await main())
